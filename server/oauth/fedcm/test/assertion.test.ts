import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { standardScopes } from '@countersign/protocol/formats/scope'
import { type ClientId, asId } from '@countersign/protocol/ids'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { openAgents, redirectUri } from '#testing/agents.ts'
import { createConnectors } from '#testing/connectors.ts'
import { fedcmHeaders, exchange, newParams, openBrowser } from '#testing/federated-browser.ts'
import { appOf, createWorld, type Person, type TestApp, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

async function connected(scope = 'openid profile') {
  const [person, app] = [await world.person(), await world.app()]
  await app.tokens(person, { scope })
  return { person, app, browser: await openBrowser(world, person) }
}

const change = (app: TestApp, payload: object) =>
  world.api.inject({ method: 'PATCH', url: `/api/admin/apps/${app.clientId}`, headers: world.admin, payload })

async function disconnectAll(person: Person) {
  const { headers } = person
  const listed = await world.api.inject({ url: '/api/oauth/authorizations', headers })
  for (const { id } of listed.json<{ authorizations: { id: string }[] }>().authorizations)
    await world.api.inject({ method: 'DELETE', url: `/api/oauth/authorizations/${id}`, headers })
}

const tokenIn = (answer: { statusCode: number; body: string; json: () => { token: string } }) => {
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json().token
}

test('a user with full earlier consent signs in at once, and the app gets the tokens of a code', async () => {
  const { person, app, browser } = await connected('openid profile offline_access')
  const { verifier, params } = newParams('openid profile offline_access')
  const answer = await browser.assertion(app, params)
  assert.equal(answer.headers['access-control-allow-origin'], 'https://app.example')
  assert.equal(answer.headers['access-control-allow-credentials'], 'true')
  const token = tokenIn(answer)
  assert.equal(decodeProtectedHeader(token).typ, 'fedcm+jwt')
  const claims = decodeJwt(token)
  assert.equal(claims.sub, person.identityId)
  assert.equal(claims['client_id'], app.clientId)
  assert.equal((claims.exp ?? 0) - (claims.iat ?? 0), 60)
  const exchanged = await exchange(world, app, token, { codeVerifier: verifier })
  assert.equal(exchanged.statusCode, 200, exchanged.body)
  const tokens = exchanged.json()
  assert.equal(tokens.scope, params.scope)
  assert.equal(tokens.user.handle, person.handle)
  assert.match(tokens.refresh_token, /^cs_rt_/)
  assert.equal((await app.refresh(tokens.refresh_token)).statusCode, 200)
})

test("FED-03 FED-04 a page whose origin is not the app's gets no assertion and cannot read the reason", async () => {
  const { app, browser, person } = await connected()
  const tricks = ['https://app.example.evil.example', 'https://app.exampl', 'https://app.example:8443', 'null', '']
  const spelled = ['http://app.example', 'https://APP.example', 'https://app.example/', 'https://app.example.']
  const twice = 'https://app.example, https://evil.example'
  for (const origin of [...tricks, ...spelled, twice, 'https://app.example/callback']) {
    const answer = await browser.assertion(app, {}, { headers: { origin } })
    assert.equal(answer.statusCode, 403, origin)
    // Browsers read the code as `error`, and earlier ones as `code`.
    const { error, code, url } = answer.json().error
    assert.deepEqual([error, code], ['unauthorized_client', 'unauthorized_client'])
    assert.equal(url, 'http://localhost:4400/fedcm/error?code=unauthorized_client')
    assert.equal(answer.headers['access-control-allow-origin'], undefined, origin)
  }
  const { cookies } = browser
  const bare = await world.api.inject({
    method: 'POST',
    url: '/api/oauth/fedcm/assertion',
    headers: {
      ...fedcmHeaders,
      cookie: `__Host-countersign-fedcm=${cookies.federated}`,
      'content-type': 'application/x-www-form-urlencoded',
    },
    payload: new URLSearchParams({ client_id: app.clientId, account_id: person.identityId, params: '{}' }).toString(),
  })
  assert.deepEqual([bare.statusCode, bare.json().token], [403, undefined], 'no origin at all')
  const stolen = await world.app({ redirectUris: ['https://evil.example/callback'] })
  const foreign = await browser.assertion(app, {}, { headers: { origin: new URL(stolen.redirectUri).origin } })
  assert.equal(foreign.statusCode, 403)
})

test('FED-04 a page gets no assertion for a redirect URI of the app on another origin', async () => {
  const redirectUris = ['https://app.example/callback', 'https://second.example/callback']
  const [person, app] = [await world.person(), await world.app({ redirectUris })]
  await app.tokens(person, { scope: 'openid' })
  const browser = await openBrowser(world, person)
  const assertion = (uri: string | undefined, origin: string) =>
    browser.assertion(app, { scope: 'openid', redirectUri: uri }, { headers: { origin } })
  const [first, second] = redirectUris
  tokenIn(await assertion(first, 'https://app.example'))
  tokenIn(await assertion(second, 'https://second.example'))
  for (const [uri, origin] of [
    [second, 'https://app.example'],
    [first, 'https://second.example'],
  ] as const) {
    const refused = await assertion(uri, origin)
    assert.deepEqual([refused.statusCode, refused.json().error.code], [400, 'invalid_request'], origin)
  }
})

test('FED-04 an app with a client metadata document, which anyone can publish, gets no assertion', async (t) => {
  const agents = await openAgents()
  t.after(agents.close)
  const described = agents.agent()
  await described.tokens()
  const { clientId } = described
  const app = appOf(agents.world.api, { clientId, redirectUri })
  const browser = await openBrowser(agents.world, agents.person)
  const refused = await browser.assertion(app, newParams('openid').params)
  assert.deepEqual([refused.statusCode, refused.json().error.code], [403, 'unauthorized_client'])
})

test('FED-01 FED-05 an identity of another user, or a caller that is not a browser, gets no assertion', async () => {
  const { app, browser } = await connected()
  const { identityId } = await world.person()
  for (const accountId of [identityId, 'nobody', ' ']) {
    const answer = await browser.assertion(app, {}, { fields: { account_id: accountId } })
    assert.equal(answer.statusCode, 403)
    assert.deepEqual(answer.json().error.code, 'access_denied')
    assert.match(answer.json().error.url, /^http:\/\/localhost:4400\/fedcm\/error\?code=access_denied$/)
  }
  for (const dest of ['empty', 'document', 'image', '']) {
    const answer = await browser.assertion(app, {}, { headers: { 'sec-fetch-dest': dest } })
    assert.equal(answer.statusCode, 400)
    assert.equal(answer.headers['access-control-allow-origin'], undefined)
  }
  const signedOut = await browser.assertion(app, {}, { headers: { cookie: '' } })
  assert.equal(signedOut.statusCode, 401)
  assert.equal(signedOut.headers['set-login'], 'logged-out')
})

test('FED-06 a request beyond earlier consent continues in a window, and issues nothing before', async () => {
  const [person, app] = [await world.person(), await world.app({ allowedScopes: [...standardScopes] })]
  await app.tokens(person, { scope: 'openid' })
  const browser = await openBrowser(world, person)
  for (const scope of ['openid profile', 'openid user_id', 'openid email', 'offline_access']) {
    const answer = (await browser.assertion(app, { scope })).json()
    assert.deepEqual(Object.keys(answer), ['continue_on'], scope)
    assert.match(answer.continue_on, /^http:\/\/localhost:4400\/fedcm\/continue\?request=[\w-]{43}$/)
  }
  for (const prompt of ['consent', 'login', 'select_account'])
    assert.ok((await browser.assertion(app, { scope: 'openid', prompt })).json().continue_on, prompt)
  const silent = await browser.assertion(app, { scope: 'openid profile', prompt: 'none' })
  assert.deepEqual([silent.statusCode, silent.json().error.code], [403, 'access_denied'])
  assert.ok((await browser.assertion(app, { scope: 'openid', prompt: 'none' })).json().token)
})

test('OID-12 errors of a failed exchange name the assertion, not a code', async () => {
  const { app, browser } = await connected('openid')
  const { verifier, params } = newParams('openid')
  const token = tokenIn(await browser.assertion(app, params))
  assert.equal((await exchange(world, app, token, { codeVerifier: verifier })).statusCode, 200)
  for (const refused of [
    await exchange(world, app, token, { codeVerifier: verifier }),
    await exchange(world, app, 'nonsense', { codeVerifier: verifier }),
  ]) {
    const { error, error_description: sentence } = refused.json()
    assert.deepEqual(
      [error, sentence],
      ['invalid_grant', 'The assertion is invalid, expired, already used, or was issued to another client.'],
    )
  }
})

test('FED-06 a consent without recorded scopes does not count', async () => {
  const { app, browser } = await connected('')
  assert.ok((await browser.assertion(app, {})).json().continue_on)
})

test('FED-07 a scope that the app has lost is rejected at request and at exchange', async () => {
  const { app, browser } = await connected('openid profile')
  const token = tokenIn(await browser.assertion(app, { scope: 'openid profile' }))
  await change(app, { allowedScopes: ['openid'] })
  const late = await exchange(world, app, token)
  assert.deepEqual([late.statusCode, late.json().error], [400, 'invalid_scope'])
  const again = await browser.assertion(app, { scope: 'openid profile' })
  assert.deepEqual([again.statusCode, again.json().error.code], [400, 'invalid_request'])
  await change(app, { allowedScopes: ['openid', 'profile'] })
  assert.equal((await exchange(world, app, token)).statusCode, 200, 'a rejected exchange consumes nothing')
})

test('FED-08 an assertion ends with the consent that it was issued for', async () => {
  const { person, app, browser } = await connected()
  const token = tokenIn(await browser.assertion(app, { scope: 'openid' }))
  await disconnectAll(person)
  assert.equal((await exchange(world, app, token)).json().error, 'invalid_grant')
  assert.ok((await browser.assertion(app, { scope: 'openid' })).json().continue_on)
})

test('FED-09 an assertion is invalid for another app, and without the PKCE verifier or secret of its own', async () => {
  const { app, browser } = await connected()
  const thief = await world.app()
  const { verifier, params } = newParams()
  const token = tokenIn(await browser.assertion(app, params))
  assert.equal((await exchange(world, thief, token, { codeVerifier: verifier })).json().error, 'invalid_grant')
  for (const fields of [{}, { codeVerifier: newParams().verifier }])
    assert.equal((await exchange(world, app, token, fields)).json().error, 'invalid_grant')
  assert.equal((await exchange(world, app, token, { codeVerifier: verifier })).statusCode, 200)

  const bare = tokenIn(await browser.assertion(app, { scope: 'openid' }))
  const { clientId } = app
  const payload = { assertion: bare, clientId }
  const open = await world.api.inject({ method: 'POST', url: '/api/oauth/fedcm/exchange', payload })
  assert.deepEqual([open.statusCode, open.json().error], [401, 'invalid_client'])
  const wrong = await exchange(world, app, bare, { clientSecret: thief.clientSecret })
  assert.equal(wrong.statusCode, 401)
})

test('FED-10 an assertion is redeemed once, also of thirty-two concurrent requests, and within a minute', async () => {
  const { app, browser } = await connected()
  const { verifier, params } = newParams()
  const proof = { codeVerifier: verifier }
  const token = tokenIn(await browser.assertion(app, params))
  const answers = await Promise.all(Array.from({ length: 32 }, () => exchange(world, app, token, proof)))
  const statuses = answers.map(({ statusCode }) => statusCode)
  assert.equal(statuses.filter((status) => status === 200).length, 1)
  for (const answer of answers.filter(({ statusCode }) => statusCode !== 200))
    assert.deepEqual([answer.statusCode, answer.json().error], [400, 'invalid_grant'])

  const old = tokenIn(await browser.assertion(app, params))
  world.pass(60)
  assert.equal((await exchange(world, app, old, proof)).json().error, 'invalid_grant')
})

test('FED-10 a second redemption by the same app revokes the tokens of the first one', async () => {
  const { app, browser } = await connected()
  const token = tokenIn(await browser.assertion(app, { scope: 'openid' }))
  const { access_token: access } = (await exchange(world, app, token)).json()
  assert.equal((await exchange(world, app, token)).json().error, 'invalid_grant')
  const headers = { authorization: `Bearer ${access}` }
  assert.equal((await world.api.inject({ url: '/api/oauth/userinfo', headers })).statusCode, 401)
})

test('FED-10 a second redemption revokes tokens also after the expiry, but not without the proof', async () => {
  const { app, browser } = await connected()
  const { verifier, params } = newParams('openid')
  const token = tokenIn(await browser.assertion(app, params))
  const { access_token: access } = (await exchange(world, app, token, { codeVerifier: verifier })).json()
  const userinfo = () =>
    world.api.inject({ url: '/api/oauth/userinfo', headers: { authorization: `Bearer ${access}` } })
  world.pass(90)
  const wrong = await exchange(world, app, token, { codeVerifier: newParams().verifier })
  assert.equal(wrong.json().error, 'invalid_grant')
  assert.equal((await userinfo()).statusCode, 200)
  assert.equal((await exchange(world, app, token, { codeVerifier: verifier })).json().error, 'invalid_grant')
  assert.equal((await userinfo()).statusCode, 401)
})

test('FED-11 COD-20 an assertion is rejected as code, ID token, access token and subject token', async () => {
  const { app, browser } = await connected()
  const token = tokenIn(await browser.assertion(app, { scope: 'openid' }))
  const { jti = '' } = decodeJwt(token)
  const notes = await createConnectors(world)
  for (const text of [token, jti]) {
    for (const redirect_uri of [app.redirectUri, 'https://app.example', 'http://localhost:4400/fedcm/resolve'])
      assert.equal((await app.redeem(text, { redirect_uri })).json().error, 'invalid_grant')
    assert.equal((await app.refresh(text)).json().error, 'invalid_grant')
    const exchanged = await notes.exchange(text, {}, app)
    assert.deepEqual([exchanged.statusCode, exchanged.json().error], [400, 'invalid_request'])
    const headers = { authorization: `Bearer ${text}` }
    assert.equal((await world.api.inject({ url: '/api/oauth/userinfo', headers })).statusCode, 401)
    assert.equal((await world.api.inject({ url: '/api/auth/session', headers })).statusCode, 401)
  }
  const query = { client_id: app.clientId, response_type: 'code', redirect_uri: app.redirectUri, id_token_hint: token }
  const hinted = await world.auth.inject({ url: `/signin?${new URLSearchParams(query)}` })
  assert.match(String(hinted.headers.location), /error=invalid_request/)
  assert.equal((await exchange(world, app, jti)).json().error, 'invalid_grant')
  assert.equal((await exchange(world, app, await app.code(await world.person()))).json().error, 'invalid_grant')
  assert.equal((await exchange(world, app, token)).statusCode, 200)
})

test('FED-14 the nonce is returned unchanged, in the assertion and in the ID token', async () => {
  const { app, browser } = await connected()
  const nonce = 'n "quoted" ÿ 😀'
  const token = tokenIn(await browser.assertion(app, { scope: 'openid', nonce }))
  assert.equal(decodeJwt(token)['nonce'], nonce)
  const tokens = (await exchange(world, app, token)).json()
  assert.equal(decodeJwt(tokens.id_token)['nonce'], nonce)
  const without = tokenIn(await browser.assertion(app, { scope: 'openid' }))
  assert.equal(decodeJwt((await exchange(world, app, without)).json().id_token)['nonce'], undefined)
})

test('FED-20 params that are too large, too deep or of a wrong type get an error in FedCM format', async () => {
  const { app, browser } = await connected()
  const deep = `${'['.repeat(5000)}${']'.repeat(5000)}`
  const wrong = [
    deep,
    '[]',
    '"text"',
    'null',
    '{',
    '{"scope":1}',
    '{"nonce":["a"]}',
    '{"__proto__":{"scope":"openid"}}',
  ]
  for (const params of wrong) {
    const answer = await browser.assertion(app, params)
    assert.equal(answer.statusCode, 400, params.slice(0, 40))
    assert.equal(answer.json().error.code, 'invalid_request')
  }
  const large = await browser.assertion(app, JSON.stringify({ scope: 'x'.repeat(1024 * 1024) }))
  assert.deepEqual([large.statusCode, large.json().error.code], [413, 'invalid_request'])
  const elsewhere = await browser.assertion(app, { redirectUri: 'https://evil.example/callback' })
  assert.equal(elsewhere.statusCode, 400)
})

test('a public app must send a challenge, and redeems with the verifier alone', async () => {
  const person = await world.person()
  const app = await world.app({ public: true })
  const browser = await openBrowser(world, person)
  assert.equal((await browser.assertion(app, { scope: 'openid' })).statusCode, 400)
  const { verifier, params } = newParams('openid')
  const assertion = await browser.assertionFor(app, params)
  const fields = { clientId: app.clientId, codeVerifier: verifier, assertion }
  const answer = await world.api.inject({ method: 'POST', url: '/api/oauth/fedcm/exchange', payload: fields })
  assert.equal(answer.statusCode, 200, answer.body)
})

test('a disabled app and an unregistered one get no assertion', async () => {
  const { app, browser } = await connected()
  const token = tokenIn(await browser.assertion(app, { scope: 'openid' }))
  await change(app, { status: 'disabled' })
  assert.equal((await browser.assertion(app, { scope: 'openid' })).statusCode, 403)
  assert.equal((await exchange(world, app, token)).json().error, 'invalid_client')
  const unknown = await browser.assertion({ ...app, clientId: asId<ClientId>('app_nobody') })
  assert.equal(unknown.statusCode, 403)
})

test('FED-16 no request of the browser itself is answered with a redirect', async () => {
  const { app, browser } = await connected()
  const requested = [
    await browser.accounts(),
    await browser.assertion(app, { scope: 'openid' }),
    await browser.disconnect(app, 'nobody'),
    ...(await Promise.all(
      ['config', `client-metadata?client_id=${app.clientId}`].map((path) =>
        world.api.inject({ url: `/api/oauth/fedcm/${path}`, headers: fedcmHeaders }),
      ),
    )),
    ...(await Promise.all(
      [world.api, world.auth, world.business].map((host) => host.inject({ url: '/.well-known/web-identity' })),
    )),
  ]
  for (const { statusCode } of requested) assert.ok(statusCode < 300 || statusCode >= 400, String(statusCode))
})
