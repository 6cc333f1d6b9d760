import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { decodeJwt } from 'jose'
import { createConnectors } from '#testing/connectors.ts'
import { newParams, openBrowser } from '#testing/federated-browser.ts'
import { createWorld, newChallenge, postForm, type Person, type TestApp, type TestWorld } from '#testing/world.ts'

let world: TestWorld
let app: TestApp
before(async () => {
  world = await createWorld()
  app = await world.app()
})
after(() => world.close())

type Fields = Record<string, string>
type Headers = Record<string, string>
type Asking = { headers: Headers; identityId: string }

const viewIn = (body: string) => JSON.parse(/id="view">(.*)<\/script>/.exec(body)?.[1] ?? '{}')
const open = async (parameters: Fields, path = '/signin') => {
  const query = {
    client_id: app.clientId,
    response_type: 'code',
    redirect_uri: app.redirectUri,
    scope: 'openid',
    state: 's1',
    ...parameters,
  }
  const page = await world.auth.inject({ url: `${path}?${new URLSearchParams(query)}` })
  assert.equal(page.statusCode, 200, page.body)
  return viewIn(page.body)
}
const push = async (parameters: Fields): Promise<string> => {
  const fields = {
    ...app.credentials,
    response_type: 'code',
    redirect_uri: app.redirectUri,
    scope: 'openid',
    state: 's1',
    ...parameters,
  }
  const answer = await postForm(world.api, '/api/oauth/par', fields)
  assert.equal(answer.statusCode, 201, answer.body)
  return answer.json().request_uri
}
const post = (url: string, payload: object, headers: Headers = {}) =>
  world.api.inject({ method: 'POST', url, headers, payload })
const consent = ({ headers, identityId }: Asking, requested: object) => {
  const input = { clientId: app.clientId, redirectUri: app.redirectUri, identityId, scope: 'openid' }
  return post('/api/oauth/authorize', { ...input, ...requested }, headers)
}
const codeIn = (answer: { statusCode: number; body: string }) => {
  assert.equal(answer.statusCode, 200, answer.body)
  return new URL(JSON.parse(answer.body).redirectUrl).searchParams.get('code') ?? ''
}
const assertRefused = (answer: { statusCode: number; json: () => { error: string } }, why: string) =>
  assert.deepEqual([answer.statusCode, answer.json().error], [403, 'reauthentication_required'], why)

/** Uses the passkey of a user in their session, for a request if its reference is given. */
async function proveAgain({ authenticator, headers }: Asking & Pick<Person, 'authenticator'>, requestUri?: string) {
  const body = requestUri === undefined ? {} : { requestUri }
  const { flowId, options } = (await post('/api/auth/reauthenticate/start', body, headers)).json()
  const credential = authenticator.authenticate(options)
  assert.equal((await post('/api/auth/reauthenticate/finish', { flowId, credential }, headers)).statusCode, 200)
}

/** Signs a user in as another browser would, for a request. */
async function signInFor({ authenticator }: Person, requestUri: string): Promise<Headers> {
  const { flowId, options } = (await post('/api/auth/login/start', { requestUri })).json()
  const credential = authenticator.authenticate(options)
  const { sessionToken } = (await post('/api/auth/login/finish', { flowId, credential })).json()
  return { authorization: `Bearer ${sessionToken}` }
}

test('FRS-01 a session without its passkey gets no code if the app requires authentication', async () => {
  const victim = await world.person()
  const { requestUri } = await open({ prompt: 'login' })
  for (const requested of [
    { requestUri },
    { prompt: 'login' },
    { requestUri, prompt: 'consent' },
    { prompt: 'login consent' },
  ])
    assertRefused(await consent(victim, requested), `the session is new, yet ${JSON.stringify(requested)}`)
  await proveAgain(victim)
  assertRefused(await consent(victim, { requestUri }), 'the passkey was used, but not for this request')
})

test('FRS-02 a passkey use for the request counts, both by signing in and by re-authenticating', async () => {
  const person = await world.person()
  const again = await open({ prompt: 'login' })
  await proveAgain(person, again.requestUri)
  const code = codeIn(await consent(person, { requestUri: again.requestUri }))
  assert.equal((await app.redeem(code)).statusCode, 200)

  const { requestUri } = await open({ prompt: 'login' })
  const headers = await signInFor(person, requestUri)
  codeIn(await consent({ ...person, headers }, { requestUri }))
})

test('FRS-02 a passkey use counts for its own request only, and once', async () => {
  const person = await world.person()
  const [first, second] = [await open({ prompt: 'login' }), await open({ prompt: 'login' })]
  assert.notEqual(first.requestUri, second.requestUri)
  await proveAgain(person, first.requestUri)
  assertRefused(await consent(person, { requestUri: second.requestUri }), 'another request')
  codeIn(await consent(person, { requestUri: first.requestUri }))
  const twice = await consent(person, { requestUri: first.requestUri })
  assert.deepEqual([twice.statusCode, twice.json().error], [400, 'invalid_request_uri'])
})

test('FRS-02 a passkey use by another user or in another session does not count', async () => {
  const [person, other] = [await world.person(), await world.person()]
  const { requestUri } = await open({ prompt: 'login' })
  await proveAgain(other, requestUri)
  assertRefused(await consent(person, { requestUri }), 'another user')
  await signInFor(person, requestUri)
  assertRefused(await consent(person, { requestUri }), 'another session of the same user')
})

test('FRS-03 max_age requires a passkey use for this request in an old session, but not in a new one', async () => {
  const person = await world.person()
  world.pass(40)
  codeIn(await consent(person, { requestUri: (await open({ max_age: '40' })).requestUri }))
  const { requestUri } = await open({ max_age: '1' })
  assertRefused(await consent(person, { requestUri }), 'too old')
  await proveAgain(person, requestUri)
  world.pass(120)
  const code = codeIn(await consent(person, { requestUri }))
  const { id_token: idToken } = (await app.redeem(code)).json()
  assert.equal(decodeJwt(idToken)['auth_time'], Math.floor(world.now().getTime() / 1000) - 120)
})

test('FRS-03 a passkey use for a request counts for five minutes', async () => {
  const person = await world.person()
  const { requestUri } = await open({ prompt: 'login' })
  await proveAgain(person, requestUri)
  world.pass(301)
  assertRefused(await consent(person, { requestUri }), 'too old')
  await proveAgain(person, requestUri)
  codeIn(await consent(person, { requestUri }))
})

test('FRS-04 the page cannot strip parameters from a pushed request', async () => {
  const victim = await world.person()
  const { challenge, verifier } = newChallenge()
  const secret = { nonce: 'n-of-the-app', code_challenge: challenge, code_challenge_method: 'S256' }
  for (const demand of [{ prompt: 'login' }, { max_age: '0' }]) {
    const requestUri = await push({ ...demand, ...secret })
    const page = await world.auth.inject({
      url: `/signin?${new URLSearchParams({ client_id: app.clientId, request_uri: requestUri })}`,
    })
    assert.ok(!page.body.includes(secret.nonce), 'the page does not know the nonce')
    assert.ok(!page.body.includes(challenge), 'the page does not know the challenge')
    world.pass(1)
    assertRefused(await consent(victim, { requestUri, prompt: '', maxAge: 10_000 }), JSON.stringify(demand))
    const stripped = codeIn(await consent(victim, {}))
    assert.equal((await app.redeem(stripped, { code_verifier: verifier })).json().error, 'invalid_grant')
    await proveAgain(victim, requestUri)
    const code = codeIn(await consent(victim, { requestUri }))
    const { id_token: idToken } = (await app.redeem(code, { code_verifier: verifier })).json()
    assert.equal(decodeJwt(idToken)['nonce'], secret.nonce)
  }
})

test('FRS-04 a request from the browser is stored unchanged, and its reference opens no page', async () => {
  const person = await world.person()
  const { challenge, verifier } = newChallenge()
  const input = { nonce: 'n1', code_challenge: challenge, code_challenge_method: 'S256', prompt: 'login' }
  const { requestUri, ...view } = await open({ ...input, scope: 'openid profile' })
  assert.deepEqual([view.nonce, view.codeChallenge, view.state], [undefined, undefined, 's1'])
  await proveAgain(person, requestUri)
  const stranger = await world.app()
  const foreign = await consent(person, { requestUri, clientId: stranger.clientId })
  assert.deepEqual([foreign.statusCode, foreign.json().error], [400, 'invalid_request_uri'])
  const sent = {
    requestUri,
    nonce: 'n2',
    codeChallenge: newChallenge().challenge,
    redirectUri: 'https://evil.example/',
  }
  const tokens = (await app.redeem(codeIn(await consent(person, sent)), { code_verifier: verifier })).json()
  assert.equal(decodeJwt(tokens.id_token)['nonce'], 'n1')

  const kept = (await open({ prompt: 'login' })).requestUri
  const query = new URLSearchParams({ client_id: app.clientId, redirect_uri: app.redirectUri, request_uri: kept })
  const reopened = await world.auth.inject({ url: `/signin?${query}` })
  assert.match(String(reopened.headers.location), /error=request_uri_not_supported/)
  world.pass(30 * 60)
  const late = await consent(person, { requestUri: kept })
  assert.deepEqual([late.statusCode, late.json().error], [400, 'invalid_request_uri'])
})

test('FRS-04 a request that requires or allows no authentication is not stored', async () => {
  const before = await world.db.selectFrom('oauth_pushed_request').select('client_id').execute()
  for (const parameters of [{}, { prompt: 'consent' }, { prompt: 'none', max_age: '1' }])
    assert.equal((await open(parameters)).requestUri, undefined)
  const after = await world.db.selectFrom('oauth_pushed_request').select('client_id').execute()
  assert.equal(after.length, before.length)
})

test('FRS-06 an app that requests a delegation gets the authentication that it requires too', async () => {
  const notes = await createConnectors(world)
  const person = await world.person()
  const { clientId: client_id, redirectUri: redirect_uri } = notes.source
  const input = { client_id, redirect_uri, resource: notes.resourceKey, scope: 'notes.read', mode: 'background' }
  const { requestUri, connector } = await open({ ...input, prompt: 'login' }, '/connect')
  const sent = { requestUri, clientId: client_id, redirectUri: redirect_uri, requestedResourceId: connector.resourceId }
  assertRefused(await consent(person, sent), 'a session alone')
  await proveAgain(person, requestUri)
  codeIn(await consent(person, { ...sent, scope: '', connector: false, requestedScope: 'notes.write' }))
  const listed = await world.api.inject({ url: '/api/oauth/delegations', headers: person.headers })
  const [delegation] = listed.json<{ delegations: { scopes?: string[]; scope?: string }[] }>().delegations
  assert.match(JSON.stringify(delegation), /notes\.read/)
  assert.doesNotMatch(JSON.stringify(delegation), /notes\.write/)
})

test('FRS-07 a FedCM sign-in is finished only after the authentication that the app requires', async () => {
  const person = await world.person()
  await app.tokens(person, { scope: 'openid' })
  const browser = await openBrowser(world, person)
  const { clientId } = app
  const begin = async () => {
    const { params } = newParams('openid')
    const { there } = await browser.open(
      (await browser.assertion(app, { ...params, prompt: 'login' })).json().continue_on,
    )
    return there
  }

  const stripped = await browser.codeOf(await begin())
  assert.equal((await browser.finalize({ ...stripped, clientId })).json().error, 'invalid_grant')

  const there = await begin()
  const { requestUri } = await open(Object.fromEntries(there.searchParams))
  assertRefused(await browser.agree(there, { requestUri }), 'a session alone')
  await proveAgain({ ...person, headers: browser.ofPages }, requestUri)
  const finished = await browser.finalize({ ...(await browser.codeOf(there, { requestUri })), clientId })
  assert.equal(finished.statusCode, 200, finished.body)
})
