import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCache } from '#clients/registration/directory.ts'

/** Creates a cache over keys that begin with `real`, with a count of the reads and an adjustable clock. */
function cacheOverReads() {
  const reads: string[] = []
  const state = { now: new Date('2030-01-01T00:00:00.000Z') }
  const find = async (key: string) => {
    reads.push(key)
    return key.startsWith('real') ? { key, readAs: reads.length } : undefined
  }
  const readsOf = (key: string) => reads.filter((read) => read === key).length
  return { cache: createCache(find, () => state.now), reads, readsOf, state }
}

test('a change is visible after five seconds at most', async () => {
  const { cache, readsOf, state } = cacheOverReads()
  await cache.read('real')
  state.now = new Date('2030-01-01T00:00:04.999Z')
  await cache.read('real')
  assert.equal(readsOf('real'), 1)
  state.now = new Date('2030-01-01T00:00:05.000Z')
  await cache.read('real')
  assert.equal(readsOf('real'), 2)
})

test('a clock that is set back does not prolong an entry', async () => {
  const { cache, readsOf, state } = cacheOverReads()
  await cache.read('real')
  state.now = new Date('2029-12-31T23:00:00.000Z')
  await cache.read('real')
  assert.equal(readsOf('real'), 2)
})

test('concurrent reads of a key share one query', async () => {
  const { cache, readsOf } = cacheOverReads()
  const values = await Promise.all(Array.from({ length: 50 }, () => cache.read('real')))
  assert.equal(readsOf('real'), 1)
  assert.equal(new Set(values).size, 1)
})

test('TOK-03: missing keys are answered as fast as existing ones', async () => {
  const { cache, readsOf } = cacheOverReads()
  assert.equal(await cache.read('made up'), undefined)
  assert.equal(await cache.read('made up'), undefined)
  assert.equal(readsOf('made up'), 1)
})

test('LOD-08: made-up keys have bounded memory and evict no existing key', async () => {
  const { cache, readsOf } = cacheOverReads()
  await cache.read('real')
  for (let index = 0; index < 5000; index += 1) await cache.read(`made up ${index}`)
  await cache.read('real')
  assert.equal(readsOf('real'), 1)
  await cache.read('made up 0')
  assert.equal(readsOf('made up 0'), 2, 'the oldest one is evicted')
})

test('LOD-08: the oldest of too many existing keys is evicted', async () => {
  const { cache, readsOf } = cacheOverReads()
  for (let index = 0; index <= 10_000; index += 1) await cache.read(`real ${index}`)
  await cache.read('real 10000')
  assert.equal(readsOf('real 10000'), 1)
  await cache.read('real 0')
  assert.equal(readsOf('real 0'), 2)
})

test('a read that started before a change is not cached', async () => {
  const answers = [Promise.withResolvers<string>(), Promise.withResolvers<string>()]
  let reads = 0
  const cache = createCache(
    () => answers[reads++]?.promise ?? Promise.resolve('read too often'),
    () => new Date('2030-01-01T00:00:00.000Z'),
  )
  const before = cache.read('app')
  cache.forget('app')
  const after = cache.read('app')
  answers[1]?.resolve('after the change')
  assert.equal(await after, 'after the change')
  answers[0]?.resolve('before the change')
  assert.equal(await before, 'before the change')
  assert.equal(await cache.read('app'), 'after the change')
})

test('a failed read rejects for all waiting callers and is retried by the next', async () => {
  let reads = 0
  const find = async () => {
    reads += 1
    if (reads === 1) throw new Error('database unavailable')
    return 'found'
  }
  const cache = createCache(find, () => new Date('2030-01-01T00:00:00.000Z'))
  const both = await Promise.allSettled([cache.read('app'), cache.read('app')])
  assert.deepEqual(
    both.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  assert.equal(await cache.read('app'), 'found')
  cache.forgetAll()
  await cache.read('app')
  assert.equal(reads, 3)
})
