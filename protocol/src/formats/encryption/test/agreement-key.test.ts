import assert from 'node:assert/strict'
import { createECDH, createPublicKey, generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { curveOfPrivateKey, curveOfPublicKey, isValidCurvePoint } from '../agreement-key.ts'

const spki = { format: 'der', type: 'spki' } as const
const pkcs8 = { format: 'der', type: 'pkcs8' } as const
const pairs = {
  X25519: () => generateKeyPairSync('x25519'),
  'P-256': () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
}
const others = {
  Ed25519: generateKeyPairSync('ed25519'),
  X448: generateKeyPairSync('x448'),
  'P-384': generateKeyPairSync('ec', { namedCurve: 'P-384' }),
  secp256k1: generateKeyPairSync('ec', { namedCurve: 'secp256k1' }),
  RSA: generateKeyPairSync('rsa', { modulusLength: 2048 }),
}

/** Encodes a coordinate in little-endian order (RFC 7748). */
const coordinate = (number: bigint) => Buffer.from(number.toString(16).padStart(64, '0'), 'hex').toReversed()
const prime = 2n ** 255n - 19n

for (const [curve, newPair] of Object.entries(pairs)) {
  test(`keys of ${curve} are recognized by their encoding`, () => {
    for (let round = 0; round < 20; round += 1) {
      const { publicKey, privateKey } = newPair()
      assert.equal(curveOfPublicKey(publicKey.export(spki)), curve)
      assert.equal(curveOfPrivateKey(privateKey.export(pkcs8)), curve)
      assert.equal(curveOfPublicKey(privateKey.export(pkcs8)), undefined)
      assert.equal(curveOfPrivateKey(publicKey.export(spki)), undefined)
    }
  })

  test(`a key of ${curve} that is cut, longer or has another prefix is rejected`, () => {
    const { publicKey, privateKey } = newPair()
    for (const [read, key] of [
      [curveOfPublicKey, publicKey.export(spki)],
      [curveOfPrivateKey, privateKey.export(pkcs8)],
    ] as const) {
      assert.equal(read(key.subarray(1)), undefined)
      assert.equal(read(key.subarray(0, -1)), undefined)
      assert.equal(read(Buffer.concat([key, Buffer.alloc(1)])), undefined)
      for (let place = 0; place < 12; place += 1)
        assert.equal(read(key.with(place, (key[place] ?? 0) ^ 1)), undefined, `byte ${place}`)
    }
  })
}

for (const [name, { publicKey, privateKey }] of Object.entries(others)) {
  test(`a key of ${name} is rejected for key agreement`, () => {
    assert.equal(curveOfPublicKey(publicKey.export(spki)), undefined)
    assert.equal(curveOfPrivateKey(privateKey.export(pkcs8)), undefined)
  })
}

test('empty input is not a key', () => {
  assert.equal(curveOfPublicKey(new Uint8Array()), undefined)
  assert.equal(curveOfPrivateKey(new Uint8Array()), undefined)
  assert.equal(isValidCurvePoint('X25519', new Uint8Array()), false)
  assert.equal(isValidCurvePoint('P-256', new Uint8Array()), false)
})

test('every X25519 point that yields a zero secret is rejected, in each of its encodings', async () => {
  const order8 = [
    'e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800',
    '5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157',
  ].map((hex) => Buffer.from(hex, 'hex'))
  const reduced = [coordinate(0n), coordinate(1n), coordinate(prime - 1n), ...order8]
  const unreduced = [coordinate(prime), coordinate(prime + 1n)]
  const withTopBit = [...reduced, ...unreduced].map((point) => point.with(31, (point[31] ?? 0) | 0x80))
  for (const point of [...reduced, ...unreduced, ...withTopBit]) {
    assert.equal(isValidCurvePoint('X25519', point), false)
    await assert.rejects(agreeWith(point), { name: 'OperationError' })
  }
})

test('a non-canonical X25519 coordinate is rejected', async () => {
  const nine = coordinate(9n)
  assert.equal(isValidCurvePoint('X25519', nine), true)
  for (const point of [nine.with(31, 0x80), coordinate(prime + 9n), coordinate(2n ** 256n - 1n)])
    assert.equal(isValidCurvePoint('X25519', point), false)
})

test('two coordinates that are not a point of P-256 are rejected', () => {
  const ecdh = createECDH('prime256v1')
  const point = ecdh.generateKeys().subarray(1)
  assert.equal(isValidCurvePoint('P-256', point), true)
  for (let place = 0; place < 64; place += 1)
    assert.equal(isValidCurvePoint('P-256', point.with(place, (point[place] ?? 0) ^ 1)), false, `byte ${place}`)
  assert.equal(isValidCurvePoint('P-256', new Uint8Array(64)), false)
  assert.equal(isValidCurvePoint('P-256', new Uint8Array(64).fill(0xff)), false)
  assert.equal(isValidCurvePoint('P-256', Buffer.concat([point.subarray(32), point.subarray(0, 32)])), false)
})

test('a point on another curve than P-256 is not a public key, whatever its SPKI says', () => {
  const jwk = others.secp256k1.publicKey.export({ format: 'jwk' })
  const point = Buffer.concat([jwk.x ?? '', jwk.y ?? ''].map((text) => Buffer.from(text, 'base64url')))
  const key = pairs['P-256']().publicKey.export(spki)
  const forged = Buffer.concat([key.subarray(0, 27), point])
  assert.equal(curveOfPublicKey(forged), undefined)
  assert.throws(() => createPublicKey({ key: forged, ...spki }))
})

async function agreeWith(point: Uint8Array): Promise<ArrayBuffer> {
  const pair = await crypto.subtle.generateKey('X25519', false, ['deriveBits'])
  assert.ok('privateKey' in pair)
  const publicKey = await crypto.subtle.importKey('raw', Uint8Array.from(point), 'X25519', false, [])
  return crypto.subtle.deriveBits({ name: 'X25519', public: publicKey }, pair.privateKey, 256)
}
