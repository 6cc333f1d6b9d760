import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { checkImportRules } from '../import-rules.ts'

/** A repository in which no import rule is violated. */
const sound: Record<string, string> = {
  'protocol/src/endpoint.ts': `import { Type } from 'typebox'`,
  'protocol/src/formats/limits.ts': `export * from './scope.ts'`,
  'saml/src/xml.ts': `import { createHash } from 'node:crypto'`,
  'keys/src/vault.ts': `import { limits } from '@countersign/protocol/formats/limits'`,
  'web/lib/call.ts': `import type {\n  Api,\n} from '@countersign/protocol/api'`,
  'web/pages/account/Account.tsx': `import { openVault } from '@countersign/keys/vault'
import { limits } from '@countersign/protocol/formats/limits'
import { ed25519 } from '@noble/curves/ed25519.js'`,
  'cli/main.ts': `import type { Api } from '@countersign/protocol/api'`,
  'sdk/src/server/receipt.ts': `import { verifyReceipt } from '@countersign/protocol/signing/receipt-verification'
import { fromBase64 } from '@countersign/protocol/formats/base64'`,
  'server/main.ts': `import { mountHosts } from './app.ts'`,
  'server/app.ts': `import { redeem } from '#oauth/token/grants/code-grant.ts'`,
  'server/oauth/token/grants/code-grant.ts': `import { prune } from '#tokens/families/family.ts'`,
  'server/platform/database/migrations.ts': 'await sql`insert into schema_migration values (1)`',
  'server/tokens/families/family.ts': `import { write } from './store.ts'
import { config } from '#platform/config/config.ts'`,
  'server/tokens/families/store.ts': `db.selectFrom('app')
    db.insertInto('token_family')
    sql\`insert into token_family (id) values (1) on conflict (id) do update set spent = true\`
    sql\`update token_family as family set spent = true\`
    sql\`select 1 from app for update\``,
  'server/testing/world.ts': `import { tokenRoutes } from '#oauth/token/routes.ts'\ndb.deleteFrom('app')`,
  'server/tokens/families/test/family.test.ts': `import { createWorld } from '#testing/world.ts'`,
}

let root = ''
beforeEach(() => (root = mkdtempSync(join(tmpdir(), 'countersign-imports-'))))
afterEach(() => rmSync(root, { recursive: true }))

function violationsOf(files: Record<string, string>): string[] {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return checkImportRules(root).violations
}

test('a repository without violations passes', () => {
  assert.deepEqual(violationsOf(sound), [])
})

const faults: Record<string, [path: string, text: string, expected: RegExp]> = {
  'a room that imports a later one': [
    'server/clients/registration/app.ts',
    `import { sign } from '#tokens/signing-keys/jwt.ts'`,
    /tokens\/signing-keys comes after clients\/registration/,
  ],
  'a type of a later room': [
    'server/clients/registration/app.ts',
    `import type { Jwt } from '../../tokens/signing-keys/jwt.ts'`,
    /comes after/,
  ],
  'a re-export of a later room': [
    'server/clients/registration/app.ts',
    `export {\n  sign,\n} from '#tokens/signing-keys/jwt.ts'`,
    /comes after/,
  ],
  "another room's store": [
    'server/oauth/token/code.ts',
    `import { find } from '#clients/registration/store.ts'`,
    /private to clients\/registration/,
  ],
  "another room's routes": [
    'server/oauth/token/code.ts',
    `import { routes } from '#clients/registration/routes.ts'`,
    /private to clients\/registration/,
  ],
  'a table that another room declares': [
    'server/oauth/token/module.ts',
    `export const token = { tables: { token_family: 'exclude' } }`,
    /token_family is written by tokens\/families, but oauth\/token declares it/,
  ],
  'an unlisted room': ['server/oauth/misc/code.ts', '', /is in no room/],
  'another store of a room': [
    'server/oauth/token/code.ts',
    `import { find } from '#tokens/families/access-store.ts'`,
    /private to tokens\/families/,
  ],
  "a write to another room's table": [
    'server/oauth/token/store.ts',
    `db.updateTable('token_family')`,
    /token_family is written by oauth/,
  ],
  "a raw insert into another room's table": [
    'server/oauth/token/store.ts',
    'sql`INSERT INTO token_family (id)`',
    /is written by/,
  ],
  "a raw update of another room's table": [
    'server/oauth/token/store.ts',
    'sql`update token_family a set x = 1`',
    /is written/,
  ],
  "a raw delete from another room's table": [
    'server/oauth/token/store.ts',
    'sql`delete\n from token_family`',
    /is written/,
  ],
  'a query outside a store': [
    'server/oauth/token/code.ts',
    `db.selectFrom('oauth_code')`,
    /SQL, which belongs in store/,
  ],
  'raw SQL outside a store': [
    'server/oauth/token/code.ts',
    'sql<{ id: string }>`select 1`',
    /SQL, which belongs in store/,
  ],
  'a page that loads an endpoint': [
    'web/lib/call.ts',
    `import { type Api } from '@countersign/protocol/api'`,
    /web may not \(types only\)/,
  ],
  'a page that imports the server': [
    'web/lib/call.ts',
    `import type { App } from '../../server/clients/registration/app.ts'`,
    /web may not/,
  ],
  'keys that import an endpoint': [
    'keys/src/a.ts',
    `import type { A } from '@countersign/protocol/api'`,
    /keys may not/,
  ],
  'an SDK that would publish an endpoint': [
    'sdk/src/server/server.ts',
    `import { signRequest } from '@countersign/protocol/signing/signing'`,
    /sdk may not/,
  ],
  'a command that imports the server': ['cli/apps.ts', `import '../server/main.ts'`, /cli may not/],
  'a server that imports a page': [
    'server/platform/http/a.ts',
    `import { call } from '../../../web/lib/call.ts'`,
    /server may not/,
  ],
  'a page that imports another page': [
    'web/pages/signin/SignIn.tsx',
    `import { Account } from '../account/Account.tsx'`,
    /another page/,
  ],
  'a component that imports a page': [
    'web/components/form/Field.tsx',
    `import { Account } from '../../pages/account/Account.tsx'`,
    /pages come after components/,
  ],
  'a format with a dependency': ['protocol/src/formats/a.ts', `import { Type } from 'typebox'`, /depends on nothing/],
  'a dynamic import': ['server/platform/http/a.ts', `const saml = await import('saml')`, /imports saml dynamically/],
}

for (const [fault, [path, text, expected]] of Object.entries(faults))
  test(`a violation is found: ${fault}`, () => {
    const wrong = violationsOf({ ...sound, [path]: text })
    assert.equal(wrong.length, 1, wrong.join('\n'))
    assert.match(wrong[0] ?? '', expected)
  })

test('a violation in a comment is ignored', () => {
  const comment = `// import { sign } from '#tokens/signing-keys/jwt.ts'
/**
 * import('x') and sql\`delete from token\`
 */`
  assert.deepEqual(violationsOf({ ...sound, 'server/clients/registration/app.ts': comment }), [])
})

test('a package without modules is an error', () => {
  const { 'keys/src/vault.ts': _, ...rest } = sound
  assert.match(violationsOf(rest).join('\n'), /No module was found in keys/)
})

test('a folder with more than twelve files is found', () => {
  const files = Array.from({ length: 13 }, (_, nth) => [`web/lib/file-${nth}.ts`, ''])
  assert.match(violationsOf({ ...sound, ...Object.fromEntries(files) }).join('\n'), /web\/lib has 14 files/)
})
