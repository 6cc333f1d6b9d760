import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ClientId, asId } from '@countersign/protocol/ids'
import { matchesRequest, leadsTo } from '../requested-target.ts'

const redirectUri = 'https://notes.example:8443/callback?tenant=a%20b&tenant=2'

test('APK-02 an answer leads to the redirect URI with code, state and iss added, and nothing else', () => {
  const right = [
    [redirectUri, 'https://notes.example:8443/callback?tenant=a+b&tenant=2&code=1&state=2&iss=3'],
    [redirectUri, `${redirectUri}&code=1`],
    ['https://notes.example', 'https://notes.example/?code=1&iss=3'],
    ['https://notes.example/', 'https://notes.example:443/?code=1'],
    ['http://127.0.0.1:4711/cb', 'http://127.0.0.1:4711/cb?code=1'],
    ['com.example.notes:/callback', 'com.example.notes:/callback?code=1&state=2'],
    ['com.example.notes:callback', 'com.example.notes:callback?code=1'],
    ['https://notes.example/cb?state=fixed', 'https://notes.example/cb?state=fixed&code=1&state=2'],
  ] as const
  for (const [expected, answer] of right) assert.ok(leadsTo(answer, expected), answer)
})

test('APK-02 an answer that leads anywhere else does not lead to the redirect URI', () => {
  const wrong = [
    'https://evil.example/callback?tenant=a+b&tenant=2&code=1',
    'https://notes.example:8443.evil.example/callback?tenant=a+b&tenant=2&code=1',
    'https://evil.notes.example:8443/callback?tenant=a+b&tenant=2&code=1',
    'https://notes.example:8443@evil.example/callback?tenant=a+b&tenant=2&code=1',
    'https://user@notes.example:8443/callback?tenant=a+b&tenant=2&code=1',
    'http://notes.example:8443/callback?tenant=a+b&tenant=2&code=1',
    'https://notes.example/callback?tenant=a+b&tenant=2&code=1',
    'https://notes.example:8443/other?tenant=a+b&tenant=2&code=1',
    'https://notes.example:8443/callback/?tenant=a+b&tenant=2&code=1',
    'https://notes.example:8443/callback/../open?tenant=a+b&tenant=2&code=1',
    'https://notes.example:8443/callback?code=1',
    'https://notes.example:8443/callback?tenant=2&tenant=a+b&code=1',
    'https://notes.example:8443/callback?code=1&tenant=a+b&tenant=2',
    'https://notes.example:8443/callback?tenant=a+b&tenant=2&code=1&code=2',
    'https://notes.example:8443/callback?tenant=a+b&tenant=2&code=1&next=https://evil.example',
    'https://notes.example:8443/callback?tenant=a+b&tenant=2&code=1#app_key=',
    '//notes.example:8443/callback?tenant=a+b&tenant=2&code=1',
    'javascript:alert(1)',
    'data:text/html,x',
    '',
  ]
  for (const answer of wrong) assert.equal(leadsTo(answer, redirectUri), false, answer)
  for (const answer of [
    'com.example.evil:/callback?code=1',
    'com.example.notes:/other?code=1',
    'com.example.notes:?code=1',
  ])
    assert.equal(leadsTo(answer, 'com.example.notes:/callback'), false, answer)
})

const app = { clientId: asId<ClientId>('app_1') }
const recipient = { kty: 'OKP', crv: 'X25519', x: '3p7bfXt9wbTTW2HC7OQ1Nz-DQ8hbeGdNrfx-FG-IK08' } as const
const jwk = Buffer.from(JSON.stringify(recipient)).toString('base64url')
const key = { mode: 'symmetric', reset: false } as const
const searchOf = (query: Record<string, string>) => `?${new URLSearchParams(query)}`

test('APK-03 what the server says of a request is what the address of the page says', () => {
  const own = { client_id: 'app_1', redirect_uri: redirectUri }
  assert.ok(matchesRequest({ app, redirectUri, key }, searchOf(own)))
  assert.ok(matchesRequest({ app, redirectUri, key: { ...key, recipient } }, searchOf({ ...own, app_key_jwk: jwk })))
  assert.ok(matchesRequest({ app, redirectUri, key }, searchOf({ client_id: 'app_1', request_uri: 'urn:1' })))
  assert.ok(matchesRequest({ app, redirectUri, key }, ''), 'a request that came by a form')

  const evil = 'https://evil.example/callback'
  assert.equal(matchesRequest({ app, redirectUri: evil, key }, searchOf(own)), false)
  assert.equal(matchesRequest({ app, redirectUri, key }, searchOf({ ...own, client_id: 'app_2' })), false)
  assert.equal(matchesRequest({ app, redirectUri, key }, searchOf({ client_id: 'app_2', request_uri: 'urn:1' })), false)
  assert.equal(matchesRequest({ app, redirectUri: evil, key }, `${searchOf(own)}&redirect_uri=${evil}`), false)
  assert.equal(matchesRequest({ app, redirectUri, key: { ...key, recipient } }, searchOf(own)), false)
  assert.equal(matchesRequest({ app, redirectUri, key }, searchOf({ ...own, app_key_jwk: jwk })), false)
  const other = { ...recipient, x: 'hSDwCYkwp1R0i33ctD73Wg2_Og0mOBr066SpjqqbTmo' }
  const sealed = { app, redirectUri, key: { ...key, recipient: other } }
  assert.equal(matchesRequest(sealed, searchOf({ ...own, app_key_jwk: jwk })), false)
})
