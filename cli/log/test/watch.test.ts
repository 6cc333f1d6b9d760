import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { toTrustedLog } from '@countersign/protocol/formats/signing/checkpoint'
import { identityDigest } from '@countersign/protocol/formats/signing/key-event'
import { hashLeaf } from '@countersign/protocol/formats/signing/merkle-tree'
import type { IdentityId } from '@countersign/protocol/ids'
import { nodeSuite } from '@countersign/protocol/signing/receipt-verification'
import { createSigner, newSigningPair, rotationOf } from '../../../server/testing/signer.ts'
import { createWorld, type TestWorld } from '../../../server/testing/world.ts'
import { inherited } from '../../testing/environment.ts'

let folder: string
let world: TestWorld
let baseUrl: string
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'countersign-watch-'))
  world = await createWorld()
  baseUrl = await world.api.listen({ host: 'localhost', port: 0 })
})
after(async () => {
  await close()
  await rm(folder, { recursive: true })
})

function watch(...words: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const program = join(import.meta.dirname, '../../main.ts')
  const env = { ...inherited, BASE_URL: baseUrl.replace('127.0.0.1', 'localhost') }
  return new Promise((resolve) => {
    execFile(process.execPath, [program, 'log', 'watch', ...words], { env, cwd: folder }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, stdout, stderr })
    })
  })
}
const lines = (text: string) => text.trimEnd().split('\n')

test('log watch prints new events, of all identities or of the named ones', async () => {
  const [ada] = [await createSigner(world), await createSigner(world)]
  const first = await watch('--state', 'seen')
  assert.equal(first.code, 0, first.stderr)
  assert.match(first.stdout, /^localhost:4400\/transparency: 2 entries, 2 new\. Append-only check passed\.\n/)
  assert.match(lines(first.stdout)[1] ?? '', /^2 identities, .*\. 2 keys lack a proof\.$/)
  assert.equal(lines(first.stdout).length, 5)
  assert.equal(lines((await watch('--state', 'seen')).stdout).length, 2)

  const next = newSigningPair()
  await ada.rotate(rotationOf(ada.identityId, ada.pair, next))
  await createSigner(world)
  const output = await watch('--state', 'seen', '--identity', ada.identityId)
  assert.match(output.stdout, /4 entries, 2 new/)
  assert.equal(lines(output.stdout).length, 4)
  assert.match(
    lines(output.stdout)[3] ?? '',
    new RegExp(`^[23] .* rotated {2}2 {8}none {4}${RegExp.escape(next.publicKey)}$`),
  )
})

test('TLG-05 a log that was rolled back, rewritten or replaced is detected', async () => {
  await watch('--state', 'kept')
  await cp(join(folder, 'kept'), join(folder, 'ahead'))
  const written = await readFile(join(folder, 'kept'))
  const end = written.indexOf('\n')
  const kept = JSON.parse(written.toString('utf8', 0, end))
  const complaint = async (seen: object) => {
    const file = Buffer.concat([Buffer.from(JSON.stringify(seen)), written.subarray(end)])
    await writeFile(join(folder, 'seen'), file)
    const { code, stdout, stderr } = await watch('--state', 'seen')
    assert.deepEqual([code, stdout], [1, ''])
    assert.deepEqual(await readFile(join(folder, 'seen')), file, 'the stored state is kept')
    return stderr
  }
  const hash = Buffer.alloc(32).toString('base64')
  assert.match(await complaint({ ...kept, subtrees: [{ level: 8, hash }] }), /has 4 entries, but had 256/)
  assert.match(await complaint({ ...kept, subtrees: [{ level: 1, hash }] }), /does not extend the last state/)
  assert.match(await complaint({ ...kept, subtrees: [{ level: 2, hash }] }), /do not match the signed log/)
  assert.match(await complaint({ ...kept, publicKey: newSigningPair().publicKey }), /not signed by the key/)
  assert.match(await complaint({ ...kept, origin: 'another/log' }), /not signed by the key of the log another\/log/)
  assert.match(await complaint({ ...kept, subtrees: [{ level: 1, hash: 'short' }] }), /is not a valid state file/)
})

test('TLG-27 a log with more pages than the rate limit allows is read in turn, if it allows any', async (t) => {
  let count = 0
  let refusesAll = false
  const server = createServer(({ url = '' }, response) => {
    // Every other request for entries is refused, or each.
    if (url.includes('/leaves') && (count++ % 2 === 0 || refusesAll)) {
      response.writeHead(429, { 'retry-after': '0' }).end()
      return
    }
    void world.api.inject({ url }).then(({ statusCode, body }) => response.writeHead(statusCode).end(body))
  }).listen(0)
  await once(server, 'listening')
  t.after(() => server.close().closeAllConnections())
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  const by = ['--base-url', `http://localhost:${address.port}`]
  const read = await watch('--state', 'in-turn', ...by)
  assert.equal(read.code, 0, read.stderr)
  assert.equal(count, 2)
  refusesAll = true
  const refused = await watch('--state', 'never', ...by)
  assert.deepEqual([refused.code, refused.stdout], [1, ''])
  assert.match(refused.stderr, /returned 429/)
})

test('log watch finds the events of an ID in capitals, and refuses what is not an ID', async () => {
  const ada = await createSigner(world)
  const { code, stdout, stderr } = await watch('--state', 'capitals', '--identity', ada.identityId.toUpperCase())
  assert.equal(code, 0, stderr)
  assert.ok(stdout.includes(ada.pair.publicKey), stdout)
  for (const mistyped of [`@${ada.handle}`, ada.identityId.slice(1), '']) {
    const refused = await watch('--state', 'mistyped', '--identity', ada.identityId, '--identity', mistyped)
    assert.deepEqual([refused.code, refused.stdout], [2, ''])
    assert.match(refused.stderr, /--identity.*Give an ID/)
  }
  await assert.rejects(readFile(join(folder, 'mistyped')), { code: 'ENOENT' })
})

test('TRU-40 with a trust file, log watch refuses a log by another key, also when it is seen first', async () => {
  const { origin, verifierKey } = (await world.api.inject({ url: '/api/transparency/jwks' })).json()
  const trusted = { version: 1, origin, verifierKey }
  const other = toTrustedLog(nodeSuite.sha256, { name: origin, publicKey: newSigner() })
  await writeFile(join(folder, 'trust.json'), JSON.stringify(trusted))
  await writeFile(join(folder, 'other.json'), JSON.stringify(other))
  const refused = await watch('--state', 'pinned', '--trust', 'other.json')
  assert.deepEqual([refused.code, refused.stdout], [1, ''])
  assert.match(refused.stderr, /not signed by the key of the log localhost:4400\/transparency/)
  await assert.rejects(readFile(join(folder, 'pinned')), { code: 'ENOENT' })

  for (let run = 0; run < 2; run += 1) {
    const { code, stderr } = await watch('--state', 'pinned', '--trust', 'trust.json')
    assert.equal(code, 0, stderr)
  }
  const written = await readFile(join(folder, 'pinned'))
  const changed = await watch('--state', 'pinned', '--trust', 'other.json')
  assert.deepEqual([changed.code, changed.stdout], [1, ''])
  assert.match(changed.stderr, /pinned is the state of another log than the one in other\.json/)
  assert.deepEqual(await readFile(join(folder, 'pinned')), written)
  assert.match((await watch('--state', 'pinned', '--trust', 'pinned')).stderr, /pinned cannot be read as JSON/)
})

const newSigner = () => Buffer.from(newSigningPair().publicKey, 'base64')

test('TLG-14 a state file that is cut off, or that counts other identities, is rejected', async () => {
  await watch('--state', 'whole')
  const whole = await readFile(join(folder, 'whole'))
  const altered = Buffer.from(whole.toString('latin1').replace(/"identities":\d+/, '"identities":1'), 'latin1')
  for (const bytes of [whole.subarray(0, -1), whole.subarray(0, -141), altered, Buffer.alloc(0)]) {
    await writeFile(join(folder, 'cut'), bytes)
    const { code, stderr } = await watch('--state', 'cut')
    assert.equal(code, 1)
    assert.match(stderr, /is not a valid state file/)
  }
})

test('TLG-18 a state file with a changed record is rejected, and accuses no service', async () => {
  await watch('--state', 'whole')
  const whole = await readFile(join(folder, 'whole'))
  const records = whole.indexOf('\n') + 1
  for (const place of [0, 40, 135, 136, 140]) {
    const bytes = Buffer.from(whole)
    bytes.writeUInt8((bytes[records + place] ?? 0) ^ 0x7f, records + place)
    await writeFile(join(folder, 'changed'), bytes)
    const { code, stderr } = await watch('--state', 'changed')
    assert.equal(code, 1)
    assert.match(stderr, /is not a valid state file/)
  }
})

/** Appends a leaf like a service that signs its log with the real key. */
async function forgeLeaf(identityId: IdentityId, edit: (leaf: Record<string, unknown>) => object): Promise<void> {
  const honest = world.db.selectFrom('transparency_leaf').selectAll()
  const digest = Buffer.from(identityDigest(nodeSuite.sha256, identityId), 'base64')
  const last = await honest
    .where('identity_sha256', '=', digest)
    .orderBy('sequence', 'desc')
    .limit(1)
    .executeTakeFirstOrThrow()
  const previous = Buffer.from(last.leaf_sha256).toString('base64')
  const fields = { ...JSON.parse(last.leaf_data), event: 'rotated', keyVersion: last.sequence + 1, previous }
  const leaf = JSON.stringify(Object.fromEntries(Object.entries(edit(fields)).toSorted()))
  const leafSha256 = hashLeaf(nodeSuite.sha256, Buffer.from(leaf))
  await world.db
    .insertInto('transparency_leaf')
    .values({
      ...{ identity_sha256: digest, sequence: last.sequence + 1, leaf_data: leaf, leaf_sha256: leafSha256 },
      integrate_at: last.integrate_at,
    })
    .execute()
  world.pass(1)
}

test('TLG-15 log watch stops at an entry that does not continue the history of its identity', async () => {
  const seen = async () => (await watch('--state', 'forged')).code
  const forgeries: [code: string, edit: (leaf: Record<string, unknown>) => object][] = [
    ['unlinked_key', (leaf) => ({ ...leaf, publicKey: newSigningPair().publicKey, link: signature, possession: null })],
    ['no_possession', (leaf) => ({ ...leaf, publicKey: newSigningPair().publicKey, possession: signature })],
    ['version_gap', (leaf) => ({ ...leaf, keyVersion: 3, possession: null })],
    ['version_twice', (leaf) => ({ ...leaf, event: 'created', keyVersion: 1, possession: null })],
    ['broken_chain', (leaf) => ({ ...leaf, previous: digest, possession: null })],
    ['key_used_before', (leaf) => ({ ...leaf, possession: null })],
    ['time_went_back', (leaf) => ({ ...leaf, at: '2029-01-01T12:00:00.000Z', possession: null })],
    ['unknown_event', (leaf) => ({ ...leaf, event: 'Recovered' })],
    ['malformed_leaf', (leaf) => ({ ...leaf, event: 'recovered', possession: null })],
    ['malformed_leaf', (leaf) => ({ ...leaf, event: 'recovered', link: signature })],
    ['no_possession', (leaf) => ({ ...leaf, event: 'recovered', possession: signature })],
    ['malformed_leaf', (leaf) => ({ ...leaf, version: 1 })],
  ]
  for (const [code, edit] of forgeries) {
    // Each in a log of its own: nothing follows an entry that is wrong.
    await reopen()
    const { identityId } = await createSigner(world)
    assert.equal(await seen(), 0)
    await forgeLeaf(identityId, edit)
    const { code: exit, stderr } = await watch('--state', 'forged')
    assert.equal(exit, 1, code)
    assert.match(stderr, new RegExp(`entry 1 of the log is wrong: ${code} `))
    assert.match((await watch('--state', 'forged')).stderr, new RegExp(code), 'the state before it is kept')
  }
})

const digest = Buffer.alloc(32, 1).toString('base64')
const signature = newSigningPair().sign('something else')

/** Starts another service with an empty log, and forgets the state of the one before. */
async function reopen(): Promise<void> {
  await rm(join(folder, 'forged'), { force: true })
  await close()
  world = await createWorld()
  baseUrl = await world.api.listen({ host: 'localhost', port: 0 })
}

/** Without the leaves of a lying service: they violate the invariants that every test file checks at its end. */
async function close(): Promise<void> {
  await world.db.deleteFrom('transparency_node').execute()
  await world.db.deleteFrom('transparency_leaf').execute()
  await world.db.deleteFrom('signing_key').execute()
  await world.db.updateTable('transparency_log').set({ size: 0 }).execute()
  await world.close()
}
