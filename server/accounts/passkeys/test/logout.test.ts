import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { after, before, test } from 'node:test'
import { decodeJwt } from 'jose'
import { cookieIn } from '#testing/federated-browser.ts'
import { registered, tricks } from '#testing/address-tricks.ts'
import { createWorld, postForm, type Person, type TestApp, type TestWorld } from '#testing/world.ts'
import { pruneKeys, rotateTokenSigningKeys } from '#tokens/signing-keys/rotation.ts'

const signedOut = 'https://app.example/signed-out'
const issuer = 'http://localhost:4401'
let world: TestWorld
let app: TestApp
before(async () => {
  world = await createWorld()
  app = await world.app({ postLogoutRedirectUris: [signedOut, `${signedOut}?from=countersign`] })
})
after(() => world.close())

type Headers = Record<string, string>

const viewIn = (body: string) => JSON.parse(/id="view">(.*)<\/script>/.exec(body)?.[1] ?? '{}')
/** Returns the view of the logout page that the app redirects the browser to. */
const show = async (parameters: Headers) =>
  viewIn((await world.auth.inject({ url: `/logout?${new URLSearchParams(parameters)}` })).body)
const endFor = (idTokenHint: unknown, headers: Headers) =>
  world.api.inject({ method: 'POST', url: '/api/auth/session/end', headers, payload: { idTokenHint } })
const isSignedIn = async (headers: Headers) =>
  (await world.api.inject({ url: '/api/auth/session', headers })).statusCode === 200
const idTokenOf = async (person: Pick<Person, 'headers' | 'identityId'>, from = app) =>
  (await from.tokens(person)).id_token ?? ''
const change = (target: TestApp, payload: object) =>
  world.api.inject({ method: 'PATCH', url: `/api/admin/apps/${target.clientId}`, headers: world.admin, payload })

/** Returns the headers of a request with the user's cookie from a page of the service. */
const cookieOf = ({ sessionToken }: Pick<Person, 'sessionToken'>) => ({
  cookie: `countersign=${sessionToken}`,
  origin: issuer,
})

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

test('discovery contains the end_session_endpoint', async () => {
  const metadata = (await world.auth.inject({ url: '/.well-known/openid-configuration' })).json()
  assert.equal(metadata.end_session_endpoint, `${issuer}/logout`)
})

test('SES-07 logout by the app of this session signs the user out and returns the state to the app', async () => {
  const person = await world.person()
  const tokens = await app.tokens(person)
  const code = await app.code(person)
  const hint = tokens.id_token ?? ''
  const { idTokenHint, after: afterwards } = await show({
    id_token_hint: hint,
    post_logout_redirect_uri: signedOut,
    state: 'a b&c=d',
  })
  assert.equal(idTokenHint, hint)
  assert.deepEqual(afterwards, { at: 'app', url: `${signedOut}?state=a+b%26c%3Dd` })
  assert.equal(await isSignedIn(person.headers), true, 'loading the page ends no session')

  const answer = await endFor(idTokenHint, cookieOf(person))
  assert.equal(answer.statusCode, 204)
  const cookies = [answer.headers['set-cookie']].flat()
  assert.deepEqual(
    cookies.map((cookie) => cookie?.replace(/; .*Max-Age=0;.*/, ' ends')),
    [
      ...['__Host-countersign= ends', 'countersign= ends', '__Host-countersign-fedcm= ends'],
      ...['__Host-countersign-passkey= ends', 'countersign-passkey= ends'],
    ],
  )
  assert.equal(await isSignedIn(person.headers), false)
  assert.equal((await endFor(idTokenHint, cookieOf(person))).statusCode, 401)
  assert.equal((await app.redeem(code)).json().error, 'invalid_grant')
  assert.equal((await app.refresh(tokens.refresh_token)).statusCode, 200, 'offline access stays valid')
  const rows = await world.db
    .selectFrom('audit_event')
    .select(['action', 'actor', 'client_id'])
    .where('user_id', '=', person.userId)
    .where('action', '=', 'session.revoked')
    .execute()
  assert.deepEqual(rows, [{ action: 'session.revoked', actor: 'user', client_id: app.clientId }])
})

test('an app can post the logout parameters', async () => {
  const fields = {
    id_token_hint: await idTokenOf(await world.person()),
    client_id: app.clientId,
    post_logout_redirect_uri: `${signedOut}?from=countersign`,
    state: 's1',
    logout_hint: 'ada',
    ui_locales: 'de-AT x <b> en',
  }
  const answer = await postForm(world.auth, '/logout', fields, { origin: 'https://app.example' })
  assert.equal(answer.statusCode, 200)
  assert.equal(answer.headers['set-cookie'], undefined)
  const { idTokenHint, after: afterwards, languages } = viewIn(answer.body)
  assert.equal(idTokenHint, fields.id_token_hint)
  assert.deepEqual(languages, ['de-AT', 'en'])
  assert.deepEqual(afterwards, { at: 'app', url: `${signedOut}?from=countersign&state=s1` })
})

test('OID-15 a repeated parameter of a logout counts as none, and the user can sign out', async () => {
  const hint = await idTokenOf(await world.person())
  const send = async (further: string) => {
    const payload = `${new URLSearchParams({ id_token_hint: hint, post_logout_redirect_uri: signedOut })}&${further}`
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    return Promise.all([
      world.auth.inject({ url: `/logout?${payload}` }),
      world.auth.inject({ method: 'POST', url: '/logout', headers, payload }),
    ])
  }
  const expected: [string, string | undefined, object][] = [
    ['state=a&state=b', hint, { at: 'app', url: signedOut }],
    ['other=1&other=2&resource=3&resource=4', hint, { at: 'app', url: signedOut }],
    [`post_logout_redirect_uri=${encodeURIComponent(signedOut)}`, hint, { at: 'here', refused: false }],
    [`id_token_hint=${hint}&state=a`, undefined, { at: 'here', refused: false }],
    ['client_id=app_other&client_id=app_other&state=a', hint, { at: 'app', url: `${signedOut}?state=a` }],
    ['ui_locales=de&ui_locales=en&state=', hint, { at: 'app', url: signedOut }],
  ]
  for (const [further, idTokenHint, afterwards] of expected)
    for (const { statusCode, body } of await send(further)) {
      assert.equal(statusCode, 200, further)
      const view = viewIn(body)
      assert.deepEqual([view.page, view.idTokenHint, view.after], ['logout', idTokenHint, afterwards], further)
    }
})

test('HDR-01 a logout keeps no opener, which could see whether the visitor is signed in', async () => {
  const hint = { id_token_hint: await idTokenOf(await world.person()) }
  for (const parameters of [{}, hint, { ...hint, post_logout_redirect_uri: signedOut }])
    for (const answer of [
      await world.auth.inject({ url: `/logout?${new URLSearchParams(parameters)}` }),
      await postForm(world.auth, '/logout', parameters, { origin: 'https://app.example' }),
    ]) {
      assert.equal(viewIn(answer.body).page, 'logout')
      assert.equal(answer.headers['cross-origin-opener-policy'], 'same-origin')
    }
})

test('a logout without state returns none, and one without a redirect URI stays on the page', async () => {
  const id_token_hint = await idTokenOf(await world.person())
  const back = await show({ id_token_hint, post_logout_redirect_uri: signedOut })
  assert.deepEqual(back.after, { at: 'app', url: signedOut })
  assert.deepEqual((await show({ id_token_hint, state: 's1' })).after, { at: 'here', refused: false })
})

test('an expired ID token and one of a retired key sign out too', async () => {
  const person = await world.person()
  const id_token_hint = await idTokenOf(person)
  await rotateTokenSigningKeys(world.kernel, { actor: 'operator', kind: 'break_glass' }, { atOnce: true }, world.now())
  world.pass(25 * 3600)
  await pruneKeys(world.db, world.now())
  assert.ok((decodeJwt(id_token_hint).exp ?? 0) * 1000 < world.now().getTime())
  const { idTokenHint, after: afterwards } = await show({ id_token_hint, post_logout_redirect_uri: signedOut })
  assert.deepEqual(afterwards, { at: 'app', url: signedOut })
  assert.equal((await endFor(idTokenHint, person.headers)).statusCode, 204)
})

test('SES-02 a genuine ID token of another session signs no user out', async () => {
  const [ada, grace] = [await world.person(), await world.person()]
  const hint = await idTokenOf(ada)
  const again = await ada.signIn()
  for (const headers of [again, grace.headers]) {
    const answer = await endFor(hint, headers)
    assert.deepEqual([answer.statusCode, answer.json().error], [403, 'interaction_required'])
    assert.equal(await isSignedIn(headers), true)
  }
  assert.equal(await isSignedIn(ada.headers), true)
  const view = await show({ id_token_hint: hint, post_logout_redirect_uri: signedOut })
  assert.deepEqual(view.after, { at: 'app', url: signedOut }, 'the app is identified nevertheless')
})

/** Signs a user in with a passkey in a browser; returns the headers of its requests from then on. */
async function signInWithin(browser: Headers, person: Person): Promise<Headers> {
  const start = { method: 'POST', url: '/api/auth/login/start', payload: {} } as const
  const { flowId, options } = (await world.api.inject(start)).json()
  const payload = { flowId, credential: person.authenticator.authenticate(options) }
  const finish = { method: 'POST', url: '/api/auth/login/finish', headers: browser, payload } as const
  return cookieOf({ sessionToken: cookieIn(await world.api.inject(finish), 'countersign') ?? '' })
}

test('SES-19 an ID token of a session that the same user replaced in the same browser signs the user out', async () => {
  const person = await world.person()
  const hint = await idTokenOf(person)
  const second = await signInWithin(cookieOf(person), person)
  const third = await signInWithin(second, person)
  assert.equal((await endFor(hint, second)).statusCode, 401, 'a replaced session has ended')
  assert.equal((await endFor(hint, third)).statusCode, 204)
  assert.equal(await isSignedIn(third), false)
})

test('SES-19 an ID token of another browser, or from before another user, signs no user out', async () => {
  const [ada, grace] = [await world.person(), await world.person()]
  const hint = await idTokenOf(ada)
  const isRefused = async (headers: Headers, what: string) => {
    const answer = await endFor(hint, headers)
    assert.deepEqual([answer.statusCode, answer.json().error], [403, 'interaction_required'], what)
    assert.equal(await isSignedIn(headers), true, what)
  }
  await isRefused(await signInWithin(await signInWithin({}, ada), ada), 'another browser')
  const ofGrace = await signInWithin(cookieOf(ada), grace)
  await isRefused(ofGrace, 'another user')
  await isRefused(await signInWithin(ofGrace, ada), 'after another user')
})

test('SES-19 a session knows the last ten that it replaced', async () => {
  const person = await world.person()
  const hint = await idTokenOf(person)
  let browser: Headers = cookieOf(person)
  for (let nth = 1; nth <= 11; nth += 1) browser = await signInWithin(browser, person)
  assert.equal((await endFor(hint, browser)).json().error, 'interaction_required')
  const rows = world.db.selectFrom('session').select('replaced_session_ids as replaced')
  const counts = (await rows.where('user_id', '=', person.userId).execute()).map(({ replaced }) => replaced.length)
  assert.deepEqual(counts, [10])
})

/** Forges ID tokens from a genuine one: invalid tokens, and tokens of other apps. */
async function forgeries(person: Person): Promise<Record<string, string>> {
  const { id_token: genuine = '', access_token: opaque, access_token_jwt: accessToken } = await app.tokens(person)
  const [header = '', claims = '', signature = ''] = genuine.split('.')
  const symmetric = `${part({ alg: 'HS256', typ: 'JWT' })}.${claims}`
  const mac = createHmac('sha256', app.clientSecret).update(symmetric).digest('base64url')
  const strange = { ...decodeJwt(genuine), aud: 'app_somebody' }
  return {
    'no token': 'id-token',
    'alg none': `${part({ alg: 'none', typ: 'JWT' })}.${claims}.`,
    'alg none with the signature': `${part({ alg: 'none', typ: 'JWT' })}.${claims}.${signature}`,
    'no signature': `${header}.${claims}.`,
    'signed with the secret of the app': `${symmetric}.${mac}`,
    'other claims': `${header}.${part(strange)}.${signature}`,
    'another signature': `${header}.${claims}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`,
    'an access token': accessToken,
    'an opaque token': opaque,
    'a header that is no JSON': `e30x.${claims}.${signature}`,
    'claims that are no object': `${header}.${part([1])}.${signature}`,
    'a key id that is no text': `${part({ alg: 'RS256', typ: 'JWT', kid: 1 })}.${claims}.${signature}`,
    'extensions that must be known': `${part({ alg: 'RS256', typ: 'JWT', crit: ['x'], x: 1 })}.${claims}.${signature}`,
    'two in one': `${genuine}.${genuine}`,
  }
}

test('JWT-02 JWT-03 HDR-09 an invalid ID token causes no redirect and ends no session', async () => {
  const person = await world.person()
  for (const [what, id_token_hint] of Object.entries(await forgeries(person))) {
    for (const client of [{}, { client_id: app.clientId }]) {
      const view = await show({ id_token_hint, post_logout_redirect_uri: signedOut, state: 's1', ...client })
      assert.deepEqual([view.page, view.idTokenHint], ['logout', undefined], what)
      assert.deepEqual(view.after, { at: 'here', refused: false }, what)
    }
    const answer = await endFor(id_token_hint, person.headers)
    assert.deepEqual([answer.statusCode, answer.json().error], [403, 'interaction_required'], what)
  }
  assert.equal(await isSignedIn(person.headers), true)
})

test('HDR-09 client_id alone does not cause a redirect to the app', async () => {
  for (const parameters of [{}, { client_id: app.clientId }, { client_id: app.clientId, logout_hint: 'ada' }]) {
    const view = await show({ ...parameters, post_logout_redirect_uri: signedOut, state: 's1' })
    assert.deepEqual([view.idTokenHint, view.after], [undefined, { at: 'here', refused: false }])
  }
})

test('HDR-09 an ID token is accepted only for its own app, if the app is registered and active', async () => {
  const [person, mine, other] = [await world.person(), await world.app(), await world.app()]
  await change(mine, { postLogoutRedirectUris: ['https://mine.example/bye'] })
  await change(other, { postLogoutRedirectUris: ['https://other.example/bye'] })
  const id_token_hint = await idTokenOf(person, mine)
  const own = { id_token_hint, post_logout_redirect_uri: 'https://mine.example/bye' }
  const others = { id_token_hint, post_logout_redirect_uri: 'https://other.example/bye' }
  const nowhere = { at: 'here', refused: false }
  assert.deepEqual((await show(own)).after, { at: 'app', url: 'https://mine.example/bye' })
  assert.deepEqual((await show(others)).after, { at: 'here', refused: true })
  for (const requested of [own, others]) {
    const contradicted = await show({ ...requested, client_id: other.clientId })
    assert.deepEqual([contradicted.idTokenHint, contradicted.after], [undefined, nowhere])
  }
  await change(mine, { status: 'disabled' })
  const disabled = await show(own)
  assert.deepEqual([disabled.idTokenHint, disabled.after], [undefined, nowhere])
})

test('AUZ-08 HDR-09 logout never redirects to a URI that only resembles a registered one', async () => {
  const shop = await world.app({ postLogoutRedirectUris: [registered, 'http://127.0.0.1:4711/native'] })
  const id_token_hint = await idTokenOf(await world.person(), shop)
  assert.ok(tricks.length >= 200)
  for (const post_logout_redirect_uri of tricks.filter((trick) => trick !== '')) {
    const query = new URLSearchParams({ id_token_hint, post_logout_redirect_uri, state: 's1' })
    const { statusCode, headers, body } = await world.auth.inject({ url: `/logout?${query}` })
    assert.equal(headers.location, undefined, post_logout_redirect_uri)
    const { page, after: afterwards } = viewIn(body)
    if (statusCode === 400) assert.equal(page, 'error', post_logout_redirect_uri)
    else assert.deepEqual(afterwards, { at: 'here', refused: true }, post_logout_redirect_uri)
  }
})

test('HDR-09 redirect URIs are not post-logout redirect URIs, nor the other way round', async () => {
  const id_token_hint = await idTokenOf(await world.person())
  const view = await show({ id_token_hint, post_logout_redirect_uri: app.redirectUri })
  assert.deepEqual(view.after, { at: 'here', refused: true })
  const query = new URLSearchParams({ client_id: app.clientId, redirect_uri: signedOut, scope: 'openid' })
  assert.equal((await world.auth.inject({ url: `/signin?${query}` })).statusCode, 400)
})

test('HDR-09 a repeated redirect URI leads nowhere', async () => {
  const id_token_hint = await idTokenOf(await world.person())
  const query = new URLSearchParams({ id_token_hint, post_logout_redirect_uri: signedOut })
  query.append('post_logout_redirect_uri', 'https://evil.example/')
  const answer = await world.auth.inject({ url: `/logout?${query}` })
  assert.deepEqual([answer.statusCode, answer.headers.location], [200, undefined])
  assert.deepEqual(viewIn(answer.body).after, { at: 'here', refused: false })
})

test('SES-08 another site ends no session, even with the ID token', async () => {
  const person = await world.person()
  const hint = await idTokenOf(person)
  const { cookie } = cookieOf(person)
  for (const headers of [
    { cookie, origin: 'https://app.example' },
    { cookie, 'sec-fetch-site': 'cross-site' },
  ]) {
    const answer = await endFor(hint, headers)
    assert.deepEqual([answer.statusCode, answer.json().error], [403, 'invalid_origin'])
  }
  const asText = await world.api.inject({
    method: 'POST',
    url: '/api/auth/session/end',
    headers: { cookie, origin: issuer, 'content-type': 'text/plain' },
    payload: JSON.stringify({ idTokenHint: hint }),
  })
  assert.equal(asText.statusCode, 415)
  assert.equal(await isSignedIn(person.headers), true)
})

test('an ID token that is too long or not text is rejected', async () => {
  const { headers } = await world.person()
  for (const hint of [undefined, null, 1, [], {}, 'x'.repeat(20_000)])
    assert.equal((await endFor(hint, headers)).json().error, 'invalid_request')
  assert.equal(await isSignedIn(headers), true)
})
