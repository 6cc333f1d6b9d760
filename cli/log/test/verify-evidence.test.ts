import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { writeEvidence } from '@countersign/protocol/formats/self-record/evidence'
import {
  accepted,
  answersOf,
  check,
  fakeLog,
  identityId,
  leafAt,
  logKey,
  named,
  promiseFor,
} from '../../../protocol/src/formats/self-record/test/fake-service.ts'
import { log, testKey } from '../../../protocol/src/formats/signing/test/key-chain.ts'
import { inherited } from '../../testing/environment.ts'

const [own, thief] = [testKey('ada 1'), testKey('thief')]
const leaf1 = leafAt(1, own, { proofs: { possession: own } })
const honest = fakeLog(leaf1)
const pending = { publicKey: own.publicKey, since: '2030-01-01T01:00:00.000Z', promised: null }
const registered = {
  version: 1 as const,
  sequence: 1,
  log: null,
  identities: { [identityId]: { head: null, leaves: 0, pending: [pending] } },
}
const before1 = accepted(answersOf(honest, { keys: [named(own)] }), { record: registered })
let folder: string

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'countersign-evidence-'))
  const jwksOf = (x: Uint8Array) =>
    JSON.stringify({ keys: [{ kty: 'OKP', crv: 'Ed25519', x: Buffer.from(x).toString('base64url') }], origin: log })
  await writeFile(join(folder, 'jwks.json'), jwksOf(logKey.raw))
  await writeFile(join(folder, 'other.json'), jwksOf(thief.raw))
})
after(() => rm(folder, { recursive: true }))

async function keep(result: ReturnType<typeof check>, change: object = {}): Promise<string> {
  assert.ok(result.kind === 'alarm')
  await writeFile(join(folder, 'evidence.json'), writeEvidence({ ...result.evidence, ...change }))
  return result.code
}

/** Runs `countersign verify-evidence` without a server. */
function verify(...words: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const program = join(import.meta.dirname, '../../main.ts')
  const env = { ...inherited, BASE_URL: 'http://localhost:1' }
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [program, 'verify-evidence', 'evidence.json', ...words],
      { env, cwd: folder },
      (error, stdout, stderr) =>
        resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, stdout, stderr }),
    )
  })
}

test('SLF-39 two signed heads of one size prove a fork, under the stored key of the log alone', async () => {
  const forked = { ...honest, leaves: ['another leaf', leaf1] }
  assert.equal(await keep(check(answersOf(forked, { keys: [named(own)] }), before1)), 'log_forked')
  const proved = await verify('--jwks', 'jwks.json')
  assert.equal(proved.code, 0, proved.stderr)
  assert.match(proved.stdout, /proved +the log has signed two trees of 2 entries/)
  const untrusted = await verify()
  assert.equal(untrusted.code, 3)
  assert.match(untrusted.stderr, /proves nothing/)
  const other = await verify('--jwks', 'other.json')
  assert.equal(other.code, 1)
})

test('SLF-39 a key in the log without proofs by its owner is proved', async () => {
  const foreign = leafAt(2, thief, { before: leaf1, proofs: { possession: thief } })
  const served = fakeLog(leaf1, foreign)
  const found = check(answersOf(served, { from: [honest], keys: [named(thief, false)] }), before1)
  assert.equal(await keep(found), 'foreign_key')
  const proved = await verify('--jwks', 'jwks.json', '--json')
  assert.equal(proved.code, 0, proved.stderr)
  const { findings } = JSON.parse(proved.stdout)
  assert.deepEqual(
    findings.map(({ kind, isProved, missing }: { kind: string; isProved: boolean; missing: string[] }) => [
      kind,
      isProved,
      missing,
    ]),
    [
      ['key_entry', false, []],
      ['key_entry', true, ['link']],
    ],
  )
})

test('SLF-39 an overdue promise is kept as evidence, and an altered one says nothing', async () => {
  const promised = promiseFor(leaf1, '2030-01-01T01:00:00.000Z')
  const record = {
    ...registered,
    identities: { [identityId]: { head: null, leaves: 0, pending: [{ ...pending, promised }] } },
  }
  const found = check(answersOf(fakeLog(), { keys: [named(own)] }), {
    record,
    at: new Date('2030-01-03T00:00:00.000Z'),
  })
  assert.equal(await keep(found), 'promise_overdue')
  const kept = await verify('--jwks', 'jwks.json')
  assert.equal(kept.code, 3)
  assert.match(kept.stdout, /promised on 2030-01-01T01:00:00.000Z to contain a key by 2030-01-02T01:00:00.000Z/)
  const later = { ...promised, promise: { ...promised.promise, due: '2030-01-09T01:00:00.000Z' } }
  await keep(found, { promised: later })
  assert.equal((await verify('--jwks', 'jwks.json')).code, 1)
})

test('SLF-39 an entry that was put into the file proves nothing, and other files are refused', async () => {
  const foreign = leafAt(2, thief, { before: leaf1 })
  const found = check(answersOf(honest, { keys: [named(thief, false)] }), before1)
  const leaves = [{ index: 1, leaf: foreign, hashes: [] }]
  assert.equal(await keep(found, { leaves }), 'foreign_key')
  const forged = await verify('--jwks', 'jwks.json')
  assert.equal(forged.code, 1)
  assert.match(forged.stderr, /nothing that the log key has signed/)
  for (const text of ['', '{}', '[]', '{"version":1}']) {
    await writeFile(join(folder, 'evidence.json'), text)
    assert.equal((await verify('--jwks', 'jwks.json')).code, 1, text)
  }
})
