import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import fastCheck from 'fast-check'
import { writeCanonicalJson } from '../canonical-json.ts'
import { frame, type FrameLabel } from '../frame.ts'

test('a frame is the bytes that another implementation computes', () => {
  // printf '\xffcountersign/key-link/v2\0{"a":"é","b":[1,null]}\x00\x01' | sha256sum
  const framed = frame('countersign/key-link/v2', { b: [1, null], a: 'é' }, Uint8Array.of(0, 1))
  assert.equal(hash('sha256', framed), 'cb2e238a10b46036b3fbdb1fc4dd7ebc797f123db890949c32e19581846b8dd6')
})

test('SGN-08 no text is a frame, because a frame is not UTF-8', () => {
  const utf8 = new TextDecoder('utf-8', { fatal: true })
  fastCheck.assert(
    fastCheck.property(fastCheck.string({ unit: 'binary' }), (text) => {
      assert.throws(() => utf8.decode(frame('countersign/approval/v2', { text: text.toWellFormed() })), TypeError)
    }),
  )
})

test('SGN-09 two different inputs never have the same frame', () => {
  const labels: FrameLabel[] = ['countersign/approval/v2', 'countersign/approval-presence/v2', 'countersign/act/v2']
  const input = fastCheck.record({
    label: fastCheck.constantFrom(...labels),
    value: fastCheck.dictionary(
      fastCheck.constantFrom('a', 'b'),
      fastCheck.oneof(fastCheck.nat(20), fastCheck.string()),
    ),
    // Also tails that look like more of the object.
    tail: fastCheck.oneof(
      fastCheck.uint8Array({ maxLength: 4 }),
      fastCheck.constantFrom('1', '"', ',"b":1}', '}').map((text) => new TextEncoder().encode(text)),
    ),
  })
  fastCheck.assert(
    fastCheck.property(input, input, (one, other) => {
      const [first, second] = [one, other].map(({ label, value, tail }) => frame(label, value, tail))
      const isSameInput =
        JSON.stringify([one.label, writeCanonicalJson(one.value), ...one.tail]) ===
        JSON.stringify([other.label, writeCanonicalJson(other.value), ...other.tail])
      assert.equal(Buffer.compare(first ?? new Uint8Array(), second ?? new Uint8Array()) === 0, isSameInput)
    }),
  )
})
