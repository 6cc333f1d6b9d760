import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { newSigningPair, secondWayToWrite } from '../../server/testing/signer.ts'
import { verifySignature } from '../src/server/server.ts'

type Vectors = { keys: { publicKey: string; tests: [number, string, string, boolean, string][] }[] }

const file = new URL('../../server/testing/wycheproof-ed25519.json', import.meta.url)
const vectors: Vectors = JSON.parse(readFileSync(file, 'utf8'))
const fromHex = (text: string) => Buffer.from(text, 'hex')
const toBase64 = (text: string) => fromHex(text).toString('base64')

test('SIG-14 every text vector of Wycheproof has the expected result', () => {
  let count = 0
  for (const { publicKey, tests } of vectors.keys)
    for (const [id, message, signature, valid, flags] of tests) {
      const payload = fromHex(message).toString('utf8')
      if (!Buffer.from(payload).equals(fromHex(message))) continue
      count += 1
      const claim = { payload, signature: toBase64(signature), publicKey: toBase64(publicKey) }
      assert.equal(verifySignature(claim), valid, `${id}: ${flags}`)
    }
  assert.ok(count > 60)
})

test('SIG-12 SIG-13 a key of small order and a non-canonical signature are rejected', () => {
  const payload = 'Pay 10 €'
  const smallOrder = [`01${'00'.repeat(31)}`, '00'.repeat(32), `ec${'ff'.repeat(30)}7f`, `ee${'ff'.repeat(30)}7f`]
  for (const key of smallOrder) {
    const signature = toBase64(`${key}${'00'.repeat(32)}`)
    assert.ok(!verifySignature({ payload, signature, publicKey: toBase64(key) }))
  }
  const { publicKey, sign } = newSigningPair()
  const signature = sign(payload)
  assert.ok(verifySignature({ payload, signature, publicKey }))
  assert.ok(!verifySignature({ payload, signature: secondWayToWrite(signature), publicKey }))
})

test('SIG-11 signatures and keys must be canonical base64 of the exact length', () => {
  const payload = 'Pay 10 €'
  const { publicKey, sign } = newSigningPair()
  const signature = sign(payload)
  const bytes = Buffer.from(signature, 'base64')
  const others = [
    '',
    bytes.toString('hex'),
    bytes.toString('base64url'),
    ` ${signature}`,
    signature.replace('==', ''),
    bytes.subarray(1).toString('base64'),
    Buffer.concat([bytes, bytes.subarray(0, 1)]).toString('base64'),
  ]
  for (const other of others) assert.ok(!verifySignature({ payload, signature: other, publicKey }), other)
  for (const other of ['', publicKey.replace('=', ''), signature, toBase64('00'.repeat(31))])
    assert.ok(!verifySignature({ payload, signature, publicKey: other }), other)
})

test('SIG-20 SIG-21 the exact bytes of a text count: no other normalization, no unpaired surrogate', () => {
  const { publicKey, sign } = newSigningPair()
  const composed = 'Café'.normalize('NFC')
  const claim = { signature: sign(composed), publicKey }
  assert.ok(verifySignature({ ...claim, payload: composed }))
  assert.ok(!verifySignature({ ...claim, payload: composed.normalize('NFD') }))

  const replaced = { signature: sign('Pay \uFFFD'), publicKey }
  assert.ok(verifySignature({ ...replaced, payload: 'Pay \uFFFD' }))
  assert.ok(!verifySignature({ ...replaced, payload: 'Pay \uD83D' }))
})
