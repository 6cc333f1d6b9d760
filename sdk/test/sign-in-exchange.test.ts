import assert from 'node:assert/strict'
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import type { ResponseOf } from '@countersign/protocol/api'
import { createAuthenticator } from '../../server/testing/authenticator.ts'
import { ask, registerRemoteApp } from '../../server/testing/remote-signer.ts'
import { serveHere } from '../../server/testing/service-here.ts'
import type { Served } from '../../server/testing/service.ts'
import { byEs256, byRs256, newSigner, startTokenIssuer, writeJwt } from '../../server/testing/token-issuer.ts'
import { createCountersign, CountersignError, type Countersign } from '../src/server/server.ts'

const redirectUri = 'https://app.example/callback'

let service: Served
let app: Awaited<ReturnType<typeof registerRemoteApp>>
let countersign: Countersign
let ada: Awaited<ReturnType<typeof register>>
before(async () => {
  service = await serveHere()
  app = await registerRemoteApp(service, redirectUri)
  countersign = createCountersign(app)
  ada = await register('ada')
})
after(() => service.close())

const refused = (code: string) => (error: unknown) => error instanceof CountersignError && error.code === code

/** A user with a session, and their browser's FedCM cookie. */
async function register(handle: string) {
  const authenticator = createAuthenticator({ origin: service.authUrl, rpId: 'localhost' })
  const requested = { handle, displayName: 'Ada Lovelace' }
  const started = await ask<ResponseOf<'POST /api/auth/register/start'>>(service, '/api/auth/register/start', {
    json: requested,
  })
  const response = await fetch(`${service.baseUrl}/api/auth/register/finish`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ flowId: started.flowId, credential: authenticator.register(started.options) }),
  })
  const registered = (await response.json()) as ResponseOf<'POST /api/auth/register/finish'>
  const cookie = response.headers.getSetCookie().map((each) => each.split(';')[0] ?? '')
  const identityId = registered.identities[0]?.identityId ?? ''
  return { identityId, cookie: cookie.join('; '), headers: { authorization: `Bearer ${registered.sessionToken}` } }
}

function createPkceState() {
  const [codeVerifier, nonce] = [randomBytes(32).toString('base64url'), randomUUID()]
  return { codeVerifier, nonce, challenge: createHash('sha256').update(codeVerifier).digest('base64url') }
}

/** Returns the result of the app's page after Ada gives consent on the sign-in page. */
async function comeBack(requested: { organizationId?: string } = {}) {
  const { challenge, ...proof } = createPkceState()
  const { redirectUrl } = await ask<ResponseOf<'POST /api/oauth/authorize'>>(service, '/api/oauth/authorize', {
    headers: ada.headers,
    json: {
      clientId: app.clientId,
      redirectUri,
      identityId: ada.identityId,
      scope: 'openid profile',
      nonce: proof.nonce,
      codeChallenge: challenge,
      codeChallengeMethod: 'S256',
      ...requested,
    },
  })
  return { ...proof, redirectUri, code: new URL(redirectUrl).searchParams.get('code') ?? '' }
}

/** Returns the result of her browser's FedCM dialog after she gave consent. */
async function beAsserted() {
  const { challenge, ...proof } = createPkceState()
  const params = JSON.stringify({ scope: 'openid profile', nonce: proof.nonce, codeChallenge: challenge })
  const response = await fetch(`${service.baseUrl}/api/oauth/fedcm/assertion`, {
    method: 'POST',
    headers: { cookie: ada.cookie, origin: new URL(redirectUri).origin, 'sec-fetch-dest': 'webidentity' },
    body: new URLSearchParams({ client_id: app.clientId, account_id: ada.identityId, params }),
  })
  const { token }: { token: string } = JSON.parse(await response.text())
  return { ...proof, assertion: token }
}

test('a server exchanges the grant of its page, by redirect or FedCM, once', async () => {
  for (const get of [comeBack, beAsserted]) {
    const grant: unknown = JSON.parse(JSON.stringify(await get()))
    const signedIn = await countersign.exchangeSignIn(grant)
    assert.deepEqual(
      [signedIn.identityId, signedIn.claims['name'], signedIn.scope],
      [ada.identityId, 'Ada Lovelace', 'openid profile'],
    )
    assert.ok(Date.parse(signedIn.expiresAt) > Date.now())
    const headers = { authorization: `Bearer ${signedIn.accessToken}` }
    const userinfo = await fetch(`${service.baseUrl}/api/oauth/userinfo`, { headers })
    assert.equal(((await userinfo.json()) as { sub: string }).sub, ada.identityId)
    await assert.rejects(countersign.exchangeSignIn(grant), refused('invalid_grant'), get.name)
  }
})

test('a sign-in for an organization is accepted only where the server expects it', async () => {
  const business = { baseUrl: service.businessUrl }
  const { organization } = await ask<ResponseOf<'POST /api/organizations'>>(business, '/api/organizations', {
    headers: ada.headers,
    json: { identityId: ada.identityId, name: 'Acme' },
  })
  const forIt = () => comeBack({ organizationId: organization.id })
  const isRefused = refused('other_organization')
  await assert.rejects(async () => countersign.exchangeSignIn(await forIt()), isRefused)
  await assert.rejects(
    async () => countersign.exchangeSignIn(await forIt(), { organizationId: randomUUID() }),
    isRefused,
  )
  await assert.rejects(
    async () => countersign.exchangeSignIn(await comeBack(), { organizationId: organization.id }),
    isRefused,
  )
  for (const organizationId of [organization.id, 'select']) {
    const { claims } = await countersign.exchangeSignIn(await forIt(), { organizationId })
    assert.equal((claims['organization'] as { id: string }).id, organization.id)
  }
  await countersign.exchangeSignIn(await comeBack(), { organizationId: 'select' })
})

test("an exchange without the page's verifier, as another app or with another nonce fails", async () => {
  const another = createCountersign(await registerRemoteApp(service, redirectUri))
  for (const get of [comeBack, beAsserted]) {
    const grant = await get()
    const foreign = { ...grant, codeVerifier: createPkceState().codeVerifier }
    await assert.rejects(countersign.exchangeSignIn(foreign), refused('invalid_grant'), get.name)
    await assert.rejects(another.exchangeSignIn(grant), refused('invalid_grant'), get.name)
    assert.equal((await countersign.exchangeSignIn(grant)).identityId, ada.identityId)
    const injected = { ...(await get()), nonce: 'of another sign-in' }
    await assert.rejects(countersign.exchangeSignIn(injected), refused('invalid_token'), get.name)
  }
})

test('an invalid grant is not sent', async (t) => {
  const issuer = await startTokenIssuer()
  t.after(() => issuer.close())
  const there = createCountersign({ ...app, baseUrl: issuer.origin, authUrl: issuer.origin })
  const proof = { codeVerifier: 'v', nonce: 'n' }
  const shapes = [undefined, null, 'grant', [], proof, { ...proof, code: 'c' }, { ...proof, assertion: 7 }]
  for (const sent of [...shapes, { assertion: 'a', nonce: 'n' }, { ...proof, assertion: 'a'.repeat(40_000) }])
    await assert.rejects(there.exchangeSignIn(sent), refused('invalid_grant'))
  assert.deepEqual(issuer.requested, [])
})

/** ID tokens that must be rejected, although the service returns them (OpenID Connect Core §3.1.3.7). */
const falsified: Record<string, { claims?: object; header?: object; signer?: 'stranger' }> = {
  'of another issuer': { claims: { iss: 'https://evil.example' } },
  'for another app': { claims: { aud: 'app_other' } },
  'for an additional app': { claims: { aud: ['app_test', 'app_other'] } },
  'of another sign-in': { claims: { nonce: 'another' } },
  'without a nonce': { claims: { nonce: undefined } },
  'of nobody': { claims: { sub: undefined } },
  'that has expired': { claims: { exp: Math.floor(Date.now() / 1000) - 61 } },
  'without expiry': { claims: { exp: undefined } },
  'without a signature': { header: { alg: 'none' } },
  'by a shared secret': { header: { alg: 'HS256' } },
  'by another key': { signer: 'stranger' },
}
for (const [what, { claims = {}, header = {}, signer }] of Object.entries(falsified))
  test(`an ID token ${what} is rejected`, async (t) => {
    const issuer = await startTokenIssuer()
    t.after(() => issuer.close())
    const settings = { baseUrl: issuer.origin, authUrl: issuer.origin, clientId: 'app_test', clientSecret: 'cs_test' }
    const now = Math.floor(Date.now() / 1000)
    const right = { iss: issuer.origin, aud: 'app_test', sub: 'ada', nonce: 'n', iat: now, exp: now + 60 }
    const answerWith = (idToken: string) => {
      const tokens = { access_token: 'a', access_token_jwt: 'j', id_token: idToken, scope: 'openid' }
      issuer.says('/api/oauth/token', { body: { ...tokens, token_type: 'Bearer', expires_in: 60 } })
      const grant = { code: 'c', redirectUri, codeVerifier: 'v', nonce: 'n' }
      return createCountersign(settings).exchangeSignIn(grant)
    }
    const sign = byEs256(signer ? newSigner().privateKey : issuer.signer.privateKey)
    const written = { alg: 'ES256', kid: issuer.kid, ...header }
    await assert.rejects(answerWith(writeJwt(written, { ...right, ...claims }, sign)), refused('invalid_token'))
    const byRsa = writeJwt({ alg: 'RS256', kid: `${issuer.kid}-rsa` }, right, byRs256(issuer.rsa.privateKey))
    assert.equal((await answerWith(byRsa)).identityId, 'ada')
  })

const agoSeconds = (seconds: number) => Math.floor(Date.now() / 1000) - seconds
type Authentication = { secondsAgo?: number; claims?: object; grant?: object; options?: object; code?: string }
const authentications: [string, Authentication][] = [
  ['of now, with a limit by the page', { secondsAgo: 5, grant: { maxAge: 0 } }],
  ['within the age that the server requires', { secondsAgo: 300, options: { maxAge: 300 } }],
  ['older than the page requires', { secondsAgo: 500, grant: { maxAge: 300 }, code: 'old' }],
  ['older than the server requires', { secondsAgo: 500, options: { maxAge: 300 }, code: 'old' }],
  [
    'older than the server requires, with a stricter limit by the page',
    { secondsAgo: 500, grant: { maxAge: 9000 }, options: { maxAge: 300 }, code: 'old' },
  ],
  ['without a time', { options: { maxAge: 300 }, code: 'old' }],
  ['with an invalid time', { claims: { auth_time: '9999999999' }, options: { maxAge: 300 }, code: 'old' }],
]
for (const [what, { secondsAgo, claims, grant = {}, options = {}, code }] of authentications)
  test(`an authentication ${what}: ${code === undefined ? 'signs in' : 'signs nobody in'}`, async (t) => {
    const issuer = await startTokenIssuer()
    t.after(() => issuer.close())
    const settings = { baseUrl: issuer.origin, authUrl: issuer.origin, clientId: 'app_test', clientSecret: 'cs_test' }
    const now = agoSeconds(0)
    const authenticated = secondsAgo === undefined ? claims : { auth_time: agoSeconds(secondsAgo) }
    const right = { iss: issuer.origin, aud: 'app_test', sub: 'ada', nonce: 'n', iat: now, exp: now + 60 }
    const idToken = writeJwt(
      { alg: 'ES256', kid: issuer.kid },
      { ...right, ...authenticated },
      byEs256(issuer.signer.privateKey),
    )
    const tokens = { access_token: 'a', access_token_jwt: 'j', id_token: idToken, scope: 'openid' }
    issuer.says('/api/oauth/token', { body: { ...tokens, token_type: 'Bearer', expires_in: 60 } })
    const sent = { code: 'c', redirectUri, codeVerifier: 'v', nonce: 'n', ...grant }
    const redeemed = createCountersign(settings).exchangeSignIn(sent, options)
    if (code === undefined) assert.equal((await redeemed).identityId, 'ada')
    else await assert.rejects(redeemed, refused('authentication_too_old'))
  })
