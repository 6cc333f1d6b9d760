import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fromCanonicalBase64, fromCanonicalBase64Url, toBase64 } from '../base64.ts'

test('bytes of every length come back from their base64', () => {
  for (let length = 0; length < 70; length += 1) {
    const bytes = crypto.getRandomValues(new Uint8Array(length))
    assert.equal(toBase64(bytes), Buffer.from(bytes).toString('base64'))
    assert.deepEqual(fromCanonicalBase64(toBase64(bytes)), bytes)
  }
})

test('of all texts of a last group, only those are read that writing gives', () => {
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

test('bytes of every length come back from their base64url, and from one spelling of it', () => {
  for (let length = 0; length < 70; length += 1) {
    const bytes = crypto.getRandomValues(new Uint8Array(length))
    assert.deepEqual(fromCanonicalBase64Url(Buffer.from(bytes).toString('base64url')), bytes)
  }
  for (const text of ['A', 'AB', 'AAB', 'AAAAA', 'AA==', 'AAA=', 'A+/A', 'AA\n', ' AA', 'AA AA'])
    assert.equal(fromCanonicalBase64Url(text), undefined, text)
})
