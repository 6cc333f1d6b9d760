import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deriveBytes, deriveEnvelopeKey } from '../hkdf.ts'

test('derived bytes equal those of the third test case of RFC 5869', async () => {
  const derived = await deriveBytes(new Uint8Array(22).fill(0x0b), '')
  const published = '8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8'
  assert.equal(Buffer.from(derived).toString('hex'), published.slice(0, 64))
})

test('a derived key encrypts and decrypts, and is not extractable', async () => {
  const key = await deriveEnvelopeKey(new Uint8Array(32), 'test')
  assert.deepEqual(key.usages.toSorted(), ['decrypt', 'encrypt'])
  await assert.rejects(crypto.subtle.exportKey('raw', key), { name: 'InvalidAccessError' })
})
