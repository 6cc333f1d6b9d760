import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { parseSigningPublicKey } from '#signing/keys/key.ts'

const base64 = (hex: string) => Buffer.from(hex, 'hex').toString('base64')

test('a key created by a browser is accepted byte for byte', () => {
  for (let round = 0; round < 20; round += 1) {
    const raw = Buffer.from(generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' }).x ?? '', 'base64url')
    assert.deepEqual(Buffer.from(parseSigningPublicKey({ publicKey: raw.toString('base64') })), raw)
  }
})

/** Points of small order, in every encoding that some implementation accepts. */
const smallOrder = [
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0000000000000000000000000000000000000000000000000000000000000080',
  '0100000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000080',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff',
]
for (const hex of smallOrder)
  test(`KEY-07 the point ${hex.slice(0, 8)}…${hex.slice(-2)} of small order is rejected`, () => {
    assert.throws(() => parseSigningPublicKey({ publicKey: base64(hex) }), { code: 'invalid_public_key' })
  })

test('a text that is not the canonical base64 of a point is rejected', () => {
  // RFC 8032 §7.1, the first test vector.
  const valid = '11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo='
  assert.equal(parseSigningPublicKey({ publicKey: valid }).length, 32)
  const wrong = [
    ...['', 'AAAA', `${valid}\n`, valid.slice(0, -1), valid.slice(1), valid.replace('/', '_')],
    valid.replace('Ro=', 'Rp='),
    base64('02'.padEnd(64, '0')),
    base64('f0ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f'),
  ]
  for (const publicKey of wrong)
    assert.throws(() => parseSigningPublicKey({ publicKey }), { code: 'invalid_public_key' }, publicKey)
})
