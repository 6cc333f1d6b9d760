import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { decodeJwt } from 'jose'
import { createWorld, postForm, type Person, type TestApp, type TestWorld } from '#testing/world.ts'

let world: TestWorld
let app: TestApp
let person: Person
before(async () => {
  world = await createWorld()
  app = await world.app()
  person = await world.person()
})
after(() => world.close())

const viewIn = (body: string) => JSON.parse(/id="view">(.*)<\/script>/.exec(body)?.[1] ?? '{}')
const show = async (parameters: Record<string, string>) => {
  const query = {
    client_id: app.clientId,
    response_type: 'code',
    redirect_uri: app.redirectUri,
    scope: 'openid',
    state: 's1',
    ...parameters,
  }
  return world.auth.inject({ url: `/signin?${new URLSearchParams(query)}` })
}
const consent = (
  requested: Record<string, unknown>,
  { headers, identityId }: Pick<Person, 'headers' | 'identityId'>,
) => {
  const input = { clientId: app.clientId, redirectUri: app.redirectUri, identityId, scope: 'openid profile' }
  return world.api.inject({ method: 'POST', url: '/api/oauth/authorize', headers, payload: { ...input, ...requested } })
}

test("the page gets the app's prompt, max_age and ui_locales", async () => {
  const view = viewIn((await show({ prompt: 'consent login', max_age: '60', ui_locales: 'de-AT x <b> en' })).body)
  assert.deepEqual([view.prompts, view.maxAgeSeconds, view.languages], [['login', 'consent'], 60, ['de-AT', 'en']])
  assert.equal(view.silently, undefined)
})

test('a page for a silent request gets the errors to return to the app', async () => {
  const { silently } = viewIn((await show({ prompt: 'none' })).body)
  for (const [end, { url }] of Object.entries<{ url: string }>(silently)) {
    const answer = new URL(url)
    assert.equal(answer.origin + answer.pathname, app.redirectUri)
    assert.equal(answer.searchParams.get('error'), end)
    assert.equal(answer.searchParams.get('state'), 's1')
    assert.equal(answer.searchParams.get('iss'), 'http://localhost:4401')
  }
  assert.deepEqual(Object.keys(silently), [
    'login_required',
    'account_selection_required',
    'consent_required',
    'interaction_required',
    'access_denied',
  ])
})

test('AUZ-12 a silent request gets a code only if everything was granted before', async () => {
  const someone = await world.person()
  const first = await consent({ prompt: 'none' }, someone)
  assert.deepEqual([first.statusCode, first.json().error], [403, 'consent_required'])
  await consent({}, someone)
  assert.equal((await consent({ prompt: 'none' }, someone)).statusCode, 200)
  const more = await consent({ prompt: 'none', scope: 'openid profile offline_access' }, someone)
  assert.deepEqual([more.statusCode, more.json().error], [403, 'consent_required'])
})

test('AUZ-12 a new user_id scope requires consent again, and a silent request cannot get it', async () => {
  const someone = await world.person()
  const own = await world.app({ allowedScopes: ['openid', 'profile', 'user_id'] })
  const ask = (requested: Record<string, unknown>) => consent({ clientId: own.clientId, ...requested }, someone)
  await own.tokens(someone, { scope: 'openid profile' })
  const missing = async () => {
    const query = new URLSearchParams({ identity_id: someone.identityId, scope: 'openid profile user_id' })
    const url = `/api/oauth/authorization/${own.clientId}?${query}`
    return (await world.api.inject({ url, headers: someone.headers })).json().missingScopes
  }
  assert.deepEqual(await missing(), ['user_id'], 'which the page asks for')
  const silent = await ask({ prompt: 'none', scope: 'openid profile user_id' })
  assert.deepEqual([silent.statusCode, silent.json().error], [403, 'consent_required'])
  const unrequested = await own.tokens(someone, { scope: 'openid profile', prompt: 'none' })
  assert.equal(unrequested.user_id, undefined)
  assert.equal(decodeJwt(unrequested.access_token_jwt)['user_id'], undefined)

  assert.equal((await own.tokens(someone, { scope: 'openid user_id' })).user_id, someone.userId)
  assert.deepEqual(await missing(), [])
  assert.equal((await ask({ prompt: 'none', scope: 'openid profile user_id' })).statusCode, 200)
})

test('SES-12 FRS-03 max_age is counted in seconds without tolerance', async () => {
  const someone = await world.person()
  world.pass(20)
  for (const maxAge of [0, 1, 19]) {
    const answer = await consent({ maxAge }, someone)
    assert.deepEqual([answer.statusCode, answer.json().error], [403, 'reauthentication_required'], `${maxAge}`)
  }
  for (const maxAge of [20, 21, 10_000]) assert.equal((await consent({ maxAge }, someone)).statusCode, 200)
  world.pass(0.999)
  assert.equal((await consent({ maxAge: 20 }, someone)).statusCode, 200, 'auth_time has whole seconds')
  world.pass(0.001)
  assert.equal((await consent({ maxAge: 20 }, someone)).statusCode, 403)
})

test('FRS-05 a silent request with an outdated authentication fails with login_required', async () => {
  const someone = await world.person()
  await consent({}, someone)
  world.pass(31)
  const answer = await consent({ prompt: 'none', maxAge: 30 }, someone)
  assert.deepEqual([answer.statusCode, answer.json().error], [403, 'login_required'])
  assert.equal((await consent({ prompt: 'none', maxAge: 31 }, someone)).statusCode, 200)
})

test("a session reports the age of its authentication by the server's clock", async () => {
  const someone = await world.person()
  world.pass(42)
  const session = await world.api.inject({ url: '/api/auth/session', headers: someone.headers })
  assert.equal(session.json().secondsSinceAuthTime, 42)
})

test('an ID token hint selects the identity to sign in, also after it has expired', async () => {
  const { id_token = '' } = await app.tokens(person)
  world.pass(100_000)
  const view = viewIn((await show({ id_token_hint: id_token })).body)
  assert.equal(view.identityId, person.identityId)
})

test('OID-10 an ID token hint is accepted by POST at sign-in and sign-out, and then appears in no URL', async () => {
  const { id_token = '' } = await app.tokens({ ...person, headers: await person.signIn() })
  const input = { client_id: app.clientId, redirect_uri: app.redirectUri, response_type: 'code', scope: 'openid' }
  const posted = await postForm(world.auth, '/signin', { ...input, id_token_hint: id_token })
  const location = String(posted.headers.location)
  assert.deepEqual([posted.statusCode, location.includes(id_token)], [303, false])
  const signIn = await world.auth.inject({ url: location })
  assert.deepEqual([signIn.statusCode, viewIn(signIn.body).identityId], [200, person.identityId])
  const signOut = await postForm(world.auth, '/logout', { id_token_hint: id_token })
  assert.deepEqual([signOut.statusCode, viewIn(signOut.body).idTokenHint], [200, id_token])
  assert.equal(signOut.headers.location, undefined)
})

test('JWT-02 JWT-03 any other JWT as ID token hint is rejected', async () => {
  const {
    id_token = '',
    access_token_jwt,
    access_token,
  } = await app.tokens({ ...person, headers: await person.signIn() })
  const another = await world.app()
  const [head = '', claims = '', signature = ''] = id_token.split('.')
  const text = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const forged = text({ ...decodeJwt(id_token), sub: (await world.person()).identityId })
  const hints = [
    ...['x', access_token, access_token_jwt, `${head}.${claims}.`, `${head}.${forged}.${signature}`],
    `${text({ alg: 'none', typ: 'JWT' })}.${claims}.`,
    (await another.tokens({ ...person, headers: await person.signIn() })).id_token ?? '',
  ]
  for (const id_token_hint of hints) {
    const answer = await show({ id_token_hint })
    assert.equal(answer.statusCode, 303, id_token_hint)
    assert.equal(new URL(String(answer.headers.location)).searchParams.get('error'), 'invalid_request')
  }
  const both = await show({ id_token_hint: id_token, identity_id: (await world.person()).identityId })
  assert.equal(both.statusCode, 303)
})
