import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { findUntidy } from '../tidy.ts'

/** A repository with nothing untidy in it. */
const tidy: Record<string, string> = {
  'package.json': `{ "scripts": { "start": "node server/main.ts" } }`,
  'cli/package.json': `{ "bin": "./main.ts" }`,
  'cli/main.ts': `import type { Api } from '@countersign/protocol/api'\nconst settings: Partial<Api> = { only: 1 }`,
  'protocol/src/api.ts': `export type Api = { only: number }`,
  'server/main.ts': `import { start } from './start.ts'\nstart(new URL('./worker.ts', import.meta.url))`,
  'server/start.ts': `export type Started = true\nexport function start(worker: URL): Started { return worker.reveal }`,
  'server/start.test.ts': `import { start } from './start.ts'\ntest('it skips nothing', () => start().reveal())`,
  'server/worker.ts': `import { secret } from './platform/crypto/secret.ts'`,
  'server/platform/crypto/secret.ts': `export const secret = other.reveal()`,
  'web/pages/signin/main.tsx': `render()`,
  'node_modules/some/index.ts': `export const unused = 1`,
}

let root = ''
beforeEach(() => (root = mkdtempSync(join(tmpdir(), 'countersign-tidy-'))))
afterEach(() => rmSync(root, { recursive: true }))

function untidyIn(files: Record<string, string>): string[] {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return findUntidy(root).untidy
}

test('a tidy repository passes', () => {
  assert.deepEqual(untidyIn(tidy), [])
})

const faults: Record<string, [path: string, text: string, expected: string]> = {
  'a long line': [
    'web/pages/signin/main.tsx',
    `\n${'x'.repeat(121)}`,
    'web/pages/signin/main.tsx:2 is longer than 120 columns',
  ],
  'a note for later': ['server/migrations/1.sql', '-- TODO: more', 'server/migrations/1.sql:1 leaves a note for later'],
  'a test that runs alone': ['a.test.ts', `test.only('x', () => {})`, 'a.test.ts leaves out a test'],
  'a test that is skipped by an option': ['a.test.ts', `test('x', { skip: true })`, 'a.test.ts leaves out a test'],
  'a secret revealed in a route': [
    'server/worker.ts',
    `import { secret } from './platform/crypto/secret.ts'\nsecret.reveal()`,
    'server/worker.ts reveals a secret, which tools/tidy.ts does not let it',
  ],
  'an address that is read from the request itself': [
    'server/start.ts',
    `export function start(request: Request) {\n  return request.ip\n}`,
    'server/start.ts reads where a request comes from, which only server/platform/source-address.ts does',
  ],
  'an address that is read from a header of proxies': [
    'server/start.ts',
    `export function start({ headers }: Request) {\n  return headers['X-Forwarded-For']\n}`,
    'server/start.ts reads where a request comes from, which only server/platform/source-address.ts does',
  ],
  'a change by a session that may have ended': [
    'server/start.ts',
    `export function start(session: Session) {\n  return transaction(db, (tx) => session)\n}`,
    'server/start.ts start knows of a session and does not hold it: use actingTransaction',
  ],
}

for (const [fault, [path, text, expected]] of Object.entries(faults))
  test(`${fault} is found`, () => {
    assert.deepEqual(untidyIn({ ...tidy, [path]: text }), [expected])
  })

test('a file whose name says nothing is found, also one that re-exports others', () => {
  for (const name of ['utils.ts', 'helpers.ts', 'index.ts', 'common.test.ts'])
    assert.match(untidyIn({ ...tidy, [`server/${name}`]: '' }).join('\n'), new RegExp(`server/${name} has a name`))
})

test('a repository without a source file fails rather than passing unread', () => {
  assert.match(untidyIn({ 'package.json': '{}' }).join(), /nothing was checked/)
})
