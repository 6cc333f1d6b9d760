import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createOutboundClient } from '#platform/outbound/fetch.ts'
import { ApiError } from '#platform/api-error.ts'
import { Secret } from '#platform/crypto/secret.ts'
import { startStopwatch } from '#testing/stopwatch.ts'
import { startUpstreamProvider, type UpstreamProvider } from '#testing/upstream-provider.ts'
import { buildOidcRedirect, verifyOidcCallback } from '#sso/providers/oidc.ts'
import { fetchProviderMetadata } from '#sso/providers/provider.ts'

const now = new Date('2030-01-01T12:00:00.000Z')
const seconds = now.getTime() / 1000
const outbound = createOutboundClient({ baseUrl: new URL('http://localhost:4400') })
const clientIdOfAcme = 'countersign at acme'
const ann = { sub: 'ann', email: 'ann@Acme.example', email_verified: true, name: 'Ann Example' }

let upstream: UpstreamProvider
before(async () => {
  upstream = await startUpstreamProvider(() => now)
})
after(() => upstream.close())

const connection = () => ({
  issuer: upstream.issuer,
  clientId: upstream.clientId,
  clientSecret: new Secret(upstream.clientSecret),
  callbackUrl: 'http://localhost:4400/api/sso/acme/callback',
})
const begin = () => buildOidcRedirect(outbound, connection(), { state: 'the state', loginHint: 'ann@acme.example' })

/** Completes a sign-in, whose response can be forged. */
async function signIn(
  claims: Record<string, unknown> = ann,
  forgery: Parameters<UpstreamProvider['approve']>[2] = {},
  change: (answer: URLSearchParams) => void = () => {},
) {
  const { location, memory } = await begin()
  const { searchParams: answer } = upstream.approve(location, claims, forgery)
  change(answer)
  return verifyOidcCallback(outbound, connection(), { memory, state: 'the state', answer }, now)
}
const codeOf = (signingIn: Promise<unknown>) =>
  signingIn.then(
    () => 'signed in',
    (error: unknown) => {
      if (error instanceof ApiError) return error.code
      throw error
    },
  )

test('a provider names a user by subject', async () => {
  const { location } = await begin()
  const sent = Object.fromEntries(new URL(location).searchParams)
  assert.deepEqual(
    [sent['response_type'], sent['scope'], sent['code_challenge_method'], sent['login_hint']],
    ['code', 'openid email profile', 'S256', 'ann@acme.example'],
  )
  assert.deepEqual(await signIn(), {
    subject: 'ann',
    email: 'ann@acme.example',
    emailVerified: true,
    displayName: 'Ann Example',
    values: [],
  })
  assert.equal(upstream.host.requested.filter(({ url }) => url === '/userinfo').length, 0)
})

test('SSO-05 an e-mail address is verified only with email_verified true from the same source', async () => {
  upstream.say({ sub: 'ann', email: 'ann@acme.example', email_verified: true })
  const fromUserinfo = await signIn({ sub: 'ann', name: 'Ann' })
  assert.deepEqual([fromUserinfo.email, fromUserinfo.emailVerified], ['ann@acme.example', true])

  upstream.say({ sub: 'ann' })
  for (const email_verified of [false, undefined, 'true', 1, null])
    assert.equal((await signIn({ ...ann, email_verified })).emailVerified, false, String(email_verified))
  upstream.say({ sub: 'ann', email: 'boss@acme.example' })
  const mixed = await signIn({ sub: 'ann', email_verified: true })
  assert.deepEqual([mixed.email, mixed.emailVerified], ['boss@acme.example', false])
  assert.deepEqual((await signIn({ ...ann, email: 'ann@acme.example,eve@evil.example' })).email, undefined)

  upstream.say({ sub: 'eve', email: 'eve@acme.example', email_verified: true })
  assert.equal(await codeOf(signIn({ sub: 'ann' })), 'sso_response_invalid')
})

describe('SSO-03 an ID token that is incomplete, for another audience, or expired signs no user in', () => {
  const forged: Record<string, Parameters<UpstreamProvider['approve']>[2]> = {
    'another issuer': { claims: { iss: 'https://evil.example' } },
    'another audience': { claims: { aud: 'another client' } },
    'an additional audience': { claims: { aud: [clientIdOfAcme, 'another client'], azp: clientIdOfAcme } },
    'an additional audience, and no authorized party': { claims: { aud: [clientIdOfAcme, 'another client'] } },
    'another authorized party': { claims: { azp: 'another client' } },
    'another nonce': { claims: { nonce: 'another' } },
    'no nonce': { claims: { nonce: undefined } },
    'an expiry 61 seconds ago': { claims: { exp: seconds - 61 } },
    'no end': { claims: { exp: undefined } },
    'a start in an hour': { claims: { nbf: seconds + 3600 } },
    'no subject': { claims: { sub: undefined } },
    'an empty subject': { claims: { sub: ' ' } },
    'a subject of 256 characters': { claims: { sub: 'x'.repeat(256) } },
    'no signature': { key: 'none' },
    'a signature by the client secret': { key: 'the client secret' },
    'a signature by another key': { key: 'foreign' },
    'a key that is not published': { key: 'foreign', kid: 'two' },
  }
  for (const [what, forgery] of Object.entries(forged))
    test(what, async () => assert.equal(await codeOf(signIn(ann, forgery)), 'sso_response_invalid'))

  test('a clock difference of 60 seconds is tolerated', async () => {
    assert.equal((await signIn(ann, { claims: { exp: seconds - 59 } })).subject, 'ann')
  })
})

test('SSO-01 SSO-02 a response for another sign-in or provider is rejected before any request is sent', async () => {
  const before = upstream.host.requested.filter(({ url }) => url === '/token').length
  const wrong: Record<string, [(answer: URLSearchParams) => void, string]> = {
    'another issuer': [(answer) => answer.set('iss', 'https://evil.example'), 'sso_response_mismatch'],
    'no issuer, although the provider announces it': [(answer) => answer.delete('iss'), 'sso_response_mismatch'],
    'two issuers': [(answer) => answer.append('iss', 'https://evil.example'), 'sso_response_mismatch'],
    'another state': [(answer) => answer.set('state', 'another'), 'sso_response_invalid'],
    'no state': [(answer) => answer.delete('state'), 'sso_response_invalid'],
    'two codes': [(answer) => answer.append('code', 'another'), 'sso_response_invalid'],
    'a no': [(answer) => answer.set('error', 'access_denied'), 'sso_denied'],
  }
  for (const [what, [change, code]] of Object.entries(wrong))
    assert.equal(await codeOf(signIn(ann, {}, change)), code, what)
  assert.equal(upstream.host.requested.filter(({ url }) => url === '/token').length, before)
})

test('SSO-04 the issuer of a provider must match exactly', async (t) => {
  t.after(() => upstream.describe())
  const lies = [
    { issuer: `${upstream.issuer}/` },
    { issuer: upstream.issuer.toUpperCase() },
    { issuer: 'https://evil.example' },
    { issuer: undefined },
    { token_endpoint: 'javascript:alert(1)' },
    { authorization_endpoint: 'http://evil.example/authorize' },
    { jwks_uri: undefined },
    { id_token_signing_alg_values_supported: ['none', 'HS256'] },
    { token_endpoint_auth_methods_supported: ['private_key_jwt'] },
  ]
  for (const lie of lies) {
    upstream.describe(lie)
    assert.equal(await codeOf(fetchProviderMetadata(outbound, upstream.issuer)), 'invalid_issuer', JSON.stringify(lie))
    assert.equal(await codeOf(begin()), 'sso_provider_error', JSON.stringify(lie))
  }
  for (const issuer of [
    'file:///etc/passwd',
    'https://a@acme.example',
    'http://acme.example',
    `${upstream.issuer}?a=b`,
  ])
    assert.equal(await codeOf(fetchProviderMetadata(outbound, issuer)), 'invalid_issuer', issuer)
})

test('SSO-10 a slow or oversized provider response is aborted', async (t) => {
  t.after(() => upstream.serve())
  const flood = Buffer.alloc(65_536, ' ')
  const failing: Record<string, [Parameters<typeof upstream.host.answer>[1], string]> = {
    'a fault': [{ status: 500, body: '{}' }, 'sso_provider_error'],
    'no JSON': [{ body: '{' }, 'sso_provider_error'],
    HTML: [{ headers: { 'content-type': 'text/html' }, body: '<p>' }, 'sso_provider_error'],
    'a redirect': [{ status: 302, headers: { location: upstream.host.at('/jwks') } }, 'sso_provider_error'],
    '50 MB': [
      (_, response) => {
        response.writeHead(200, { 'content-type': 'application/json' })
        for (let sent = 0; sent < 50 * 16; sent += 1) response.write(flood)
      },
      'sso_provider_error',
    ],
  }
  for (const path of ['/.well-known/openid-configuration', '/token', '/jwks', '/userinfo'])
    for (const [what, [answer, code]] of Object.entries(failing)) {
      await upstream.serve()
      upstream.host.answer(path, answer)
      using watch = startStopwatch()
      assert.equal(await codeOf(signIn({ sub: 'ann' })), code, `${path}: ${what}`)
      assert.ok(watch.milliseconds() < 2000, `${path}: ${what}`)
    }
  await upstream.serve()
  upstream.host.answer('/token', () => {})
  using watch = startStopwatch()
  assert.equal(await codeOf(signIn()), 'sso_provider_timeout')
  assert.ok(watch.milliseconds() < 9500)
})
