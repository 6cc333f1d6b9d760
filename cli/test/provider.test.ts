import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { faultsOfHosts, faultsOfKeySet, faultsOfMetadata } from '../provider.ts'

const authUrl = 'https://auth.example.com'
const baseUrl = 'https://api.example.com'
const metadata = {
  issuer: authUrl,
  authorization_endpoint: `${authUrl}/signin`,
  token_endpoint: `${baseUrl}/api/oauth/token`,
  userinfo_endpoint: `${baseUrl}/api/oauth/userinfo`,
  jwks_uri: `${authUrl}/.well-known/jwks.json`,
  id_token_signing_alg_values_supported: ['ES256', 'EdDSA'],
}

const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const es256 = { ...publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'ES256' }
const eddsa = { ...generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' }), kid: 'two', alg: 'EdDSA' }

test('a discovery document that says what is true has no fault', () => {
  assert.deepEqual(faultsOfMetadata(metadata, { authUrl, baseUrl }), [])
})

test('a discovery document of another issuer, or with an endpoint elsewhere, is found out', () => {
  const wrong: Record<string, unknown> = {
    issuer: `${authUrl}/`,
    token_endpoint: 'https://api.example.com.evil.test/api/oauth/token',
    jwks_uri: undefined,
  }
  for (const [name, value] of Object.entries(wrong)) {
    const faults = faultsOfMetadata({ ...metadata, [name]: value }, { authUrl, baseUrl })
    assert.equal(faults.length, 1)
    assert.match(faults[0] ?? '', new RegExp(`^${name} is`))
  }
  for (const nothing of [null, [], 'text']) assert.equal(faultsOfMetadata(nothing, { authUrl, baseUrl }).length, 5)
})

test('a key set with a readable public key for each promised algorithm has no fault', () => {
  assert.deepEqual(faultsOfKeySet({ keys: [es256, eddsa] }, metadata), [])
})

test('a key set that cannot be relied on is found out', () => {
  const wrong: [keys: unknown, expected: RegExp][] = [
    [[es256], /no key for EdDSA/],
    [[{ ...es256, ...privateKey.export({ format: 'jwk' }) }, eddsa], /one is published with its private part/],
    [[{ ...es256, x: 'AAAA' }, eddsa], /one cannot be read/],
    [[es256, { ...eddsa, kid: 'one' }], /share a key id/],
    [undefined, /no key for ES256/],
  ]
  for (const [keys, expected] of wrong) assert.match(faultsOfKeySet({ keys }, metadata).join(), expected)
})

test('hosts on which passkeys and cookies work have no fault', () => {
  assert.deepEqual(faultsOfHosts(authUrl, baseUrl), [])
  assert.deepEqual(faultsOfHosts('https://id.example.com', 'https://id.example.com'), [])
  assert.deepEqual(faultsOfHosts('http://localhost:4401', 'http://localhost:4400'), [])
})

test('hosts on which passkeys or cookies fail are found out', () => {
  assert.match(faultsOfHosts('https://192.0.2.1', 'https://192.0.2.1').join(), /passkeys need a name/)
  assert.match(faultsOfHosts('http://auth.example.com', baseUrl).join(), /is not https:/)
  assert.match(faultsOfHosts(authUrl, 'https://api.example.org').join(), /not of one site/)
  assert.match(faultsOfHosts('http://auth.localhost', 'http://api.localhost').join(), /not of one site/)
})
