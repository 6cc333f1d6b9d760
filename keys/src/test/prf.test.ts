import assert from 'node:assert/strict'
import { createHash, hkdfSync } from 'node:crypto'
import { test } from 'node:test'
import vectors from '../../vectors.json' with { type: 'json' }
import { DecryptionError, importEnvelopeKey, seal } from '../envelope.ts'
import { deriveKeyFromPrf, prfSalt } from '../prf.ts'

test('the salt of every passkey is the digest of one label', async () => {
  const { label, salt } = vectors.prfSalt
  assert.equal(Buffer.from(await prfSalt()).toString('hex'), salt)
  assert.equal(createHash('sha256').update(label).digest('hex'), salt)
})

for (const { output, wrappingKey } of vectors.prf) {
  test(`the PRF output ${output.slice(0, 8)}… decrypts content of its derived key`, async () => {
    const derived = hkdfSync('sha256', Buffer.from(output, 'hex'), '', 'countersign/master-key/v1', 32)
    assert.equal(Buffer.from(derived).toString('hex'), wrappingKey)

    const ciphertext = await seal(await importEnvelopeKey(derived), 'here', Buffer.from('content'))
    const opened = await (await deriveKeyFromPrf(Buffer.from(output, 'hex'))).open('here', ciphertext)
    assert.equal(Buffer.from(opened).toString(), 'content')
  })
}

test('the output is read alike as a buffer and as a view into a larger one', async () => {
  const output = crypto.getRandomValues(new Uint8Array(32))
  const larger = new Uint8Array(64)
  larger.set(output, 16)
  const ciphertext = await (await deriveKeyFromPrf(output.buffer)).seal('here', Buffer.from('content'))
  const opened = await (await deriveKeyFromPrf(larger.subarray(16, 48))).open('here', ciphertext)
  assert.equal(Buffer.from(opened).toString(), 'content')
})

test('another passkey cannot decrypt it', async () => {
  const ciphertext = await (await deriveKeyFromPrf(new Uint8Array(32).fill(1))).seal('here', Buffer.from('content'))
  await assert.rejects((await deriveKeyFromPrf(new Uint8Array(32).fill(2))).open('here', ciphertext), DecryptionError)
})

for (const length of [0, 16, 31, 33, 64]) {
  test(`an authenticator output of ${length} bytes gives no key`, async () => {
    await assert.rejects(deriveKeyFromPrf(new Uint8Array(length)), RangeError)
  })
}
