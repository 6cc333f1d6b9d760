import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { fromCanonicalBase64 } from '@countersign/protocol/formats/base64'
import type { NoteKey } from '@countersign/protocol/formats/signing/checkpoint'
import { identityDigest, parseKeyEvent } from '@countersign/protocol/formats/signing/key-event'
import { verifyCheckpoint, verifyKeyInclusion } from '@countersign/protocol/formats/signing/key-inclusion'
import {
  appendLeaves,
  hashLeaf,
  isConsistent,
  rootOf,
  type Subtree,
} from '@countersign/protocol/formats/signing/merkle-tree'
import type { IdentityId } from '@countersign/protocol/ids'
import { nodeSuite } from '@countersign/protocol/signing/receipt-verification'
import type { LoggedKeyEvent } from '@countersign/protocol/signing/transparency'
import { addSeconds } from '#platform/clock.ts'
import { createSigner, newSigningPair, rotationOf } from '#testing/signer.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'
import { publishCheckpoint } from '#signing/transparency/log.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const day = 24 * 3600
const { sha256 } = nodeSuite

/** Registers a user with a signing key. */
async function register() {
  const signer = await createSigner(world)
  return { ...signer, publicKey: signer.pair.publicKey }
}

async function get(path: string) {
  const answer = await world.api.inject({ url: `/api/transparency/${path}` })
  assert.equal(answer.statusCode, 200, answer.body)
  return answer
}
const checkpoint = async () => (await get('checkpoint')).body
const leaves = async () => (await get('leaves?start=0')).json<{ leaves: { index: number; leaf: string }[] }>().leaves
const eventsOf = async (identityId: IdentityId) =>
  (await get(`identities/${identityId}`)).json<{ checkpoint: string; events: LoggedKeyEvent[] }>()

/** Returns the log's public key, like a verifier that has stored it. */
async function logKey(): Promise<NoteKey> {
  const { origin, keys } = (await get('jwks')).json()
  return { name: origin, publicKey: Buffer.from(keys[0].x, 'base64url') }
}

/** Parses the checkpoint of a note, if the log key has signed it. */
async function headOf(note: string) {
  return verifyCheckpoint(nodeSuite, note, await logKey()) ?? assert.fail('the checkpoint is not signed')
}

async function consistency(from: number, to: number): Promise<Uint8Array[]> {
  const { hashes } = (await get(`consistency?from=${from}&to=${to}`)).json<{ hashes: string[] }>()
  return hashes.map((hash) => fromCanonicalBase64(hash) ?? assert.fail())
}

/** Rewrites the tree like an attacker with write access to the database. */
async function rewriteTree(all: string[]): Promise<void> {
  let peaks: Subtree[] = []
  for (const leaf of all) {
    const grown = appendLeaves(sha256, peaks, hashLeaf(sha256, Buffer.from(leaf)))
    peaks = grown.peaks
    for (const { level, index, hash } of grown.completed)
      await world.db
        .updateTable('transparency_node')
        .set({ hash })
        .where('level', '=', level)
        .where('node_index', '=', index)
        .execute()
  }
}

test('TLG-03 a new key is in the log at once, proved under a signed checkpoint', async () => {
  const { identityId, publicKey } = await register()
  const { checkpoint: note, events } = await eventsOf(identityId)
  const [event] = events
  assert.ok(event && events.length === 1)
  const opened = verifyKeyInclusion(nodeSuite, { identityId, checkpoint: note, ...event }, await logKey())
  assert.deepEqual(opened?.event, {
    event: 'created',
    identity: identityDigest(sha256, identityId),
    publicKey,
    keyVersion: 1,
    at: world.now().toISOString(),
    link: null,
    possession: null,
    previous: null,
  })
  assert.ok(!event.leaf.includes(identityId), 'the log contains no names')
})

test('TLG-03 a log entry is not accepted for another identity, key or log name', async () => {
  const [one, other] = [await register(), await register()]
  const { checkpoint: note, events } = await eventsOf(one.identityId)
  const key = await logKey()
  const outcomeOf = { identityId: one.identityId, checkpoint: note, ...(events[0] ?? assert.fail()) }
  assert.ok(verifyKeyInclusion(nodeSuite, outcomeOf, key))
  assert.equal(verifyKeyInclusion(nodeSuite, { ...outcomeOf, identityId: other.identityId }, key), undefined)
  assert.equal(
    verifyKeyInclusion(nodeSuite, { ...outcomeOf, leaf: outcomeOf.leaf.replace('created', 'rotated') }, key),
    undefined,
  )
  assert.equal(verifyKeyInclusion(nodeSuite, { ...outcomeOf, index: outcomeOf.index + 1 }, key), undefined)
  assert.equal(verifyKeyInclusion(nodeSuite, { ...outcomeOf, checkpoint: note.replace(/\d+/, '1') }, key), undefined)
  assert.equal(verifyKeyInclusion(nodeSuite, outcomeOf, { ...key, name: 'another/log' }), undefined)
  const stranger = Buffer.from(newSigningPair().publicKey, 'base64')
  assert.equal(verifyKeyInclusion(nodeSuite, outcomeOf, { ...key, publicKey: stranger }), undefined)
})

test('TLG-03 a replacement key follows its predecessor in the log', async () => {
  const { identityId, pair, rotate } = await register()
  const next = newSigningPair()
  assert.equal((await rotate(rotationOf(identityId, pair, next))).statusCode, 200)
  const outcomeOf = (await eventsOf(identityId)).events.map(({ leaf }) => parseKeyEvent(leaf))
  assert.deepEqual(
    outcomeOf.map((event) => [event?.event, event?.keyVersion, event?.publicKey]),
    [
      ['created', 1, pair.publicKey],
      ['rotated', 2, next.publicKey],
    ],
  )
})

test('GRW-11 one answer contains at most a hundred keys of an identity, however many it has had', async () => {
  const signer = await register()
  const { identityId } = signer
  let { pair } = signer
  for (let count = 0; count < 120; count += 1) {
    const next = newSigningPair()
    assert.equal((await signer.rotate(rotationOf(identityId, pair, next))).statusCode, 200)
    pair = next
    // Leaves of others in between, so that indexes and versions differ.
    if (count % 40 === 0) await register()
  }
  type Page = { checkpoint: string; events: LoggedKeyEvent[]; nextStart: number | null }
  const read = async (query: string) => (await get(`identities/${identityId}${query}`)).json<Page>()
  const key = await logKey()
  const versions: (number | undefined)[] = []
  const sizes: number[] = []
  for (let start: number | null = 0; start !== null;) {
    const { checkpoint: note, events, nextStart }: Page = await read(`?start=${start}`)
    for (const event of events)
      versions.push(verifyKeyInclusion(nodeSuite, { identityId, checkpoint: note, ...event }, key)?.event.keyVersion)
    sizes.push(events.length)
    start = nextStart
  }
  assert.deepEqual(sizes, [100, 21])
  assert.deepEqual(
    versions,
    Array.from({ length: 121 }, (_, nth) => nth + 1),
  )
  assert.equal((await read('?count=400')).events.length, 100)
  const [first, second] = [await read('?count=1'), await read('')]
  assert.deepEqual([first.events.length, first.nextStart], [1, second.events[1]?.index])
  const none = await read('?start=9999999999')
  assert.deepEqual([none.events, none.nextStart], [[], null])
})

test('a rejected key adds nothing to the log', async () => {
  const { identityId, pair, rotate } = await register()
  const before = await leaves()
  const forged = rotationOf(identityId, newSigningPair(), newSigningPair())
  assert.equal((await rotate(forged)).statusCode, 403)
  assert.equal((await rotate(rotationOf(identityId, pair, pair))).statusCode, 409)
  assert.deepEqual(await leaves(), before)
})

test('TLG-04 the log only grows, and every checkpoint is consistent with earlier ones', async () => {
  const heads = [await headOf(await checkpoint())]
  for (let round = 0; round < 5; round += 1) {
    await register()
    heads.push(await headOf(await checkpoint()))
  }
  for (const from of heads)
    for (const to of heads.filter(({ size }) => size >= from.size))
      assert.ok(isConsistent(sha256, { from, to, hashes: await consistency(from.size, to.size) }))
})

test('the root of all leaves is the root of the checkpoint', async () => {
  const { size, root } = await headOf(await checkpoint())
  const all = await leaves()
  assert.deepEqual(
    all.map(({ index }) => index),
    [...Array(size).keys()],
  )
  let peaks: Subtree[] = []
  for (const { leaf } of all) peaks = appendLeaves(sha256, peaks, hashLeaf(sha256, Buffer.from(leaf))).peaks
  assert.deepEqual(Buffer.from(rootOf(sha256, peaks)), Buffer.from(root))
  const page = (await get('leaves?start=1&count=2')).json()
  assert.deepEqual(page, { size, leaves: all.slice(1, 3) })
  assert.deepEqual((await get(`leaves?start=${size}`)).json(), { size, leaves: [] })
  assert.deepEqual((await get('leaves?start=9999999999')).json(), { size, leaves: [] })
})

test('TLG-06 a removed identity ends in the log within a day, unlinkable to others removed with it', async () => {
  const { identityId, publicKey, headers } = await register()
  const atOnce = await leaves()
  const answer = await world.api.inject({ method: 'DELETE', url: '/api/account', headers })
  assert.equal(answer.statusCode, 204, answer.body)
  assert.deepEqual(await leaves(), atOnce)
  world.pass(day)
  const { events } = await eventsOf(identityId)
  assert.deepEqual(
    events.map(({ leaf }) => [parseKeyEvent(leaf)?.event, parseKeyEvent(leaf)?.publicKey]),
    [
      ['created', publicKey],
      ['removed', publicKey],
    ],
  )
})

test('TLG-06 the identities of a deleted account end in the log separately, at different times', async () => {
  const { headers, identityId } = await register()
  const identityIds = [identityId]
  for (let count = 0; count < 4; count += 1) {
    const handle = `one-of-many-${randomUUID().slice(0, 8)}`
    const made = await world.api.inject({
      ...{ method: 'POST', url: '/api/identities', headers },
      payload: { handle, displayName: 'One of many' },
    })
    const { identityId: another } = made.json<{ identityId: IdentityId }>()
    const { publicKey } = newSigningPair()
    const payload = { publicKey, encryptedPrivateKey: 'a.b.c.d.e' }
    const added = await world.api.inject({ method: 'POST', url: `/api/signing/keys/${another}`, headers, payload })
    assert.equal(added.statusCode, 201, added.body)
    identityIds.push(another)
  }
  assert.equal((await world.api.inject({ method: 'DELETE', url: '/api/account', headers })).statusCode, 204)
  const removedAt = async () => {
    const outcomeOf = await Promise.all(identityIds.map(eventsOf))
    const events = outcomeOf.flatMap(({ events: all }) => all.map(({ leaf }) => parseKeyEvent(leaf)))
    return events.filter((event) => event?.event === 'removed').map((event) => event?.at ?? '')
  }
  const deletedAt = world.now().toISOString()
  assert.deepEqual(await removedAt(), [])
  world.pass(day)
  const ends = await removedAt()
  assert.equal(ends.length, identityIds.length)
  // Two of them within a minute would be a coincidence; all of them would reveal their owner.
  const minutes = new Set(ends.map((at) => at.slice(0, 'yyyy-mm-ddThh:mm'.length)))
  assert.ok(minutes.size > 2, ends.join())
  assert.ok(!ends.includes(deletedAt))
})

test('TLG-07 concurrent appends give each leaf one index, and each index one leaf', async () => {
  const { size } = await headOf(await checkpoint())
  const count = 12
  const work: Promise<unknown>[] = []
  for (let nth = 0; nth < count; nth += 1)
    work.push(register(), publishCheckpoint(world.kernel, world.now()), checkpoint())
  await Promise.all(work)
  const all = await leaves()
  assert.equal(all.length, size + count)
  assert.equal(new Set(all.map(({ leaf }) => leaf)).size, size + count)
  assert.equal((await headOf(await checkpoint())).size, size + count)
})

test('TLG-26 a leaf that comes late gets its index in the next round, before those that follow', async () => {
  await register()
  await checkpoint()
  const late = await register()
  const identity = Buffer.from(identityDigest(sha256, late.identityId), 'base64')
  await world.db
    .updateTable('transparency_leaf')
    .set({ integrate_at: addSeconds(world.now(), -1200) })
    .where('identity_sha256', '=', identity)
    .execute()
  const next = newSigningPair()
  assert.equal((await late.rotate(rotationOf(late.identityId, late.pair, next))).statusCode, 200)
  const { identityId, publicKey } = await register()
  assert.equal(parseKeyEvent((await eventsOf(identityId)).events[0]?.leaf ?? '')?.publicKey, publicKey)
  assert.deepEqual((await eventsOf(late.identityId)).events, [])
  await publishCheckpoint(world.kernel, world.now())
  const { events } = await eventsOf(late.identityId)
  assert.deepEqual(
    events.map(({ leaf }) => parseKeyEvent(leaf)?.publicKey),
    [late.publicKey, next.publicKey],
  )
})

test('unknown tree sizes and leaves are rejected', async () => {
  const refusal = async (path: string) => {
    const answer = await world.api.inject({ url: `/api/transparency/${path}` })
    return [answer.statusCode, answer.json().error]
  }
  const { size } = await headOf(await checkpoint())
  const wrong = [400, 'invalid_tree_size']
  assert.deepEqual(await refusal(`consistency?from=0&to=${size + 1}`), wrong)
  assert.deepEqual(await refusal(`consistency?from=${size + 1}`), wrong)
  assert.deepEqual(await refusal('consistency?from=2&to=1'), wrong)
  const known = encodeURIComponent(hashOf((await leaves())[1]?.leaf ?? ''))
  assert.deepEqual(await refusal(`inclusion?leafHash=${known}&size=1`), [404, 'leaf_not_found'])
  assert.equal((await get(`inclusion?leafHash=${known}&size=2`)).json().index, 1)
  const unknown = encodeURIComponent(hashOf('none'))
  assert.deepEqual(await refusal(`inclusion?leafHash=${unknown}`), [404, 'leaf_not_found'])
  for (const path of ['leaves?start=-1', 'leaves', 'inclusion?leafHash=x*', 'consistency?from=1e3'])
    assert.equal((await refusal(path))[0], 400, path)
  assert.deepEqual((await get('identities/nobody')).json().events, [])
})

const hashOf = (leaf: string) => Buffer.from(hashLeaf(sha256, Buffer.from(leaf))).toString('base64')

test('TLG-05 a key swapped in the database differs from the logged key', async () => {
  const { identityId, publicKey } = await register()
  const before = await headOf(await checkpoint())
  const swapped = newSigningPair().publicKey
  const key = await logKey()
  const seenAs = async (expected: string) => {
    const { checkpoint: note, events } = await eventsOf(identityId)
    const opened = events.map((event) => verifyKeyInclusion(nodeSuite, { identityId, checkpoint: note, ...event }, key))
    return opened.length > 0 && opened.at(-1)?.event.publicKey === expected
  }
  assert.ok(await seenAs(publicKey))

  const bytes = Buffer.from(swapped, 'base64')
  const set = (to: Uint8Array) =>
    world.db.updateTable('signing_key').set({ public_key: to }).where('identity_id', '=', identityId).execute()
  await set(bytes)
  assert.ok(!(await seenAs(swapped)), 'the new key is not in the log')
  await set(Buffer.from(publicKey, 'base64'))

  // The leaf and the tree over it too: no path leads to the signed root.
  const row = await world.db
    .selectFrom('transparency_leaf')
    .selectAll()
    .where('identity_sha256', '=', Buffer.from(identityDigest(sha256, identityId), 'base64'))
    .executeTakeFirstOrThrow()
  const leaf = row.leaf_data.replace(publicKey, swapped)
  const write = async (values: { leaf_data: string; leaf_sha256: Uint8Array }) => {
    await world.db.updateTable('transparency_leaf').set(values).where('leaf_index', '=', row.leaf_index).execute()
    await rewriteTree((await leaves()).map((each) => each.leaf))
  }
  const forged = { leaf_data: leaf, leaf_sha256: hashLeaf(sha256, Buffer.from(leaf)) }
  await write(forged)
  assert.ok(!(await seenAs(swapped)), 'the tree has another leaf there')

  // The log continues over it: a client with an earlier checkpoint sees that it is another log.
  await register()
  await register()
  const after = await headOf(await checkpoint())
  const isSame = isConsistent(sha256, { from: before, to: after, hashes: await consistency(before.size, after.size) })
  assert.ok(!isSame, 'the earlier signed tree is not a prefix of the current one')
  await write({ leaf_data: row.leaf_data, leaf_sha256: row.leaf_sha256 })
})
