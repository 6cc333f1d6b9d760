import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { checkHosts, checkKeySet, checkMetadata } from '../provider.ts'

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

test('a consistent discovery document has no problems', () => {
  assert.deepEqual(checkMetadata(metadata, { authUrl, baseUrl }), [])
})

test('a discovery document with another issuer or an endpoint elsewhere is detected', () => {
  const wrong: Record<string, unknown> = {
    issuer: `${authUrl}/`,
    token_endpoint: 'https://api.example.com.evil.test/api/oauth/token',
    jwks_uri: undefined,
  }
  for (const [name, value] of Object.entries(wrong)) {
    const faults = checkMetadata({ ...metadata, [name]: value }, { authUrl, baseUrl })
    assert.equal(faults.length, 1)
    assert.match(faults[0] ?? '', new RegExp(`^${name} is`))
  }
  for (const nothing of [null, [], 'text']) assert.equal(checkMetadata(nothing, { authUrl, baseUrl }).length, 5)
})

test('a key set with a valid public key for each listed algorithm has no problems', () => {
  assert.deepEqual(checkKeySet({ keys: [es256, eddsa] }, metadata), [])
})

test('an unreliable key set is detected', () => {
  const wrong: [keys: unknown, expected: RegExp][] = [
    [[es256], /no key for EdDSA/],
    [[{ ...es256, ...privateKey.export({ format: 'jwk' }) }, eddsa], /one is published with its private part/],
    [[{ ...es256, x: 'AAAA' }, eddsa], /one cannot be read/],
    [[es256, { ...eddsa, kid: 'one' }], /share a key id/],
    [undefined, /no key for ES256/],
  ]
  for (const [keys, expected] of wrong) assert.match(checkKeySet({ keys }, metadata).join(), expected)
})

test('hosts on which passkeys and cookies work have no problems', () => {
  assert.deepEqual(checkHosts(authUrl, baseUrl), [])
  assert.deepEqual(checkHosts('https://id.example.com', 'https://id.example.com'), [])
  assert.deepEqual(checkHosts('http://localhost:4401', 'http://localhost:4400', 'http://localhost:4402'), [])
})

test('hosts on which passkeys or cookies fail are detected', () => {
  assert.match(checkHosts('https://192.0.2.1', 'https://192.0.2.1').join(), /passkeys need a domain/)
  assert.match(checkHosts('http://auth.example.com', baseUrl).join(), /is not https:/)
  assert.match(checkHosts(authUrl, 'https://api.example.org').join(), /not on one site/)
  assert.match(checkHosts(authUrl, baseUrl, 'https://example.org').join(), /and https:\/\/example\.org are not on one/)
  assert.match(checkHosts(authUrl, 'http://localhost').join(), /not on one site/)
  assert.match(checkHosts('http://auth.localhost', 'http://api.localhost').join(), /not on one site/)
})
