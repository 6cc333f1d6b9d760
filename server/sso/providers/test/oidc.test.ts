import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createOutbound } from '#platform/outbound/fetch.ts'
import { Refusal } from '#platform/refusal.ts'
import { Secret } from '#platform/crypto/secret.ts'
import { startUpstreamProvider, type UpstreamProvider } from '#testing/upstream-provider.ts'
import { beginOidc, finishOidc } from '#sso/providers/oidc.ts'
import { readProvider } from '#sso/providers/provider.ts'

const now = new Date('2030-01-01T12:00:00.000Z')
const seconds = now.getTime() / 1000
const outbound = createOutbound({ baseUrl: new URL('http://localhost:4400') })
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
const begin = () => beginOidc(outbound, connection(), { state: 'the state', loginHint: 'ann@acme.example' })

/** A whole sign-in, whose answer may be forged. */
async function signIn(
  claims: Record<string, unknown> = ann,
  forgery: Parameters<UpstreamProvider['approve']>[2] = {},
  change: (answer: URLSearchParams) => void = () => {},
) {
  const { location, memory } = await begin()
  const { searchParams: answer } = upstream.approve(location, claims, forgery)
  change(answer)
  return finishOidc(outbound, connection(), { memory, state: 'the state', answer }, now)
}
const codeOf = (signingIn: Promise<unknown>) =>
  signingIn.then(
    () => 'signed in',
    (error: unknown) => {
      if (error instanceof Refusal) return error.code
      throw error
    },
  )

test('a provider names a person, by their subject', async () => {
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
  })
  assert.equal(upstream.host.asked.filter(({ url }) => url === '/userinfo').length, 0)
})

test('SSO-05 an address is verified only where whoever names it says so, with true', async () => {
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
  assert.equal(await codeOf(signIn({ sub: 'ann' })), 'sso_answer_invalid')
})

describe('SSO-03 an ID token that is not whole, ours, or of now signs nobody in', () => {
  const forged: Record<string, Parameters<UpstreamProvider['approve']>[2]> = {
    'another issuer': { claims: { iss: 'https://evil.example' } },
    'another audience': { claims: { aud: 'another client' } },
    'a further audience': { claims: { aud: [clientIdOfAcme, 'another client'], azp: clientIdOfAcme } },
    'a further audience, and no authorized party': { claims: { aud: [clientIdOfAcme, 'another client'] } },
    'another authorized party': { claims: { azp: 'another client' } },
    'another nonce': { claims: { nonce: 'another' } },
    'no nonce': { claims: { nonce: undefined } },
    'an end 61 seconds ago': { claims: { exp: seconds - 61 } },
    'no end': { claims: { exp: undefined } },
    'a beginning in an hour': { claims: { nbf: seconds + 3600 } },
    'no subject': { claims: { sub: undefined } },
    'an empty subject': { claims: { sub: ' ' } },
    'a subject of 256 characters': { claims: { sub: 'x'.repeat(256) } },
    'no signature': { key: 'none' },
    'a signature by the client secret': { key: 'the client secret' },
    'a signature by a foreign key': { key: 'foreign' },
    'a key that is not published': { key: 'foreign', kid: 'two' },
  }
  for (const [what, forgery] of Object.entries(forged))
    test(what, async () => assert.equal(await codeOf(signIn(ann, forgery)), 'sso_answer_invalid'))

  test('60 seconds of leeway are given', async () => {
    assert.equal((await signIn(ann, { claims: { exp: seconds - 59 } })).subject, 'ann')
  })
})

test('SSO-01 SSO-02 an answer of another sign-in or another provider is refused before anything is asked', async () => {
  const before = upstream.host.asked.filter(({ url }) => url === '/token').length
  const wrong: Record<string, [(answer: URLSearchParams) => void, string]> = {
    'another issuer': [(answer) => answer.set('iss', 'https://evil.example'), 'sso_answer_mismatch'],
    'no issuer, where it names itself': [(answer) => answer.delete('iss'), 'sso_answer_mismatch'],
    'two issuers': [(answer) => answer.append('iss', 'https://evil.example'), 'sso_answer_mismatch'],
    'another state': [(answer) => answer.set('state', 'another'), 'sso_answer_invalid'],
    'no state': [(answer) => answer.delete('state'), 'sso_answer_invalid'],
    'two codes': [(answer) => answer.append('code', 'another'), 'sso_answer_invalid'],
    'a no': [(answer) => answer.set('error', 'access_denied'), 'sso_denied'],
  }
  for (const [what, [change, code]] of Object.entries(wrong))
    assert.equal(await codeOf(signIn(ann, {}, change)), code, what)
  assert.equal(upstream.host.asked.filter(({ url }) => url === '/token').length, before)
})

test('SSO-04 a provider is the one that its issuer names, letter for letter', async (t) => {
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
    assert.equal(await codeOf(readProvider(outbound, upstream.issuer)), 'invalid_issuer', JSON.stringify(lie))
    assert.equal(await codeOf(begin()), 'sso_provider_failed', JSON.stringify(lie))
  }
  for (const issuer of [
    'file:///etc/passwd',
    'https://a@acme.example',
    'http://acme.example',
    `${upstream.issuer}?a=b`,
  ])
    assert.equal(await codeOf(readProvider(outbound, issuer)), 'invalid_issuer', issuer)
})

test('SSO-10 a provider that fails keeps nobody waiting, and fills no memory', async (t) => {
  t.after(() => upstream.serve())
  const flood = Buffer.alloc(65_536, ' ')
  const failing: Record<string, [Parameters<typeof upstream.host.answer>[1], string]> = {
    'a fault': [{ status: 500, body: '{}' }, 'sso_provider_failed'],
    'no JSON': [{ body: '{' }, 'sso_provider_failed'],
    HTML: [{ headers: { 'content-type': 'text/html' }, body: '<p>' }, 'sso_provider_failed'],
    'a redirect': [{ status: 302, headers: { location: upstream.host.at('/jwks') } }, 'sso_provider_failed'],
    '50 MB': [
      (_, response) => {
        response.writeHead(200, { 'content-type': 'application/json' })
        for (let sent = 0; sent < 50 * 16; sent += 1) response.write(flood)
      },
      'sso_provider_failed',
    ],
  }
  for (const path of ['/.well-known/openid-configuration', '/token', '/jwks', '/userinfo'])
    for (const [what, [answer, code]] of Object.entries(failing)) {
      await upstream.serve()
      upstream.host.answer(path, answer)
      const begun = performance.now()
      assert.equal(await codeOf(signIn({ sub: 'ann' })), code, `${path}: ${what}`)
      assert.ok(performance.now() - begun < 2000, `${path}: ${what}`)
    }
  await upstream.serve()
  upstream.host.answer('/token', () => {})
  const begun = performance.now()
  assert.equal(await codeOf(signIn()), 'sso_provider_slow')
  assert.ok(performance.now() - begun < 9500)
})
