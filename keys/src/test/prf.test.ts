import assert from 'node:assert/strict'
import { createHash, hkdfSync } from 'node:crypto'
import { test } from 'node:test'
import vectors from '../../vectors.json' with { type: 'json' }
import { CannotOpen, importEnvelopeKey, seal } from '../envelope.ts'
import { keyFromPrf, prfSalt } from '../prf.ts'

test('the salt of every passkey is the digest of one label', async () => {
  const { label, salt } = vectors.prfSalt
  assert.equal(Buffer.from(await prfSalt()).toString('hex'), salt)
  assert.equal(createHash('sha256').update(label).digest('hex'), salt)
})

for (const { output, wrappingKey } of vectors.prf) {
  test(`the passkey that answers ${output.slice(0, 8)}… opens what its derived key sealed`, async () => {
    const derived = hkdfSync('sha256', Buffer.from(output, 'hex'), '', 'countersign/master-key/v1', 32)
    assert.equal(Buffer.from(derived).toString('hex'), wrappingKey)

    const ciphertext = await seal(await importEnvelopeKey(derived), 'here', Buffer.from('content'))
    const opened = await (await keyFromPrf(Buffer.from(output, 'hex'))).open('here', ciphertext)
    assert.equal(Buffer.from(opened).toString(), 'content')
  })
}

test('the output is read alike as a buffer and as a view into a larger one', async () => {
  const output = crypto.getRandomValues(new Uint8Array(32))
  const larger = new Uint8Array(64)
  larger.set(output, 16)
  const ciphertext = await (await keyFromPrf(output.buffer)).seal('here', Buffer.from('content'))
  const opened = await (await keyFromPrf(larger.subarray(16, 48))).open('here', ciphertext)
  assert.equal(Buffer.from(opened).toString(), 'content')
})

test('another passkey does not open it', async () => {
  const ciphertext = await (await keyFromPrf(new Uint8Array(32).fill(1))).seal('here', Buffer.from('content'))
  await assert.rejects((await keyFromPrf(new Uint8Array(32).fill(2))).open('here', ciphertext), CannotOpen)
})

for (const length of [0, 16, 31, 33, 64]) {
  test(`an authenticator that answers ${length} bytes yields no key`, async () => {
    await assert.rejects(keyFromPrf(new Uint8Array(length)), RangeError)
  })
}
