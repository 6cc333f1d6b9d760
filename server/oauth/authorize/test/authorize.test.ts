import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { after, before, test } from 'node:test'
import { decodeJwt } from 'jose'
import { createWorld, newChallenge, postForm, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const page = (query: Record<string, string>) => world.auth.inject({ url: `/signin?${new URLSearchParams(query)}` })
const viewIn = (body: string) => JSON.parse(/id="view">(.*)<\/script>/.exec(body)?.[1] ?? '{}')
const authorize = (headers: Record<string, string>, payload: object) =>
  world.api.inject({ method: 'POST', url: '/api/oauth/authorize', headers, payload })

test('the sign-in page is rendered from a checked request', async () => {
  const app = await world.app({ name: 'Notes <b>' })
  const { challenge } = newChallenge()
  const { statusCode, headers, body } = await page({
    client_id: app.clientId,
    redirect_uri: app.redirectUri,
    response_type: 'code',
    scope: 'openid profile',
    state: 'a b&c',
    nonce: 'n1',
    code_challenge: challenge,
    code_challenge_method: 'S256',
  })
  assert.equal(statusCode, 200)
  assert.equal(headers['cache-control'], 'no-store')
  assert.doesNotMatch(body, /Notes <b>/, 'AUZ-24 an app name is rendered as text')
  const view = viewIn(body)
  assert.equal(view.app.name, 'Notes <b>')
  assert.deepEqual(
    [view.scope, view.state, view.nonce, view.codeChallenge],
    [['openid', 'profile'], 'a b&c', 'n1', challenge],
  )
  const denied = new URL(view.denied.url)
  assert.equal(denied.searchParams.get('error'), 'access_denied')
  assert.equal(denied.searchParams.get('state'), 'a b&c')
  assert.equal(denied.searchParams.get('iss'), 'http://localhost:4401')
})

const registered = 'https://app.example/callback'

test('AUZ-03 an unknown client gets an error page, never a redirect', async () => {
  const { statusCode, headers } = await page({ client_id: 'app_nobody', redirect_uri: registered })
  assert.equal(statusCode, 400)
  assert.equal(headers.location, undefined)
})

const errors: Record<string, [Record<string, string>, string]> = {
  'AUZ-09 another response type': [{ response_type: 'token' }, 'unsupported_response_type'],
  'AUZ-09 a hybrid response type': [{ response_type: 'code id_token' }, 'unsupported_response_type'],
  'AUZ-09 an ID token alone': [{ response_type: 'id_token' }, 'unsupported_response_type'],
  'AUZ-09 a code and a token': [{ response_type: 'code token' }, 'unsupported_response_type'],
  'AUZ-10 a scope that the app is not allowed': [{ scope: 'openid admin' }, 'invalid_scope'],
  'AUZ-11 the plain challenge method': [
    { code_challenge: 'a'.repeat(43), code_challenge_method: 'plain' },
    'invalid_request',
  ],
  'AUZ-11 a challenge of 42 characters': [{ code_challenge: 'a'.repeat(42) }, 'invalid_request'],
  'AUZ-17 a state too long to be given back': [{ state: 's'.repeat(8193) }, 'invalid_request'],
  'OID-03 no response type and no challenge': [{ response_type: '' }, 'invalid_request'],
  'OID-03 another response type with a challenge': [
    { response_type: 'token', code_challenge: 'a'.repeat(43) },
    'unsupported_response_type',
  ],
  'an unknown prompt': [{ prompt: 'consent create' }, 'invalid_request'],
  'prompt none with another prompt': [{ prompt: 'none login' }, 'invalid_request'],
  'a max_age that is not a number of seconds': [{ max_age: '-1' }, 'invalid_request'],
  'an unknown response mode': [{ response_mode: 'fragment' }, 'invalid_request'],
  'an organization that is neither an ID nor select': [{ organization_id: 'Acme' }, 'invalid_request'],
}
for (const [what, [parameters, error]] of Object.entries(errors))
  test(`${what} is returned to the app as ${error}, with state and issuer`, async () => {
    const app = await world.app({ redirectUris: [registered] })
    const answer = await page({
      client_id: app.clientId,
      redirect_uri: registered,
      response_type: 'code',
      scope: 'openid',
      state: 's1',
      ...parameters,
    })
    assert.equal(answer.statusCode, 303, answer.body)
    assert.equal(answer.headers['set-cookie'], undefined)
    const location = new URL(String(answer.headers.location))
    assert.equal(location.origin + location.pathname, registered)
    assert.equal(location.searchParams.get('error'), error)
    assert.equal(location.searchParams.get('iss'), 'http://localhost:4401')
    assert.equal(location.searchParams.get('state'), parameters['state'] === undefined ? 's1' : null)
  })

test('OID-03 a request with a challenge may omit its response type', async () => {
  const app = await world.app()
  const input = { client_id: app.clientId, redirect_uri: app.redirectUri, scope: 'openid' }
  const challenge = { code_challenge: newChallenge().challenge, code_challenge_method: 'S256' }
  for (const parameters of [challenge, { ...challenge, response_type: '' }, { response_type: 'code' }])
    assert.equal(viewIn((await page({ ...input, ...parameters })).body).page, 'signin', JSON.stringify(parameters))
  for (const fields of [input, { ...input, response_type: '' }]) {
    const pushed = await postForm(world.api, '/api/oauth/par', { ...app.credentials, ...fields })
    assert.deepEqual([pushed.statusCode, pushed.json().error], [400, 'invalid_request'])
  }
  const kept = await postForm(world.api, '/api/oauth/par', { ...app.credentials, ...input, ...challenge })
  assert.equal(kept.statusCode, 201, kept.body)
})

/** Builds a request object (RFC 9101 §4), unsigned unless a signature is given. */
const requestObject = (claims: object, signature = '') =>
  [{ alg: signature ? 'RS256' : 'none', jku: 'http://127.0.0.1:1/keys' }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .concat(signature)
    .join('.')

test('OID-04 a request object is rejected in the response mode that it states, and otherwise ignored', async () => {
  const app = await world.app()
  const input = { client_id: app.clientId, redirect_uri: app.redirectUri, response_type: 'code', scope: 'openid' }
  const inside = {
    ...{ state: 'inside', response_mode: 'form_post', redirect_uri: 'https://evil.example/', client_id: 'app_other' },
    ...{ iss: 'https://evil.example', ui_locales: 'xx' },
  }
  for (const request of [requestObject(inside), requestObject(inside, 'c2lnbmVk')]) {
    const { leaving } = viewIn((await page({ ...input, request, state: 'outside' })).body)
    assert.equal(leaving.url, app.redirectUri)
    assert.deepEqual(leaving.fields, {
      error: 'request_not_supported',
      error_description: 'The request parameter (JWT request object) is not supported.',
      state: 'inside',
      iss: 'http://localhost:4401',
    })
  }
  const unreadable = [
    ...['x', '..', 'a.b', 'eyJ.eyJ.', 'a.b.c.d.e', requestObject([]), requestObject({ response_mode: 'fragment' })],
    ...[requestObject({ state: 7, response_mode: ['form_post'] }), `a.${'W'.repeat(9000)}.`, 'a.bnVsbA.'],
  ]
  for (const request of unreadable) {
    const { statusCode, headers } = await page({ ...input, request, state: 'outside' })
    assert.equal(statusCode, 303, request)
    const { searchParams } = new URL(String(headers.location))
    assert.deepEqual([searchParams.get('error'), searchParams.get('state')], ['request_not_supported', 'outside'])
  }
  const native = await world.app({ redirectUris: ['com.example.app:/callback'], public: true })
  const own = { client_id: native.clientId, redirect_uri: native.redirectUri, request: requestObject(inside) }
  assert.match(
    String((await page({ ...input, ...own })).headers.location),
    /^com\.example\.app:\/callback\?error=request_not/,
  )
})

test('AUZ-18 request objects and their URLs are rejected with their own errors, and nothing is fetched', async () => {
  let visits = 0
  const listener = createServer((_request, response) => {
    visits += 1
    response.end('{}')
  })
  await once(listener.listen(0, '127.0.0.1'), 'listening')
  const bound = listener.address()
  const place = `http://127.0.0.1:${typeof bound === 'object' ? bound?.port : ''}`
  const app = await world.app()
  const input = { redirect_uri: app.redirectUri, response_type: 'code', scope: 'openid', state: 's1' }
  const object = requestObject({ request_uri: `${place}/inside`, jwks_uri: `${place}/keys`, iss: place }, 'c2ln')
  const head = Buffer.from(JSON.stringify({ alg: 'RS256', jku: `${place}/jku`, x5u: `${place}/x5u` })).toString(
    'base64url',
  )
  const requested = [
    [{ request_uri: `${place}/request` }, 'request_uri_not_supported'],
    [{ request_uri: `${place}/request#fragment`, request: object }, 'request_not_supported'],
    [{ request: object }, 'request_not_supported'],
    [{ request: `${head}.${object.split('.')[1]}.c2ln` }, 'request_not_supported'],
    [{ registration: JSON.stringify({ jwks_uri: `${place}/registration` }) }, 'registration_not_supported'],
  ] as const
  try {
    for (const [parameters, error] of requested) {
      const query = { client_id: app.clientId, ...input, ...parameters }
      for (const answer of [await page(query), await postForm(world.auth, '/signin', query)]) {
        const { searchParams } = new URL(String(answer.headers.location))
        assert.deepEqual([searchParams.get('error'), searchParams.get('state')], [error, 's1'])
      }
      const pushed = await postForm(world.api, '/api/oauth/par', { ...app.credentials, ...input, ...parameters })
      assert.equal(pushed.statusCode, 400, pushed.body)
    }
    await fetch(`${place}/to-see-that-it-listens`)
    assert.equal(visits, 1, 'only the test itself has sent a request')
  } finally {
    listener.close()
  }
})

test('AUZ-23 the redirect after a form post is a 303, so that the form is not posted again', async () => {
  const app = await world.app()
  const fields = {
    client_id: app.clientId,
    redirect_uri: app.redirectUri,
    response_type: 'code',
    scope: 'openid admin',
  }
  const answer = await postForm(world.auth, '/signin', fields)
  assert.equal(answer.statusCode, 303)
  assert.match(String(answer.headers.location), /error=invalid_scope/)
})

test('INJ-09 line breaks in request parameters are returned as encoded text, never as a header', async () => {
  const app = await world.app()
  const state = 'a\r\nSet-Cookie: countersign=evil\r\n\r\n<script>'
  const answer = await page({ client_id: app.clientId, redirect_uri: app.redirectUri, response_type: 'token', state })
  const location = String(answer.headers.location)
  assert.match(location, /^[\x21-\x7e]+$/)
  assert.equal(new URL(location).searchParams.get('state'), state)
  assert.equal(answer.headers['set-cookie'], undefined)
  const elsewhere = await page({
    client_id: app.clientId,
    redirect_uri: `${app.redirectUri}\r\nSet-Cookie: a=b`,
    state,
  })
  assert.equal(elsewhere.statusCode, 400)
  assert.equal(elsewhere.headers.location, undefined)
})

test('AUZ-01 a consent requires a session of the user', async () => {
  const [person, app] = [await world.person(), await world.app()]
  const input = { clientId: app.clientId, redirectUri: app.redirectUri, identityId: person.identityId, scope: 'openid' }
  const { access_token: token } = await app.tokens(person)
  const signedOut = await person.signIn()
  await world.api.inject({ method: 'DELETE', url: '/api/auth/session', headers: signedOut })
  for (const headers of [{}, signedOut, { authorization: `Bearer ${token}` }, world.admin]) {
    const answer = await authorize(headers, input)
    assert.equal(answer.statusCode, 401, answer.body)
    assert.doesNotMatch(answer.body, /redirectUrl/)
  }
})

test('AUZ-15 answers to two apps in two tabs share no values', async () => {
  const person = await world.person()
  const apps = [
    await world.app({ redirectUris: ['https://one.example/callback'] }),
    await world.app({ redirectUris: ['https://two.example/callback'] }),
  ]
  const other = { handle: `${person.handle}-2`, displayName: 'Other' }
  const added = await world.api.inject({
    method: 'POST',
    url: '/api/identities',
    headers: person.headers,
    payload: other,
  })
  const identityIds = [person.identityId, added.json().identityId]
  await Promise.all(
    Array.from({ length: 20 }, async (_, turn) => {
      const [app, identityId] = [apps[turn % 2], identityIds[turn % 2]]
      assert.ok(app)
      const { verifier, challenge } = newChallenge()
      const [state, nonce] = [`state-${turn}`, `nonce-${turn}`]
      const input = { clientId: app.clientId, redirectUri: app.redirectUri, identityId, scope: 'openid', state, nonce }
      const answer = await authorize(person.headers, {
        ...input,
        codeChallenge: challenge,
        codeChallengeMethod: 'S256',
      })
      const back = new URL(answer.json().redirectUrl)
      assert.equal(back.origin + back.pathname, app.redirectUri)
      assert.equal(back.searchParams.get('state'), state)
      const tokens = await app.redeem(back.searchParams.get('code') ?? '', { code_verifier: verifier })
      const claims = decodeJwt(tokens.json().id_token)
      assert.deepEqual([claims.sub, claims.aud, claims['nonce']], [identityId, app.clientId, nonce])
    }),
  )
})

test('AUZ-11 a public app must send a challenge', async () => {
  const app = await world.app({ public: true })
  const person = await world.person()
  const answer = await page({
    client_id: app.clientId,
    redirect_uri: app.redirectUri,
    response_type: 'code',
    scope: 'openid',
  })
  assert.equal(new URL(String(answer.headers.location)).searchParams.get('error'), 'invalid_request')
  const input = { clientId: app.clientId, redirectUri: app.redirectUri, identityId: person.identityId }
  assert.equal((await authorize(person.headers, input)).json().error, 'invalid_request')
})

test('AUZ-17 AUZ-19 state is returned unchanged, and an omitted state stays omitted', async () => {
  const app = await world.app()
  const person = await world.person()
  const input = { clientId: app.clientId, redirectUri: app.redirectUri, identityId: person.identityId, scope: 'openid' }
  const state = `ü😀 "<&+%\r\n${'x'.repeat(8000)}`
  const answered = new URL((await authorize(person.headers, { ...input, state })).json().redirectUrl)
  assert.equal(answered.searchParams.get('state'), state)
  assert.equal(answered.searchParams.get('iss'), 'http://localhost:4401')
  const without = new URL((await authorize(person.headers, input)).json().redirectUrl)
  assert.deepEqual([...without.searchParams.keys()], ['code', 'iss'])
})

test('the redirect keeps the query of the registered redirect URI', async () => {
  const redirectUri = 'https://app.example/callback?tenant=7'
  const app = await world.app({ redirectUris: [redirectUri] })
  const person = await world.person()
  const input = { clientId: app.clientId, redirectUri, identityId: person.identityId, scope: 'openid' }
  const answered = new URL((await authorize(person.headers, input)).json().redirectUrl)
  assert.equal(answered.searchParams.get('tenant'), '7')
})

test('AUZ-02 an identity of another user and a nonexistent one return the same error', async () => {
  const app = await world.app()
  const [person, victim] = [await world.person(), await world.person()]
  const input = { clientId: app.clientId, redirectUri: app.redirectUri, scope: 'openid' }
  const theirs = await authorize(person.headers, { ...input, identityId: victim.identityId })
  const nobodys = await authorize(person.headers, { ...input, identityId: randomUUID() })
  assert.equal(theirs.statusCode, 404)
  assert.equal(theirs.json().error, 'identity_not_found')
  assert.deepEqual(theirs.json(), nobodys.json())
})

test('requesting the email scope for an identity without e-mail fails and records nothing', async () => {
  const app = await world.app()
  const person = await world.person()
  const answer = await authorize(person.headers, {
    clientId: app.clientId,
    redirectUri: app.redirectUri,
    identityId: person.identityId,
    scope: 'openid email',
  })
  assert.equal(answer.statusCode, 409)
  assert.equal(answer.json().error, 'email_not_verified')
  const list = await world.api.inject({ url: '/api/oauth/authorizations', headers: person.headers })
  assert.deepEqual(list.json(), { authorizations: [] })
})

test('consents add up, and missing scopes are listed', async () => {
  const app = await world.app({ allowedScopes: ['openid', 'profile', 'user_id'] })
  const person = await world.person()
  await app.code(person, { scope: 'openid' })
  await Promise.all([app.code(person, { scope: 'openid profile' }), app.code(person, { scope: 'user_id' })])
  const query = new URLSearchParams({ identity_id: person.identityId, scope: 'openid profile user_id email' })
  const url = `/api/oauth/authorization/${app.clientId}?${query}`
  const { authorization, missingScopes } = (await world.api.inject({ url, headers: person.headers })).json()
  assert.deepEqual(authorization.scope.split(' ').toSorted(), ['openid', 'profile', 'user_id'])
  assert.deepEqual(missingScopes, ['email'])
  assert.equal(authorization.appName, 'An app')
})

test('a disconnected app leaves the list and cannot be disconnected again or by another user', async () => {
  const app = await world.app()
  const [person, other] = [await world.person(), await world.person()]
  const { access_token } = await app.tokens(person)
  const list = async () =>
    (await world.api.inject({ url: '/api/oauth/authorizations', headers: person.headers })).json().authorizations
  const [{ id }] = await list()
  const remove = (headers: Record<string, string>) =>
    world.api.inject({ method: 'DELETE', url: `/api/oauth/authorizations/${id}`, headers })
  assert.equal((await remove(other.headers)).statusCode, 404)
  assert.equal((await remove(person.headers)).statusCode, 204)
  assert.equal((await remove(person.headers)).json().error, 'authorization_not_found')
  assert.deepEqual(await list(), [])
  const dead = await world.api.inject({
    url: '/api/oauth/userinfo',
    headers: { authorization: `Bearer ${access_token}` },
  })
  assert.equal(dead.statusCode, 401)
})
