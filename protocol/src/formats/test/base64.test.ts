import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fromCanonicalBase64, fromCanonicalBase64Url, toBase64 } from '../base64.ts'

test('base64 of bytes of every length decodes to the same bytes', () => {
  for (let length = 0; length < 70; length += 1) {
    const bytes = crypto.getRandomValues(new Uint8Array(length))
    assert.equal(toBase64(bytes), Buffer.from(bytes).toString('base64'))
    assert.deepEqual(fromCanonicalBase64(toBase64(bytes)), bytes)
  }
})

test('of all texts of a last group, only canonical ones are decoded', () => {
  const alphabet = Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/')
  for (const first of 'Az/')
    for (const second of alphabet)
      for (const end of ['==', ...alphabet.map((third) => `${third}=`)]) {
        const text = first + second + end
        const bytes = Buffer.from(text, 'base64')
        const isCanonical = bytes.toString('base64') === text
        assert.equal(fromCanonicalBase64(text) !== undefined, isCanonical, text)
      }
  for (const text of ['A', 'AA', 'AAA', 'A===', 'AA==AA==', 'AA==\n', ' AA==', 'A-_=', 'AAAA='])
    assert.equal(fromCanonicalBase64(text), undefined, text)
})

test('base64url of bytes of every length decodes to the same bytes, in one spelling only', () => {
  for (let length = 0; length < 70; length += 1) {
    const bytes = crypto.getRandomValues(new Uint8Array(length))
    assert.deepEqual(fromCanonicalBase64Url(Buffer.from(bytes).toString('base64url')), bytes)
  }
  for (const text of ['A', 'AB', 'AAB', 'AAAAA', 'AA==', 'AAA=', 'A+/A', 'AA\n', ' AA', 'AA AA'])
    assert.equal(fromCanonicalBase64Url(text), undefined, text)
})
