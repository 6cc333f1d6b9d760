import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseRecipientKey } from '../recipient-key.ts'

const encode = (text: string) => Buffer.from(text).toString('base64url')
const write = (jwk: unknown) => encode(JSON.stringify(jwk))
const x25519 = { kty: 'OKP', crv: 'X25519', x: 'hSDwCYkwp1R0i33ctD73Wg2_Og0mOBr066SpjqqbTmo' }
const p256 = {
  kty: 'EC',
  crv: 'P-256',
  x: 'weNJy2HscCSM6AEDTDg04biOvhFhyyWvOHQfeF_PxMQ',
  y: 'e8lnCO-AlStT-NJVX-crhB7QRYhiix03illJOVAOyck',
}

for (const key of [x25519, p256]) {
  test(`only the public key is taken from a JWK of ${key.crv}`, () => {
    assert.deepEqual(parseRecipientKey(write(key)), key)
    const more = { alg: 'ECDH-ES', use: 'enc', key_ops: [], ext: true, kid: 'one', other: { d: 1 } }
    assert.deepEqual(parseRecipientKey(write({ ...more, ...key })), key)
    assert.deepEqual(parseRecipientKey(encode(JSON.stringify(key, null, 2))), key)
  })

  test(`a key of ${key.crv} with a private part is rejected`, () => {
    for (const member of ['d', 'k', 'p', 'priv'])
      for (const value of [key.x, '', null])
        assert.equal(parseRecipientKey(write({ ...key, [member]: value })), undefined)
  })

  test(`a key of ${key.crv} of another length or spelling is rejected`, () => {
    const short = Buffer.from(key.x, 'base64url').subarray(1).toString('base64url')
    for (const x of [short, '', `${key.x}A`, `AAAA${key.x}`, `${key.x}=`, ` ${key.x}`, 12, null, [key.x], undefined])
      assert.equal(parseRecipientKey(write({ ...key, x })), undefined, JSON.stringify(x))
  })

  test(`a key with another type than ${key.kty} and ${key.crv} is rejected`, () => {
    for (const crv of ['Ed25519', 'X448', 'P-384', 'secp256k1', 'x25519', 'p-256', '', null, ['X25519'], undefined])
      assert.equal(parseRecipientKey(write({ ...key, crv })), undefined)
    for (const kty of ['RSA', 'oct', key.kty === 'EC' ? 'OKP' : 'EC', key.kty.toLowerCase(), null, undefined])
      assert.equal(parseRecipientKey(write({ ...key, kty })), undefined)
  })
}

test('a point of small order, and one that is not on its curve, is rejected', () => {
  for (const first of [0, 1]) {
    const x = Buffer.alloc(32).with(0, first)
    assert.equal(parseRecipientKey(write({ ...x25519, x: Buffer.from(x).toString('base64url') })), undefined)
  }
  assert.equal(parseRecipientKey(write({ ...p256, y: p256.x })), undefined)
  assert.equal(parseRecipientKey(write({ ...p256, y: undefined })), undefined)
})

test('a text that is not a JWK in base64url is rejected', () => {
  for (const text of ['', 'e', '{}', encode(''), encode('{'), write(null), write([x25519]), write('x'), write({})])
    assert.equal(parseRecipientKey(text), undefined, text)
  const written = write(x25519)
  for (const text of [`${written}=`, `${written}\n`, ` ${written}`, `${written}A`, JSON.stringify(x25519)])
    assert.equal(parseRecipientKey(text), undefined, text)
  assert.equal(parseRecipientKey(Buffer.from([0xff, 0x7b, 0x7d]).toString('base64url')), undefined)
  assert.equal(parseRecipientKey(write({ ...x25519, note: 'n'.repeat(1024) })), undefined)
})
