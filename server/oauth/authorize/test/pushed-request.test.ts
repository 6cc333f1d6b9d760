import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { decodeJwt } from 'jose'
import { type IdentityId, asId } from '@countersign/protocol/ids'
import { createWorld, newChallenge, postForm, type Person, type TestApp, type TestWorld } from '#testing/world.ts'
import { prunePushedRequests } from '#oauth/authorize/pushed-request.ts'

let world: TestWorld
let app: TestApp
let person: Person
before(async () => {
  world = await createWorld()
  app = await world.app()
  person = await world.person()
})
after(() => world.close())

const input = () => ({ redirect_uri: app.redirectUri, response_type: 'code', scope: 'openid profile', state: 's1' })
const push = (fields: Record<string, string> = {}, headers: Record<string, string> = {}) =>
  postForm(world.api, '/api/oauth/par', { ...app.credentials, ...input(), ...fields }, headers)
const pushed = async (fields: Record<string, string> = {}): Promise<string> => {
  const answer = await push(fields)
  assert.equal(answer.statusCode, 201, answer.body)
  return answer.json().request_uri
}
const show = (requestUri: string, parameters: Record<string, string> = {}) => {
  const query = new URLSearchParams({ client_id: app.clientId, request_uri: requestUri, ...parameters })
  return world.auth.inject({ url: `/signin?${query}`, headers: { accept: 'text/html' } })
}
const viewIn = (body: string) => JSON.parse(/id="view">(.*)<\/script>/.exec(body)?.[1] ?? '{}')
const consent = (requestUri: string, requested: Record<string, unknown> = {}, { headers, identityId } = person) => {
  const sent = { clientId: app.clientId, redirectUri: app.redirectUri, identityId, requestUri, ...requested }
  return world.api.inject({ method: 'POST', url: '/api/oauth/authorize', headers, payload: sent })
}
const errorOf = (answer: { json: () => { error: string }; statusCode: number }) => [
  answer.statusCode,
  answer.json().error,
]

/** Asserts that the answer is an error page for the user, without a redirect. */
function assertStays(answer: Awaited<ReturnType<typeof show>>) {
  assert.equal(answer.statusCode, 400)
  assert.equal(answer.headers.location, undefined)
  const view = viewIn(answer.body)
  assert.deepEqual([view.page, view.error], ['error', 'invalid_request_uri'])
}

test('an app pushes its request and the user signs in with its reference', async () => {
  const { verifier, challenge } = newChallenge()
  const answer = await push({ nonce: 'n1', code_challenge: challenge, code_challenge_method: 'S256' })
  assert.equal(answer.statusCode, 201)
  assert.equal(answer.headers['cache-control'], 'no-store')
  const { request_uri: requestUri, expires_in: expiresIn } = answer.json()
  assert.equal(expiresIn, 60)
  assert.match(requestUri, /^urn:ietf:params:oauth:request_uri:[\w-]{43}$/)

  const view = viewIn((await show(requestUri)).body)
  assert.deepEqual([view.page, view.requestUri, view.state], ['signin', requestUri, 's1'])
  const { redirectUrl } = (await consent(requestUri)).json()
  const back = new URL(redirectUrl)
  assert.equal(back.searchParams.get('state'), 's1')
  const redeemed = await app.redeem(back.searchParams.get('code') ?? '', { code_verifier: verifier })
  assert.equal(redeemed.statusCode, 200)
  assert.equal(redeemed.json().scope, 'openid profile')
})

test('the reference is not in the database', async () => {
  const requestUri = await pushed()
  const rows = await world.db.selectFrom('oauth_pushed_request').selectAll().execute()
  assert.ok(rows.length > 0)
  const held = rows.map(({ request_uri_sha256: hash, parameters }) => Buffer.from(hash).toString('latin1') + parameters)
  assert.equal(held.join().includes(requestUri.slice(-43)), false)
})

test('pushed parameters take precedence over those in the URL', async () => {
  const requestUri = await pushed({ nonce: 'n1' })
  const others = { state: 'other', nonce: 'other', scope: 'openid email', redirect_uri: 'https://evil.example/' }
  const view = viewIn((await show(requestUri, others)).body)
  assert.deepEqual([view.state, view.redirectUri], ['s1', app.redirectUri])
  assert.deepEqual(view.scope, ['openid', 'profile'])
  const { redirectUrl } = (await consent(requestUri, { nonce: 'other' })).json()
  const tokens = (await app.redeem(new URL(redirectUrl).searchParams.get('code') ?? '')).json()
  assert.equal(decodeJwt(tokens.id_token)['nonce'], 'n1')
})

test('pushed parameters take precedence over those that the page sends', async () => {
  const { challenge } = newChallenge()
  const requestUri = await pushed({ code_challenge: challenge, code_challenge_method: 'S256' })
  const sent = { state: 'other', scope: 'openid email offline_access', redirectUri: 'https://evil.example/' }
  const answer = await consent(requestUri, { ...sent, codeChallenge: 'A'.repeat(43), responseMode: 'form_post' })
  const back = new URL(answer.json().redirectUrl)
  assert.equal(back.origin + back.pathname, app.redirectUri)
  assert.equal(back.searchParams.get('state'), 's1')
  const code = back.searchParams.get('code') ?? ''
  assert.equal((await app.redeem(code, { code_verifier: 'v'.repeat(43) })).json().error, 'invalid_grant')
})

test('a user may share less than was pushed, and never more', async () => {
  const narrow = await consent(await pushed(), { scope: 'openid offline_access' })
  const code = new URL(narrow.json().redirectUrl).searchParams.get('code') ?? ''
  assert.equal((await app.redeem(code)).json().scope, 'openid')
})

test('a pushed prompt and max_age apply even if the page omits them', async () => {
  const someone = await world.person()
  world.pass(400)
  for (const wish of [{ prompt: 'login' }, { max_age: '60' }])
    assert.deepEqual(errorOf(await consent(await pushed(wish), {}, someone)), [403, 'reauthentication_required'])
  assert.deepEqual(errorOf(await consent(await pushed({ prompt: 'none' }), {}, someone)), [403, 'consent_required'])
})

test('AUZ-14 a request is consumed by a successful consent, not by viewing it', async () => {
  const requestUri = await pushed()
  const looks = [await show(requestUri), await show(requestUri), await show(requestUri)]
  for (const look of looks) assert.equal(look.statusCode, 200)
  const stranger = { ...person, identityId: asId<IdentityId>(crypto.randomUUID()) }
  assert.equal((await consent(requestUri, {}, stranger)).statusCode, 404)
  assert.equal((await consent(requestUri)).statusCode, 200)
  assert.deepEqual(errorOf(await consent(requestUri)), [400, 'invalid_request_uri'])
  assertStays(await show(requestUri))
})

test('one of sixteen concurrent consents gets a code', async () => {
  const requestUri = await pushed()
  const answers = await Promise.all(Array.from({ length: 16 }, () => consent(requestUri)))
  const codes = answers.map(({ statusCode }) => statusCode).toSorted((one, other) => one - other)
  assert.deepEqual(codes, [200, ...Array.from({ length: 15 }, () => 400)])
  for (const answer of answers) if (answer.statusCode === 400) assert.equal(answer.json().error, 'invalid_request_uri')
})

test('a pushed request is valid for one minute, and for ten more after its first view', async () => {
  const late = await pushed()
  world.pass(60)
  assertStays(await show(late))
  assert.deepEqual(errorOf(await consent(late)), [400, 'invalid_request_uri'])

  const slow = await pushed()
  world.pass(59)
  assert.equal((await show(slow)).statusCode, 200)
  world.pass(599)
  assert.equal((await show(slow)).statusCode, 200)
  world.pass(1)
  assertStays(await show(slow))
  assert.deepEqual(errorOf(await consent(slow)), [400, 'invalid_request_uri'])
})

test('the cleanup deletes expired requests', async () => {
  await pushed()
  world.pass(60)
  assert.ok((await prunePushedRequests(world.db, world.now(), 500)) > 0)
  assert.deepEqual(await world.db.selectFrom('oauth_pushed_request').select('client_id').execute(), [])
})

test('another app cannot use a reference and does not consume it', async () => {
  const requestUri = await pushed()
  const other = await world.app({ redirectUris: [app.redirectUri] })
  assertStays(await show(requestUri, { client_id: other.clientId }))
  assertStays(await show(requestUri, { client_id: 'app_unknown' }))
  assert.deepEqual(errorOf(await consent(requestUri, { clientId: other.clientId })), [400, 'invalid_request_uri'])
  assert.equal((await consent(requestUri)).statusCode, 200)
})

test('an unknown reference shows an error page to the user', async () => {
  const prefix = 'urn:ietf:params:oauth:request_uri:'
  for (const end of ['', 'x', 'A'.repeat(43), '\u0001', '../../x', 'ü'.repeat(500)])
    assertStays(await show(prefix + end))
})

test('a request cannot be pushed with another method', async () => {
  for (const method of ['GET', 'PUT', 'DELETE', 'PATCH'] as const) {
    const answer = await world.api.inject({ method, url: '/api/oauth/par' })
    assert.deepEqual(errorOf(answer), [405, 'method_not_allowed'])
    assert.equal(answer.headers.allow, 'POST')
  }
})

const unacceptable: Record<string, [Record<string, string>, string]> = {
  'a request_uri inside': [{ request_uri: 'urn:ietf:params:oauth:request_uri:x' }, 'invalid_request'],
  'a request object': [{ request: 'eyJ.eyJ.' }, 'request_not_supported'],
  'a request object that contains the redirect URI': [
    { request: 'eyJ.eyJ.', redirect_uri: '' },
    'request_not_supported',
  ],
  'another redirect URI': [{ redirect_uri: 'https://app.example/callback/' }, 'invalid_request'],
  'no redirect URI': [{ redirect_uri: '' }, 'invalid_request'],
  'another response type': [{ response_type: 'token' }, 'unsupported_response_type'],
  'a scope that the app may not have': [{ scope: 'openid user_id' }, 'invalid_scope'],
  'a plain challenge': [{ code_challenge: 'A'.repeat(43), code_challenge_method: 'plain' }, 'invalid_request'],
  'an unknown prompt': [{ prompt: 'maybe' }, 'invalid_request'],
  'an invalid max_age': [{ max_age: '-1' }, 'invalid_request'],
  'an unknown response mode': [{ response_mode: 'fragment' }, 'invalid_request'],
  'a hint that this service did not sign': [{ id_token_hint: 'eyJhbGciOiJub25lIn0.e30.' }, 'invalid_request'],
  'a registration': [{ registration: '{}' }, 'registration_not_supported'],
}
for (const [what, [fields, error]] of Object.entries(unacceptable))
  test(`a push with ${what} fails at once with ${error}`, async () => {
    assert.deepEqual(errorOf(await push(fields)), [400, error])
  })

test('a confidential app must authenticate to push, with exactly one method', async () => {
  const { client_secret: secret = '', client_id: id } = app.credentials
  const bare = { ...input(), client_id: id }
  const at = (fields: Record<string, string>, headers?: Record<string, string>) =>
    postForm(world.api, '/api/oauth/par', fields, headers)
  const basic = { authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` }
  assert.equal((await at(input(), basic)).statusCode, 201)
  assert.deepEqual(errorOf(await at(bare)), [401, 'invalid_client'])
  assert.deepEqual(errorOf(await at({ ...bare, client_secret: `${secret}x` })), [401, 'invalid_client'])
  assert.deepEqual(errorOf(await at({ ...bare, client_secret: secret }, basic)), [400, 'invalid_request'])
  assert.deepEqual(errorOf(await at({ ...input(), client_id: 'app_other' }, basic)), [400, 'invalid_request'])
  assert.deepEqual(errorOf(await at(input())), [400, 'invalid_request'])
})

test('a public app pushes without a secret and must still send a challenge', async () => {
  const spa = await world.app({ public: true })
  const fields = { ...spa.credentials, response_type: 'code', redirect_uri: spa.redirectUri, scope: 'openid' }
  assert.deepEqual(errorOf(await postForm(world.api, '/api/oauth/par', fields)), [400, 'invalid_request'])
  const withChallenge = { ...fields, code_challenge: newChallenge().challenge, code_challenge_method: 'S256' }
  assert.equal((await postForm(world.api, '/api/oauth/par', withChallenge)).statusCode, 201)
})

test('a request of an app that was changed in the meantime is checked again', async () => {
  const changed = await world.app()
  const fields = { ...changed.credentials, response_type: 'code', redirect_uri: changed.redirectUri, scope: 'openid' }
  const { request_uri: requestUri } = (await postForm(world.api, '/api/oauth/par', fields)).json()
  const patch = { redirectUris: ['https://app.example/elsewhere'] }
  const url = `/api/admin/apps/${changed.clientId}`
  await world.api.inject({ method: 'PATCH', url, headers: world.admin, payload: patch })
  const answer = await show(requestUri, { client_id: changed.clientId })
  assert.deepEqual([answer.statusCode, answer.headers.location], [400, undefined])
  const body = { clientId: changed.clientId }
  assert.deepEqual(errorOf(await consent(requestUri, body)), [400, 'invalid_redirect_uri'])
})

test('a request pushed by an app that was deleted is invalid', async () => {
  const gone = await world.app()
  const fields = { ...gone.credentials, response_type: 'code', redirect_uri: gone.redirectUri, scope: 'openid' }
  const { request_uri: requestUri } = (await postForm(world.api, '/api/oauth/par', fields)).json()
  await world.api.inject({ method: 'DELETE', url: `/api/admin/apps/${gone.clientId}`, headers: world.admin })
  const answer = await show(requestUri, { client_id: gone.clientId })
  assert.deepEqual([answer.statusCode, answer.headers.location], [400, undefined])
  assert.deepEqual(errorOf(await consent(requestUri, { clientId: gone.clientId })), [400, 'invalid_client'])
})

/** Ways to write another target, in addition to or instead of the registered redirect URI. */
const places = [
  ...['https://evil.example', '//evil.example', '/\\evil.example', 'https:evil.example', 'https:/\\evil.example'],
  ...['https://app.example@evil.example/callback', 'https://app.example:pw@evil.example/', 'https://evil.example#'],
  ...[
    'https://app.example.evil.example/callback',
    'https://app.example%2eevil.example/callback',
    'javascript:alert(1)',
  ],
  ...['https://app.example/callback/..', 'https://app.example/callback?x=1', 'https://app.example/callback#x'],
  ...['https://app.example/callback%00', 'https://app.example/callback ', ' https://app.example/callback'],
  ...['HTTPS://app.example/callback', 'https://APP.example/callback', 'https://app.example:443/callback'],
  ...['https://app.example/callback\t', 'https://app.example\\callback', 'data:text/html,x', 'file:///etc/passwd'],
]
const tricks = places.flatMap((place) => [
  { redirect_uri: place },
  { request_uri: place },
  { redirect_uri: place, request_uri: `urn:ietf:params:oauth:request_uri:${place}` },
])

test(`HDR-09 AUZ-08 none of ${tricks.length} redirect tricks with a pushed request redirects away`, async () => {
  assert.ok(tricks.length >= 50)
  for (const trick of tricks) {
    const refused = await push(trick)
    assert.equal(refused.statusCode, 400, JSON.stringify(trick))
    const requestUri = await pushed()
    const { request_uri: other, ...beside } = { request_uri: requestUri, ...trick }
    const shown = await show(other, { redirect_uri: app.redirectUri, ...beside })
    if (other === requestUri) assert.equal(viewIn(shown.body).redirectUri, app.redirectUri, JSON.stringify(trick))
    const location = shown.headers.location ?? `${app.redirectUri}?`
    assert.ok(location.startsWith(`${app.redirectUri}?`), `${JSON.stringify(trick)} leads to ${location}`)
    const { redirectUrl } = (await consent(requestUri, { redirectUri: beside.redirect_uri ?? app.redirectUri })).json()
    assert.ok(redirectUrl.startsWith(`${app.redirectUri}?code=`), JSON.stringify(trick))
  }
})

test('discovery lists the endpoint and states that pushing is optional', async () => {
  const metadata = (await world.auth.inject({ url: '/.well-known/openid-configuration' })).json()
  assert.equal(metadata.pushed_authorization_request_endpoint, `${world.config.baseUrl.origin}/api/oauth/par`)
  assert.equal(metadata.require_pushed_authorization_requests, false)
  assert.equal(metadata.request_uri_parameter_supported, false)
})
