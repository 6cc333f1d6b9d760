import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMemory } from '../src/resource/memory.ts'

test('where there is too much to remember, the oldest goes', async () => {
  const memory = createMemory<string>({ entriesMax: 2, freshUntil: () => Number.POSITIVE_INFINITY })
  const asked: string[] = []
  const recall = (key: string) =>
    memory.recall(key, async () => {
      asked.push(key)
      return key
    })
  for (const key of ['a', 'b', 'c', 'b', 'c', 'a']) assert.equal(await recall(key), key)
  assert.deepEqual(asked, ['a', 'b', 'c', 'a'])
})

test('a failure that comes late takes away nothing that came after it', async () => {
  const memory = createMemory<string>({ entriesMax: 1, freshUntil: () => Number.POSITIVE_INFINITY })
  const { promise, reject } = Promise.withResolvers<string>()
  const failing = memory.recall('a', () => promise)
  await memory.recall('b', async () => 'b')
  await memory.recall('a', async () => 'a new one')
  reject(new Error('too late'))
  await assert.rejects(failing, /too late/)
  assert.equal(await memory.recall('a', async () => 'another'), 'a new one')
})
