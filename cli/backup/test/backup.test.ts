import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import { serveHere } from '../../../server/testing/service-here.ts'
import type { Served } from '../../../server/testing/service.ts'
import { inherited } from '../../testing/environment.ts'

const main = join(import.meta.dirname, '../../main.ts')
const environment = { SECRET_KEY: 'a-secret-key-for-tests-of-32-characters' }
const passphrase = 'four words that are long'

let first: Served
let folder: string
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'countersign-'))
  first = await serveHere(environment)
  const app = { name: 'Shop', redirectUris: ['https://shop.example/callback'] }
  const headers = { ...first.admin, 'content-type': 'application/json' }
  const made = await fetch(`${first.baseUrl}/api/admin/apps`, { method: 'POST', headers, body: JSON.stringify(app) })
  assert.equal(made.status, 201)
})
after(async () => {
  await first.close()
  await rm(folder, { recursive: true })
})

type Run = { code: number; stdout: string; stderr: string }

function countersign(service: Served, words: string[], secrets: Record<string, string> = {}): Promise<Run> {
  const { ADMIN_TOKEN } = service.settings
  const env = { ...inherited, BASE_URL: service.baseUrl, ADMIN_TOKEN, ...secrets }
  return new Promise((resolve) => {
    execFile(process.execPath, [main, ...words], { env }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, stdout, stderr })
    })
  })
}

test('STO-18 a backup for an age key restores into an empty server, once', async (t) => {
  const identity = await generateX25519Identity()
  const keyFile = join(folder, 'key')
  await writeFile(keyFile, `# a comment\n${identity}\n`)
  const file = join(folder, 'with-key.age')
  const taken = await countersign(first, ['backup', '--out', file, '--recipient', await identityToRecipient(identity)])
  assert.equal(taken.code, 0, taken.stderr)
  assert.match(taken.stdout, /SECRET_KEY/)
  assert.match((await readFile(file)).toString('latin1'), /^age-encryption\.org\/v1\n/)
  assert.equal(existsSync(`${file}.part`), false)

  const second = await serveHere(environment)
  t.after(() => second.close())
  const restored = await countersign(second, ['restore', file, '--identity', keyFile])
  assert.equal(restored.code, 0, restored.stderr)
  const { stdout } = await countersign(second, ['apps', 'list'])
  assert.match(stdout, /Shop/)
  const again = await countersign(second, ['restore', file, '--identity', keyFile])
  assert.equal(again.code, 1)
  assert.match(again.stderr, /^error: .*empty.*\n$/)
})

test('a wrong passphrase and an altered file give an error of one line', async (t) => {
  const file = join(folder, 'with-passphrase.age')
  const weak = await countersign(first, ['backup', '--out', file], { BACKUP_PASSPHRASE: 'short' })
  assert.match(weak.stderr, /^error: .*16 characters\n$/)
  const taken = await countersign(first, ['backup', '--out', file], { BACKUP_PASSPHRASE: passphrase })
  assert.equal(taken.code, 0, taken.stderr)

  const second = await serveHere(environment)
  t.after(() => second.close())
  const altered = join(folder, 'altered.age')
  const bytes = await readFile(file)
  const last = bytes.length - 30
  bytes[last] = (bytes[last] ?? 0) ^ 1
  await writeFile(altered, bytes)
  for (const [path, secret, reason] of [
    [file, 'another passphrase than that', /passphrase or age key is wrong/],
    [altered, passphrase, /invalid tag/],
  ] as const) {
    const { code, stderr } = await countersign(second, ['restore', path], { BACKUP_PASSPHRASE: secret })
    assert.equal(code, 1)
    assert.match(stderr, /^error: .+\n$/)
    assert.match(stderr, reason)
  }
  const { stdout } = await countersign(second, ['apps', 'list'])
  assert.doesNotMatch(stdout, /Shop/)
  const whole = await countersign(second, ['restore', file], { BACKUP_PASSPHRASE: passphrase })
  assert.equal(whole.code, 0, whole.stderr)
})

test('a backup never overwrites a file', async () => {
  const file = join(folder, 'mine')
  await writeFile(file, 'mine')
  const { code } = await countersign(first, ['backup', '--out', file], { BACKUP_PASSPHRASE: passphrase })
  assert.equal(code, 1)
  assert.equal(await readFile(file, 'utf8'), 'mine')
})

test('a backup that cannot create its file deletes no other, and asks the server for nothing', async () => {
  const file = join(folder, 'other.age')
  await writeFile(`${file}.part`, 'another run')
  const nowhere = join(folder, 'nowhere', 'mine.age')
  for (const [out, reason] of [
    [file, `error: ${file}.part exists. If no other backup is running, delete it.\n`],
    [nowhere, `error: ${nowhere}.part cannot be created (ENOENT`],
  ] as const) {
    // No service has this address: a request would fail.
    const nothing = { BASE_URL: 'http://localhost:1', BACKUP_PASSPHRASE: passphrase }
    const { code, stderr } = await countersign(first, ['backup', '--out', out], nothing)
    assert.equal(code, 1)
    assert.ok(stderr.startsWith(reason), stderr)
  }
  assert.equal(await readFile(`${file}.part`, 'utf8'), 'another run')
})

test('a backup that the server refuses leaves no file', async () => {
  const file = join(folder, 'refused.age')
  const wrong = { ADMIN_TOKEN: 'another-token-of-at-least-32-characters', BACKUP_PASSPHRASE: passphrase }
  assert.equal((await countersign(first, ['backup', '--out', file], wrong)).code, 1)
  assert.deepEqual([existsSync(file), existsSync(`${file}.part`)], [false, false])
})
