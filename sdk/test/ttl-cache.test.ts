import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTtlCache } from '../src/resource/delegation-introspection.ts'

test('a full cache drops its oldest entry', async () => {
  const memory = createTtlCache<string>({ entriesMax: 2, freshUntil: () => Number.POSITIVE_INFINITY })
  const fetched: string[] = []
  const recall = (key: string) =>
    memory.recall(key, async () => {
      fetched.push(key)
      return key
    })
  for (const key of ['a', 'b', 'c', 'b', 'c', 'a']) assert.equal(await recall(key), key)
  assert.deepEqual(fetched, ['a', 'b', 'c', 'a'])
})

test('a late failure does not remove a newer entry', async () => {
  const memory = createTtlCache<string>({ entriesMax: 1, freshUntil: () => Number.POSITIVE_INFINITY })
  const { promise, reject } = Promise.withResolvers<string>()
  const failing = memory.recall('a', () => promise)
  await memory.recall('b', async () => 'b')
  await memory.recall('a', async () => 'a new one')
  reject(new Error('too late'))
  await assert.rejects(failing, /too late/)
  assert.equal(await memory.recall('a', async () => 'another'), 'a new one')
})
