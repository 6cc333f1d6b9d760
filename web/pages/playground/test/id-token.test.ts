import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PublicJwk } from '@countersign/protocol/oauth/authorize'
import { checkIdToken } from '../jwt.ts'

const now = new Date('2026-11-21T12:00:00Z')
const issuer = 'https://auth.example'
const claims = { iss: issuer, aud: 'app_1', nonce: 'the-nonce', sub: 'ada', exp: now.getTime() / 1000 + 60 }
const right = { signature: true, issuer: true, audience: true, nonce: true, lifetime: true }

const rsa = {
  name: 'RSASSA-PKCS1-v1_5',
  hash: 'SHA-256',
  modulusLength: 2048,
  publicExponent: new Uint8Array([1, 0, 1]),
}
const signers = {
  RS256: await signerOf('RS256', rsa, rsa),
  ES256: await signerOf('ES256', { name: 'ECDSA', namedCurve: 'P-256' }, { name: 'ECDSA', hash: 'SHA-256' }),
  EdDSA: await signerOf('EdDSA', { name: 'Ed25519' }, { name: 'Ed25519' }),
}
const keys = Object.values(signers).map(({ jwk }) => jwk)
const expected = { issuer, clientId: 'app_1', nonce: 'the-nonce', keys }

for (const [algorithm, { sign }] of Object.entries(signers)) {
  test(`an ID token signed with ${algorithm} passes every check`, async () => {
    assert.deepEqual(await checkIdToken(await sign(claims), expected, now), right)
  })
}

for (const [check, wrong] of Object.entries({
  issuer: { iss: 'https://evil.example' },
  audience: { aud: ['app_1', 'app_2'] },
  nonce: { nonce: 'another' },
  lifetime: { exp: now.getTime() / 1000 },
})) {
  test(`an ID token fails the check of its ${check}, and of that alone`, async () => {
    const token = await signers.ES256.sign({ ...claims, ...wrong })
    assert.deepEqual(await checkIdToken(token, expected, now), { ...right, [check]: false })
  })
}

test('an altered ID token, one of an unknown key and an unsigned one fail the check of the signature', async () => {
  const token = await signers.ES256.sign(claims)
  const [header, , signature] = token.split('.')
  const altered = `${header}.${base64url(JSON.stringify({ ...claims, sub: 'eve' }))}.${signature}`
  const unsigned = `${base64url('{"alg":"none"}')}.${base64url(JSON.stringify(claims))}.`
  for (const forged of [altered, unsigned]) {
    assert.equal((await checkIdToken(forged, expected, now)).signature, false)
  }
  assert.equal((await checkIdToken(token, { ...expected, keys: [] }, now)).signature, false)
})

test('an ID token of a refresh must carry no nonce', async () => {
  const { nonce: _, ...refreshed } = claims
  const token = await signers.EdDSA.sign(refreshed)
  assert.equal((await checkIdToken(token, { ...expected, nonce: undefined }, now)).nonce, true)
  assert.equal((await checkIdToken(token, expected, now)).nonce, false)
})

type Algorithm = RsaHashedKeyGenParams | EcKeyGenParams | { name: 'Ed25519' }

async function signerOf(alg: string, generation: Algorithm, signing: AlgorithmIdentifier | EcdsaParams) {
  const pair = await crypto.subtle.generateKey(generation, true, ['sign', 'verify'])
  assert.ok('privateKey' in pair)
  const { kty = '', crv, x, y, n, e } = await crypto.subtle.exportKey('jwk', pair.publicKey)
  const parts = Object.entries({ crv, x, y, n, e }).filter(([, part]) => part !== undefined)
  const jwk: PublicJwk = { kty, kid: `key-${alg}`, use: 'sig', alg, ...Object.fromEntries(parts) }
  const sign = async (payload: object) => {
    const input = `${base64url(JSON.stringify({ alg, kid: jwk.kid }))}.${base64url(JSON.stringify(payload))}`
    const signature = await crypto.subtle.sign(signing, pair.privateKey, new TextEncoder().encode(input))
    return `${input}.${Buffer.from(signature).toString('base64url')}`
  }
  return { jwk, sign }
}

function base64url(text: string): string {
  return Buffer.from(text).toString('base64url')
}
