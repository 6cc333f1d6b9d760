import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ClientId, asId } from '@countersign/protocol/ids'
import { matchesRequest, leadsTo, requestedTarget } from '../requested-target.ts'

const redirectUri = 'https://notes.example:8443/callback?tenant=a%20b&tenant=2'

const issuer = 'https://id.example'
const iss = encodeURIComponent(issuer)
const added = `code=1&state=2&iss=${iss}`
const to = (uri: string, answer: string, state?: string) => leadsTo(answer, { redirectUri: uri, state, issuer })

test('APK-02 an answer leads to the redirect URI with code, state and iss added, and nothing else', () => {
  const right = [
    [redirectUri, `https://notes.example:8443/callback?tenant=a+b&tenant=2&${added}`],
    [redirectUri, `${redirectUri}&iss=${iss}&state=2&code=1`],
    ['https://notes.example', `https://notes.example/?${added}`],
    ['https://notes.example/', `https://notes.example:443/?${added}`],
    ['http://127.0.0.1:4711/cb', `http://127.0.0.1:4711/cb?${added}`],
    ['com.example.notes:/callback', `com.example.notes:/callback?${added}`],
    ['com.example.notes:callback', `com.example.notes:callback?${added}`],
    ['https://notes.example/cb?state=fixed', `https://notes.example/cb?state=fixed&${added}`],
  ] as const
  for (const [expected, answer] of right) assert.ok(to(expected, answer, '2'), answer)
  assert.ok(to(redirectUri, `${redirectUri}&code=1&iss=${iss}`), 'without a state')
})

test('APK-02 an answer that leads anywhere else does not lead to the redirect URI', () => {
  const wrong = [
    `https://evil.example/callback?tenant=a+b&tenant=2&${added}`,
    `https://notes.example:8443.evil.example/callback?tenant=a+b&tenant=2&${added}`,
    `https://evil.notes.example:8443/callback?tenant=a+b&tenant=2&${added}`,
    `https://notes.example:8443@evil.example/callback?tenant=a+b&tenant=2&${added}`,
    `https://user@notes.example:8443/callback?tenant=a+b&tenant=2&${added}`,
    `http://notes.example:8443/callback?tenant=a+b&tenant=2&${added}`,
    `https://notes.example/callback?tenant=a+b&tenant=2&${added}`,
    `https://notes.example:8443/other?tenant=a+b&tenant=2&${added}`,
    `https://notes.example:8443/callback/?tenant=a+b&tenant=2&${added}`,
    `https://notes.example:8443/callback/../open?tenant=a+b&tenant=2&${added}`,
    `https://notes.example:8443/callback?${added}`,
    `https://notes.example:8443/callback?tenant=2&tenant=a+b&${added}`,
    `https://notes.example:8443/callback?${added}&tenant=a+b&tenant=2`,
    `${redirectUri}&${added}&code=2`,
    `${redirectUri}&code=1&state=other&iss=${iss}`,
    `${redirectUri}&code=1&state=2&iss=https%3A%2F%2Fevil.example`,
    `${redirectUri}&state=2&iss=${iss}`,
    `${redirectUri}&code=1&iss=${iss}`,
    `${redirectUri}&code=1&state=2`,
    `${redirectUri}&${added}&next=https://evil.example`,
    `${redirectUri}&${added}#app_key=`,
    `//notes.example:8443/callback?tenant=a+b&tenant=2&${added}`,
    'javascript:alert(1)',
    'data:text/html,x',
    '',
  ]
  for (const answer of wrong) assert.equal(to(redirectUri, answer, '2'), false, answer)
  assert.equal(to(redirectUri, `${redirectUri}&${added}`), false, 'a state that the app has not sent')
  for (const answer of ['com.example.evil:/callback', 'com.example.notes:/other', 'com.example.notes:'])
    assert.equal(to('com.example.notes:/callback', `${answer}?${added}`, '2'), false, answer)
})

test('APK-02 the nine false addresses of the design lead nowhere', () => {
  const payroll = 'https://payroll.example.org/callback?tenant=1'
  const ends = `state=xyz&iss=${iss}`
  const false9 = [
    `https://evil.example/callback?tenant=1&code=c&${ends}`,
    `https://payroll.example.org.evil.example/callback?tenant=1&code=c&${ends}`,
    `https://payroll.example.org@evil.example/callback?tenant=1&code=c&${ends}`,
    `https://payroll.example.org/other?tenant=1&code=c&${ends}`,
    `https://payroll.example.org/callback?tenant=2&code=c&${ends}`,
    `https://payroll.example.org/callback?tenant=1&code=c&state=abc&iss=${iss}`,
    `https://payroll.example.org/callback?tenant=1&next=//evil&code=c&${ends}`,
    `https://payroll.example.org/callback?tenant=1&code=c&code=d&${ends}`,
    `javascript:alert(1)//?tenant=1&code=c&${ends}`,
  ]
  assert.ok(to(payroll, `${payroll}&code=c&${ends}`, 'xyz'))
  for (const answer of false9) assert.equal(to(payroll, answer, 'xyz'), false, answer)
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

test('APK-03 redirect URI, state and recipient are those in the address of the page, whatever the server says', () => {
  const registered = { app: { appKeyRecipientJwk: jwk } }
  const evil = {
    ...registered,
    redirectUri: 'https://evil.example/callback',
    state: 'evil',
    key: { ...key, recipient },
  }
  const own = searchOf({ client_id: 'app_1', redirect_uri: redirectUri, state: 'mine' })
  assert.deepEqual(requestedTarget(evil, own), { redirectUri, state: 'mine', recipient: undefined, binds: false })
  const sealed = searchOf({ client_id: 'app_1', redirect_uri: redirectUri, app_key_jwk: jwk })
  assert.deepEqual(requestedTarget({ ...evil, key }, sealed), { redirectUri, state: undefined, recipient, binds: true })
  const pushed = searchOf({ client_id: 'app_1', request_uri: 'urn:1' })
  for (const search of ['', pushed])
    assert.deepEqual(requestedTarget(evil, search), {
      redirectUri: evil.redirectUri,
      state: 'evil',
      recipient,
      binds: false,
    })
  const unregistered = { ...evil, app: { appKeyRecipientJwk: null } }
  assert.equal(requestedTarget(unregistered, sealed).binds, false)
})
