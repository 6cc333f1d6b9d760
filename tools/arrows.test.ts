import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { followArrows } from './arrows.ts'

/** A repository in which each arrow points the right way. */
const sound: Record<string, string> = {
  'protocol/src/endpoint.ts': `import { Type } from 'typebox'`,
  'protocol/src/formats/limits.ts': `export * from './scope.ts'`,
  'keys/src/vault.ts': `import { limits } from '@countersign/protocol/formats/limits'`,
  'web/call.ts': `import type {\n  Api,\n} from '@countersign/protocol/api'`,
  'web/page.tsx': `import { openVault } from '@countersign/keys/vault'
import { limits } from '@countersign/protocol/formats/limits'
import { ed25519 } from '@noble/curves/ed25519.js'`,
  'cli/main.ts': `import type { Api } from '@countersign/protocol/api'`,
  'sdk/src/receipt.ts': `import { verifyReceipt } from '@countersign/protocol/receipt-verification'
import { fromBase64 } from '@countersign/protocol/formats/base64'`,
  'server/main.ts': `import { mountHosts } from './hosts.ts'`,
  'server/hosts.ts': `import { tokenRoutes } from '#oauth/routes.ts'`,
  'server/jobs.ts': `import { prune } from '#tokens/lineage.ts'`,
  'server/kernel/migrations.ts': 'await sql`insert into schema_migration values (1)`',
  'server/tokens/lineage.ts': `import { write } from './store.ts'\nimport { config } from '#kernel/config.ts'`,
  'server/tokens/store.ts': `db.selectFrom('app')
    db.insertInto('token_lineage')
    sql\`insert into token_lineage (id) values (1) on conflict (id) do update set spent = true\`
    sql\`update token_lineage as lineage set spent = true\`
    sql\`select 1 from app for update\``,
  'server/testing/world.ts': `import { tokenRoutes } from '#oauth/routes.ts'\ndb.deleteFrom('app')`,
  'server/tokens/lineage.test.ts': `import { createWorld } from '#testing/world.ts'`,
  'server/migrations/0001_first.sql': 'create table token_lineage (id uuid);\ncreate table app (id uuid);',
}

let root = ''
beforeEach(() => (root = mkdtempSync(join(tmpdir(), 'countersign-arrows-'))))
afterEach(() => rmSync(root, { recursive: true }))

function arrowsOf(files: Record<string, string>): string[] {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return followArrows(root).wrong
}

test('a repository whose arrows all point the right way passes', () => {
  assert.deepEqual(arrowsOf(sound), [])
})

const faults: Record<string, [path: string, text: string, expected: RegExp]> = {
  'a room that imports a later one': [
    'server/apps/client.ts',
    `import { mint } from '#tokens/jwt.ts'`,
    /tokens stands after apps/,
  ],
  'a type of a later room': [
    'server/apps/client.ts',
    `import type { Jwt } from '../oauth/jwt.ts'`,
    /oauth stands after/,
  ],
  'a re-export of a later room': [
    'server/apps/client.ts',
    `export {\n  mint,\n} from '#tokens/jwt.ts'`,
    /tokens stands/,
  ],
  "another room's store": ['server/oauth/code.ts', `import { find } from '#apps/store.ts'`, /private to apps/],
  "another room's routes": ['server/oauth/code.ts', `import { routes } from '#apps/routes.ts'`, /private to apps/],
  'a room that nobody named': ['server/misc/code.ts', '', /stands in no room/],
  'another store of a room': [
    'server/oauth/code.ts',
    `import { find } from '#tokens/access-store.ts'`,
    /private to tokens/,
  ],
  "a write to another room's table": ['server/oauth/store.ts', `db.updateTable('app')`, /writes app, .* of apps/],
  "a raw insert into another room's table": ['server/oauth/store.ts', 'sql`INSERT INTO app (id)`', /writes app/],
  "a raw update of another room's table": ['server/oauth/store.ts', 'sql`update app a set x = 1`', /writes app/],
  "a raw delete from another room's table": ['server/oauth/store.ts', 'sql`delete\n from app`', /writes app/],
  'a query outside a store': ['server/oauth/code.ts', `db.selectFrom('oauth_code')`, /SQL, which belongs in store/],
  'raw SQL outside a store': ['server/oauth/code.ts', 'sql<{ id: string }>`select 1`', /SQL, which belongs in store/],
  'a table that no room owns': ['server/migrations/0002.sql', 'create table if not exists thing ()', /creates thing/],
  'a page that loads an endpoint': [
    'web/call.ts',
    `import { type Api } from '@countersign/protocol/api'`,
    /web may not \(types only\)/,
  ],
  'a page that imports the server': ['web/call.ts', `import type { App } from '../server/apps/app.ts'`, /web may not/],
  'keys that import an endpoint': [
    'keys/src/a.ts',
    `import type { A } from '@countersign/protocol/api'`,
    /keys may not/,
  ],
  'an SDK that would publish an endpoint': [
    'sdk/src/server.ts',
    `import { signRequest } from '@countersign/protocol/signing'`,
    /sdk may not/,
  ],
  'a command that imports the server': ['cli/apps.ts', `import '../server/main.ts'`, /cli may not/],
  'a server that imports a page': ['server/kernel/a.ts', `import { call } from '../../web/call.ts'`, /server may not/],
  'a format with a dependency': ['protocol/src/formats/a.ts', `import { Type } from 'typebox'`, /depends on nothing/],
  'a dynamic import': ['server/kernel/a.ts', `const saml = await import('saml')`, /imports saml dynamically/],
}

for (const [fault, [path, text, expected]] of Object.entries(faults))
  test(`${fault} is found`, () => {
    const wrong = arrowsOf({ ...sound, [path]: text })
    assert.equal(wrong.length, 1, wrong.join('\n'))
    assert.match(wrong[0] ?? '', expected)
  })

test('a fault that stands in a comment is none', () => {
  const comment = `// import { mint } from '#tokens/jwt.ts'\n/**\n * import('x') and sql\`delete from token\`\n */`
  assert.deepEqual(arrowsOf({ ...sound, 'server/apps/client.ts': comment }), [])
})

test('a package in which no module is found is a fault, not a success', () => {
  const { 'keys/src/vault.ts': _, ...rest } = sound
  assert.match(arrowsOf(rest).join('\n'), /No module was found in keys/)
})
