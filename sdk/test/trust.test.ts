import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { createCountersign, createMemoryTrustStore, type TrustSettings, type TrustStore } from '../src/server/server.ts'
import {
  addLeaf,
  checkpointOf,
  createLog,
  eventsOf,
  newKeyPair,
  type LyingLog,
} from '../../server/testing/lying-log.ts'
import { later, openLyingService, pageOf } from '../../server/testing/lying-service.ts'
import { begin } from './trusting-app.ts'

/** Adds leaves of other identities. */
function grow(log: LyingLog, count: number): void {
  for (let nth = 0; nth < count; nth += 1) addLeaf(log, randomUUID(), newKeyPair(), { event: 'created' })
}

test('TRU-01 a key that the log proves is accepted, and proved again at each request', async (t) => {
  const { ask, ada, log, identityId, name, service } = await begin(t)
  assert.deepEqual([(await ask()).publicKey, (await ask()).keyVersion], [ada.publicKey, 1])
  const next = newKeyPair()
  grow(log, 3)
  addLeaf(log, identityId, next, { event: 'rotated', linkedBy: ada })
  name(next)
  const { publicKey, keyVersion } = await ask()
  assert.deepEqual([publicKey, keyVersion], [next.publicKey, 2])
  const read = service.paths.filter((path) => path.includes('/transparency/')).length
  assert.equal(read, 4, 'one request to prove a key, and one more where the log has grown')
})

test('TRU-01 a service that names its own key is refused: one that is not in the log, or of nobody', async (t) => {
  const { ask, name, refuses, service, log, restart } = await begin(t)
  const mallory = newKeyPair()
  name(mallory)
  await assert.rejects(ask(), { code: 'key_not_proved' })
  service.answers.identity = () => ({ body: { checkpoint: checkpointOf(log), events: [], nextStart: null } })
  await refuses('key_not_proved', restart({ store: createMemoryTrustStore() }))
  assert.equal((await ask(createCountersign(service.settings))).publicKey, mallory.publicKey, 'without trust it is not')
})

test('TRU-02 a key that the service adds to the history is refused', async (t) => {
  const { log, identityId, name, refuses, ask, ada } = await begin(t)
  await ask()
  const own = newKeyPair()
  name(own)
  addLeaf(log, identityId, own, { event: 'rotated' })
  await refuses('key_not_proved')
  log.leaves.pop()
  addLeaf(log, identityId, own, { event: 'rotated', linkedBy: own })
  await refuses('log_forked')
  const other = await begin(t)
  addLeaf(other.log, other.identityId, own, { event: 'rotated', linkedBy: own })
  await other.refuses('unlinked_key')
  const third = await begin(t)
  addLeaf(third.log, third.identityId, own, { event: 'rotated', linkedBy: third.ada })
  addLeaf(third.log, third.identityId, newKeyPair(), { event: 'rotated', linkedBy: ada })
  await third.refuses('unlinked_key')
})

test('TRU-30 a key that was replaced is refused, also if its successor links it again', async (t) => {
  const { log, identityId, ada, name, ask, refuses, restart } = await begin(t)
  const next = newKeyPair()
  addLeaf(log, identityId, next, { event: 'rotated', linkedBy: ada })
  name(next)
  await ask()
  addLeaf(log, identityId, ada, { event: 'rotated', provedBy: null })
  addLeaf(log, identityId, ada, { event: 'adopted', linkedBy: next })
  name(ada)
  await refuses('key_used_before')
  await refuses('key_used_before', restart({ store: createMemoryTrustStore(), keys: 'any' }))
})

test('TRU-03 a key without the proofs of its owner is accepted only with keys: any, a wrong proof never', async (t) => {
  const { log, identityId, name, refuses, restart, ask, ada } = await begin(t)
  const next = newKeyPair()
  name(next)
  addLeaf(log, identityId, next, { event: 'rotated', linkedBy: ada, provedBy: null })
  await refuses('key_not_proved')
  const lenient = restart({ keys: 'any' })
  assert.equal((await ask(lenient)).publicKey, next.publicKey)
  addLeaf(log, identityId, next, { event: 'adopted' })
  assert.equal((await ask()).publicKey, next.publicKey, 'its owner has proved it since')
  addLeaf(log, identityId, newKeyPair(), { event: 'rotated', linkedBy: next, provedBy: ada })
  await refuses('no_possession', lenient)
})

test('TRU-04 a checkpoint of another key or another name is of an unknown log', async (t) => {
  const { log, identityId, service, refuses, ask } = await begin(t)
  await ask()
  const page = pageOf(log, identityId)
  for (const other of [createLog(log.origin), createLog('localhost/other', log.key)]) {
    const checkpoint = checkpointOf({ ...other, leaves: log.leaves })
    service.answers.identity = () => ({ body: { ...page, checkpoint } })
    await refuses('unknown_log')
  }
  service.answers.identity = () => ({ body: { ...page, checkpoint: page.checkpoint.replace('\n2\n', '\n3\n') } })
  await refuses('unknown_log')
})

test('TRU-04 a store that remembers another log is refused', async (t) => {
  const { restart, refuses, ask, service } = await begin(t)
  await ask()
  const read = service.paths.length
  await refuses('unknown_log', restart({ log: createLog().trusted }))
  assert.equal(service.paths.length, read)
})

test('TRU-05 a log with fewer entries than before was rolled back', async (t) => {
  const { log, identityId, service, refuses, ask } = await begin(t)
  grow(log, 5)
  await ask()
  service.answers.identity = (_id, start) => ({ body: pageOf(log, identityId, { start, size: 6 }) })
  await refuses('log_rolled_back')
  service.answers.identity = service.honest.identity
  await ask()
})

test('TRU-06 a log that does not continue the one that was seen was forked', async (t) => {
  const { log, identityId, ada, service, refuses, ask } = await begin(t)
  grow(log, 5)
  await ask()
  const honest = [...log.leaves]
  for (const count of [5, 6, 40]) {
    log.leaves.length = 0
    grow(log, 1)
    addLeaf(log, identityId, ada, { event: 'created' })
    grow(log, count)
    await refuses('log_forked')
  }
  log.leaves.splice(0, Infinity, ...honest)
  grow(log, 4)
  const refused = { status: 400, body: { error: 'invalid_tree_size' } }
  for (const answer of [refused, { body: { hashes: [] } }, { body: { hashes: ['!'] } }, { body: {} }]) {
    service.answers.consistency = () => answer
    await refuses('log_forked')
  }
  service.answers.consistency = () => 'hang up'
  await refuses('network_error')
  service.answers.consistency = service.honest.consistency
  await ask()
})

test('TRU-07 a history without the leaf that was seen last is rewritten', async (t) => {
  const { log, identityId, ada, name, service, refuses, ask } = await begin(t)
  const next = newKeyPair()
  addLeaf(log, identityId, next, { event: 'rotated', linkedBy: ada })
  name(next)
  await ask()
  const [first] = eventsOf(log, identityId)
  const checkpoint = checkpointOf(log)
  name(ada)
  service.answers.identity = () => ({ body: { checkpoint, events: [first], nextStart: null } })
  await refuses('history_rewritten')
  service.answers.identity = () => ({ body: { checkpoint, events: [], nextStart: null } })
  await refuses('history_rewritten')
  const own = newKeyPair()
  addLeaf(log, identityId, own, { event: 'created', keyVersion: 1, previous: null })
  const second = eventsOf(log, identityId).at(-1)
  service.answers.identity = () => ({ body: { checkpoint: checkpointOf(log), events: [second], nextStart: null } })
  name(own)
  await refuses('history_rewritten')
  service.answers.identity = service.honest.identity
  await refuses('version_twice')
})

test('TRU-08 an identity that was deleted has no key, and gets none after', async (t) => {
  const { log, identityId, ada, refuses, ask } = await begin(t)
  await ask()
  addLeaf(log, identityId, ada, { event: 'removed' })
  await refuses('key_not_proved')
  addLeaf(log, identityId, newKeyPair(), { event: 'rotated', linkedBy: ada })
  await refuses('after_removal')
})

test('TRU-09 leaves that are not in the log, of another identity or of no known format are refused', async (t) => {
  const { log, identityId, ada, service, refuses } = await begin(t)
  grow(log, 6)
  const checkpoint = checkpointOf(log)
  const [event] = eventsOf(log, identityId)
  assert.ok(event)
  const own = createLog(log.origin, log.key)
  addLeaf(own, identityId, newKeyPair(), { event: 'created' })
  const foreign = randomUUID()
  addLeaf(log, foreign, ada, { event: 'created' })
  const [other] = eventsOf(log, foreign)
  log.leaves.pop()
  const lies: [string, object | undefined][] = [
    ['key_not_proved', { ...event, leaf: own.leaves[0] }],
    ['key_not_proved', { ...event, index: 0 }],
    ['key_not_proved', { ...event, hashes: event.hashes.toReversed() }],
    ['key_not_proved', { ...event, hashes: event.hashes.slice(1) }],
    ['key_not_proved', { ...event, hashes: [...event.hashes, ...event.hashes] }],
    ['key_not_proved', other],
    ['unknown_event', { ...event, leaf: event.leaf.replace('"created"', '"Recovered"') }],
    ['malformed_leaf', { ...event, leaf: event.leaf.replace('"created"', '"recovered"') }],
    ['malformed_leaf', { ...event, leaf: ` ${event.leaf}` }],
    ['malformed_leaf', { ...event, leaf: '"'.repeat(5000) }],
    ['unexpected_response', { ...event, index: '1' }],
    ['unexpected_response', { ...event, hashes: [1] }],
    ['unexpected_response', { index: event.index }],
  ]
  for (const [code, lie] of lies) {
    service.answers.identity = () => ({ body: { checkpoint, events: [lie], nextStart: null } })
    await refuses(code)
  }
  service.answers.identity = () => ({ body: { checkpoint, events: [event, event], nextStart: null } })
  await refuses('broken_chain')
})

test('TRU-10 a history of several pages is read whole, also while the log grows', async (t) => {
  const { log, identityId, service, name, ask, ...rest } = await begin(t)
  let { ada: current } = rest
  for (let nth = 0; nth < 8; nth += 1) {
    const next = newKeyPair()
    addLeaf(log, identityId, next, { event: 'rotated', linkedBy: current })
    current = next
  }
  service.answers.identity = (_id, start) => {
    grow(log, 1)
    return { body: pageOf(log, identityId, { start, count: 3 }) }
  }
  name(current)
  assert.equal((await ask()).keyVersion, 9)
})

test('TRU-10 pages without end are refused', async (t) => {
  const { log, identityId, service, refuses } = await begin(t)
  const page = pageOf(log, identityId)
  let count = 0
  service.answers.identity = (_id, start) => {
    count += 1
    return { body: { ...page, events: start === 0 ? page.events : [], nextStart: start + 1 } }
  }
  await refuses('unexpected_response')
  assert.ok(count < 10)
  const [event] = page.events
  service.answers.identity = () => ({ body: { ...page, events: Array.from({ length: 1000 }, () => event) } })
  await refuses('unexpected_response')
})

test('TRU-11 at the first use the key of the log is trusted, and no other one later', async (t) => {
  const durable: TrustStore = { ...createMemoryTrustStore(), isDurable: true }
  const { log, identityId, restart, service, ask, refuses } = await begin(t, { log: 'first-use', store: durable })
  await ask()
  const other = createLog(log.origin)
  other.leaves.push(...log.leaves)
  service.answers.identity = (_id, start) => ({ body: pageOf(other, identityId, { start }) })
  service.answers.keys = () => ({ body: { keys: [], origin: other.origin, verifierKey: other.trusted.verifierKey } })
  await refuses('unknown_log', restart())
  const memory = createMemoryTrustStore()
  assert.throws(() => restart({ store: memory }), /'first-use' needs a durable store/)
})

test('TRU-13 a process whose answer is older than what another process has stored accuses nobody', async (t) => {
  const { log, identityId, service, store, ask, restart } = await begin(t)
  await ask()
  const other = restart()
  grow(log, 3)
  service.answers.identity = async (_id, start) => {
    const earlier = pageOf(log, identityId, { start })
    grow(log, 2)
    service.answers.identity = service.honest.identity
    await ask(other)
    return { body: earlier }
  }
  await ask()
  assert.equal(JSON.parse((await store.read('log')) ?? '').size, 7, 'the later head is kept')
})

test('TRU-13 a key that another process saw meanwhile is not forgotten', async (t) => {
  const { log, identityId, ada, service, name, ask, restart } = await begin(t)
  const next = newKeyPair()
  service.answers.identity = async (_id, start) => {
    const earlier = pageOf(log, identityId, { start })
    addLeaf(log, identityId, next, { event: 'rotated', linkedBy: ada })
    name(next)
    service.answers.identity = service.honest.identity
    await ask(restart())
    return { body: earlier }
  }
  assert.equal((await ask()).keyVersion, 2)
})

test('TRU-13 many requests at once, in two processes, prove their keys', async (t) => {
  const { log, identityId, service, app, ask, restart } = await begin(t)
  service.answers.identity = (_id, start) => {
    grow(log, 1)
    return { body: pageOf(log, identityId, { start }) }
  }
  const other = restart()
  const requests = Array.from({ length: 30 }, (_, nth) => ask(nth % 2 === 0 ? app : other))
  assert.equal((await Promise.all(requests)).length, 30)
})

test('TRU-14 a request that is lost after its key was proved can be sent again', async (t) => {
  const { service, ask, log } = await begin(t)
  service.answers.opened = () => 'hang up'
  await assert.rejects(ask(), { code: 'network_error' })
  service.answers.opened = service.honest.opened
  await ask()
  grow(log, 1)
  await ask()
})

const failures: Record<string, Partial<TrustStore>> = {
  'throws when it reads': { read: () => Promise.reject(new Error('the disk is full')) },
  'throws when it stores': { advance: () => Promise.reject(new Error('the disk is full')) },
  'never stores': { advance: async () => false },
  'holds a damaged value': { read: async () => '{' },
  'holds a value of something else': { read: async () => '{"version":1}' },
  'holds a damaged value of the log': { read: async (key) => (key === 'log' ? '{"version":1}' : undefined) },
}
for (const [what, failure] of Object.entries(failures))
  test(`TRU-15 with a store that ${what} nothing is sent`, async (t) => {
    const { refuses } = await begin(t, { store: { ...createMemoryTrustStore(), ...failure } })
    await refuses('trust_store_failed')
  })

test('TRU-15 a store in JavaScript that answers something else is refused', async (t) => {
  const memory = createMemoryTrustStore()
  const wrong: object[] = [
    { ...memory, read: async () => null },
    { ...memory, advance: async () => 1 },
    {
      ...memory,
      read: () => {
        throw new Error('not a promise')
      },
    },
  ]
  for (const store of wrong) {
    const { refuses } = await begin(t, { store: store as TrustStore })
    await refuses('trust_store_failed')
  }
})

test('TRU-18 settings that would verify less than they seem to are refused', async (t) => {
  const { restart, log } = await begin(t)
  const wrong: [object, RegExp][] = [
    [{ approval: 'required' }, /trust\.approval does not exist/],
    [{ requireSettled: true }, /trust\.requireSettled does not exist/],
    [{ maxAgeSeconds: 60 }, /trust\.maxAgeSeconds does not exist/],
    [{ approvals: 'sometimes' }, /trust\.approvals/],
    [{ approvals: null }, /trust\.approvals/],
    [{ keys: true }, /trust\.keys/],
    [{ store: {} }, /trust\.store/],
    [{ store: undefined }, /trust\.store/],
    [{ log: undefined }, /trust\.log/],
    [{ log: 'trust.json' }, /trust\.log/],
    [{ log: { ...log.trusted, version: 2 } }, /trust\.log/],
    [{ log: { ...log.trusted, origin: 'localhost/other' } }, /trust\.log/],
    [{ log: { ...log.trusted, verifierKey: log.trusted.verifierKey.replace(/\+\w/, '+z') } }, /trust\.log/],
  ]
  for (const [setting, message] of wrong) assert.throws(() => restart(setting), { name: 'TypeError', message })
  const { settings } = await openLyingService(t, log, later)
  for (const trust of [null, false, 'first-use'])
    assert.throws(() => createCountersign({ ...settings, trust: trust as unknown as TrustSettings }), TypeError)
})
