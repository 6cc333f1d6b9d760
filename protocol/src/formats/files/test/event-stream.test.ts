import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Readable } from 'node:stream'
import { readEventStream, type StreamEvent } from '../event-stream.ts'

async function read(...pieces: string[]): Promise<StreamEvent[]> {
  return Array.fromAsync(readEventStream(Readable.from(pieces)))
}

const text = 'retry: 2000\nid: 4\n\n: nothing new\n\nid: 5\ndata: {"a":1}\n\ndata: one\ndata: two\n\n'
const events = [
  { id: '4', data: undefined },
  { id: undefined, data: undefined },
  { id: '5', data: '{"a":1}' },
  { id: undefined, data: 'one\ntwo' },
]

test('events are read from pieces of any size', async () => {
  assert.deepEqual(await read(text), events)
  assert.deepEqual(await read(...text.split('')), events)
  for (let at = 1; at < text.length; at += 1) assert.deepEqual(await read(text.slice(0, at), text.slice(at)), events)
})

test('an event that is cut off is not returned', async () => {
  for (const cut of ['id: 6\n', 'id: 6\ndata: {"b":', 'id: 6\ndata: {}\n'])
    assert.deepEqual(await read(text, cut), events)
})

test('an endless event is refused before it fills the memory', async () => {
  const endless = function* () {
    for (;;) yield 'data: '.repeat(10_000)
  }
  await assert.rejects(Array.fromAsync(readEventStream(Readable.from(endless()))), RangeError)
})
