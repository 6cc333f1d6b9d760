import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { decodeJwt } from 'jose'
import { rebuildTerms } from '#accounts/identities/terms/term.ts'
import { transaction } from '#platform/database/database.ts'
import { openBrowser, newParams } from '#testing/federated-browser.ts'
import { createWorld, newChallenge, postForm, type Person, type TestApp, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

/** Creates a user whose identity has a verified e-mail address. */
async function personWithEmail(): Promise<Person> {
  const person = await world.person()
  await setEmail(person, `${person.handle}@mail.example`, true)
  return person
}

async function setEmail({ identityId }: Person, email: string, isVerified: boolean): Promise<void> {
  await transaction(world.db, async (tx) => {
    const identity = tx.updateTable('identity').where('identity_id', '=', identityId)
    await identity.set({ email, email_verified: isVerified }).execute()
    await rebuildTerms(tx)
  })
}

const authorize = ({ headers, identityId }: Person, { clientId, redirectUri }: TestApp, requested: object) =>
  world.api.inject({
    method: 'POST',
    url: '/api/oauth/authorize',
    headers,
    payload: { clientId, redirectUri, identityId, scope: 'openid profile email', ...requested },
  })

const viewOf = async (query: Record<string, string>) => {
  const { body } = await world.auth.inject({ url: `/signin?${new URLSearchParams(query)}` })
  return JSON.parse(/id="view">(.*)<\/script>/.exec(body)?.[1] ?? '{}')
}

test('APS-01 an app without claims in its ID tokens gets them from the userinfo endpoint only', async () => {
  const scope = 'openid profile email user_id offline_access'
  const allowedScopes = ['openid', 'profile', 'email', 'user_id', 'offline_access'] as const
  const person = await personWithEmail()
  const app = await world.app({ idTokenClaims: false, allowedScopes: [...allowedScopes] })
  const tokens = await app.tokens(person, { scope })
  const refreshed = (await app.refresh(tokens.refresh_token)).json()
  for (const { id_token: idToken } of [tokens, refreshed]) {
    const claims = decodeJwt(idToken)
    const received = ['name', 'preferred_username', 'updated_at', 'email', 'email_verified', 'user_id']
    assert.deepEqual(
      received.filter((claim) => claim in claims),
      [],
    )
    assert.equal(claims.sub, person.identityId)
    assert.ok(claims['sid'])
  }
  assert.equal(tokens.user.handle, person.handle)
  const headers = { authorization: `Bearer ${tokens.access_token}` }
  const userinfo = (await world.api.inject({ url: '/api/oauth/userinfo', headers })).json()
  assert.equal(userinfo.email, `${person.handle}@mail.example`)
  assert.equal(userinfo.preferred_username, person.handle)

  const usual = await world.app({ allowedScopes: [...allowedScopes] })
  const { id_token: idToken = '' } = await usual.tokens(person, { scope })
  assert.equal(decodeJwt(idToken)['preferred_username'], person.handle)
})

test('APS-02 an app that requires auth_time gets it in every ID token, also without max_age', async () => {
  const [person, app] = [await world.person(), await world.app({ requireAuthTime: true })]
  const tokens = await app.tokens(person)
  const expected = Math.floor(world.now().getTime() / 1000)
  assert.equal(decodeJwt(tokens.id_token ?? '')['auth_time'], expected)
  world.pass(60)
  const refreshed = (await app.refresh(tokens.refresh_token)).json()
  assert.equal(decodeJwt(refreshed.id_token)['auth_time'], expected)
})

test('APS-03 an identity without a required claim gets no code, even for a narrower scope', async () => {
  const [person, app] = [await world.person(), await world.app({ requiredClaims: ['email'] })]
  for (const scope of ['openid profile email', 'openid profile', 'openid', '']) {
    const answer = await authorize(person, app, { scope })
    assert.deepEqual([answer.statusCode, answer.json().error], [409, 'email_not_verified'], scope)
  }
  await setEmail(person, 'unproved@mail.example', false)
  assert.equal((await authorize(person, app, {})).statusCode, 409)
  assert.equal((await authorize(await personWithEmail(), app, {})).statusCode, 200)

  const lenient = await world.app()
  assert.equal((await authorize(person, lenient, { scope: 'openid profile' })).statusCode, 200)
})

test('APS-03 a pushed request does not bypass the claims that an app requires', async () => {
  const [person, app] = [await world.person(), await world.app({ requiredClaims: ['email'] })]
  const fields = { redirect_uri: app.redirectUri, response_type: 'code', scope: 'openid email' }
  const pushed = await postForm(world.api, '/api/oauth/par', { ...fields, ...app.credentials })
  assert.equal(pushed.statusCode, 201, pushed.body)
  const answer = await authorize(person, app, { requestUri: pushed.json().request_uri, scope: 'openid' })
  assert.deepEqual([answer.statusCode, answer.json().error], [409, 'email_not_verified'])
})

test('APS-03 a silent request fails for an identity without a required claim', async () => {
  const [person, app] = [await world.person(), await world.app()]
  await app.tokens(person, { scope: 'openid' })
  const url = `/api/admin/apps/${app.clientId}`
  const changed = { requiredClaims: ['email'] }
  await world.api.inject({ method: 'PATCH', url, headers: world.admin, payload: changed })
  const silent = await authorize(person, app, { scope: 'openid', prompt: 'none' })
  assert.deepEqual([silent.statusCode, silent.json().error], [409, 'email_not_verified'])

  const browser = await openBrowser(world, person)
  const mediated = await browser.assertion(app, { ...newParams('openid').params, prompt: 'none' })
  assert.deepEqual([mediated.statusCode, mediated.json().error.code], [403, 'access_denied'])
  const asking = (await browser.assertion(app, newParams('openid').params)).json()
  assert.deepEqual(Object.keys(asking), ['continue_on'])

  const query = { client_id: app.clientId, redirect_uri: app.redirectUri, response_type: 'code', scope: 'openid' }
  const view = await viewOf({ ...query, prompt: 'none' })
  assert.deepEqual(view.requiredClaims, ['email'])
  const end = new URL(view.silently.interaction_required.url)
  assert.equal(end.searchParams.get('error'), 'interaction_required')
})

test('APS-04 AUZ-06 an app that allows any loopback port is answered there, never without fresh consent', async () => {
  const person = await world.person()
  const redirectUris = ['http://127.0.0.1/callback', 'http://[::1]/callback', 'http://localhost/callback']
  const app = await world.app({ public: true, redirectUris, allowAnyLoopbackPort: true })
  const { verifier, challenge } = newChallenge()
  const pkce = { codeChallenge: challenge, codeChallengeMethod: 'S256' }
  const there = { ...app, redirectUri: 'http://127.0.0.1:51234/callback' }
  const answer = await authorize(person, there, { scope: 'openid', ...pkce })
  assert.equal(answer.statusCode, 200, answer.body)
  const url = new URL(answer.json().redirectUrl)
  assert.equal(`${url.origin}${url.pathname}`, there.redirectUri)
  const code = url.searchParams.get('code') ?? ''
  const elsewhere = { redirect_uri: 'http://127.0.0.1:51235/callback', code_verifier: verifier }
  assert.equal((await app.redeem(code, elsewhere)).json().error, 'invalid_grant')
  const redeemed = await app.redeem(code, { redirect_uri: there.redirectUri, code_verifier: verifier })
  assert.equal(redeemed.statusCode, 200, redeemed.body)

  const silent = await authorize(person, there, { scope: 'openid', prompt: 'none', ...pkce })
  assert.deepEqual([silent.statusCode, silent.json().error], [403, 'consent_required'])
  const query = { client_id: app.clientId, response_type: 'code', scope: 'openid', code_challenge: challenge }
  const view = await viewOf({ ...query, code_challenge_method: 'S256', redirect_uri: there.redirectUri })
  assert.equal(view.asksAnew, true)
  for (const redirectUri of ['http://localhost:51234/callback', 'http://127.0.0.1:51234/other']) {
    const refused = await authorize(person, { ...app, redirectUri }, { scope: 'openid', ...pkce })
    assert.deepEqual([refused.statusCode, refused.json().error], [400, 'invalid_redirect_uri'])
  }
})

test('APS-06 an app with a scheme that any program can claim gets no code without fresh consent', async () => {
  const [person, { challenge }] = [await world.person(), newChallenge()]
  const redirectUris = ['com.example.app:/callback', 'https://app.example/callback', 'http://127.0.0.1/callback']
  const app = await world.app({ public: true, redirectUris, allowedScopes: ['openid', 'offline_access'] })
  const pkce = { codeChallenge: challenge, codeChallengeMethod: 'S256' }
  const scope = 'openid offline_access'
  assert.equal((await authorize(person, app, { scope, ...pkce })).statusCode, 200)

  const expected: [string, number, true | undefined][] = [
    ['com.example.app:/callback', 403, true],
    ['https://app.example/callback', 200, undefined],
    ['http://127.0.0.1/callback', 200, undefined],
  ]
  for (const [redirectUri, status, asksAnew] of expected) {
    const silent = await authorize(person, { ...app, redirectUri }, { scope, prompt: 'none', ...pkce })
    assert.equal(silent.statusCode, status, redirectUri)
    if (status === 403) assert.equal(silent.json().error, 'consent_required')
    const query = { client_id: app.clientId, response_type: 'code', scope, code_challenge: challenge }
    const view = await viewOf({ ...query, code_challenge_method: 'S256', redirect_uri: redirectUri })
    assert.equal(view.asksAnew, asksAnew, redirectUri)
  }
})

test('AUZ-06 the port of a loopback redirect URI is fixed unless the app allows any port', async () => {
  const [person, { challenge }] = [await world.person(), newChallenge()]
  const app = await world.app({ public: true, redirectUris: ['http://127.0.0.1/callback'] })
  const there = { ...app, redirectUri: 'http://127.0.0.1:51234/callback' }
  const answer = await authorize(person, there, { codeChallenge: challenge, codeChallengeMethod: 'S256' })
  assert.deepEqual([answer.statusCode, answer.json().error], [400, 'invalid_redirect_uri'])
})
