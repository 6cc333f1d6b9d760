import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { decodeJwt } from 'jose'
import { prunePushedRequests } from '#oauth/authorize/pushed-request.ts'
import { createConnectors } from '#testing/connectors.ts'
import { createWorld, newChallenge, postForm, type Person, type TestApp, type TestWorld } from '#testing/world.ts'

let world: TestWorld
let app: TestApp
let person: Person
before(async () => {
  world = await createWorld()
  app = await world.app()
  person = await world.person()
})
after(() => world.close())

type Fields = Record<string, string>

const post = (fields: Fields = {}) => {
  const { clientId: client_id, redirectUri: redirect_uri } = app
  return postForm(world.auth, '/signin', { client_id, redirect_uri, response_type: 'code', scope: 'openid', ...fields })
}
const show = (url: string) => world.auth.inject({ url, headers: { accept: 'text/html' } })
const viewIn = (body: string) => JSON.parse(/id="view">(.*)<\/script>/.exec(body)?.[1] ?? '{}')

/** Posts a request and returns the URL of its page. */
async function posted(fields: Fields = {}): Promise<string> {
  const answer = await post(fields)
  assert.equal(answer.statusCode, 303, answer.body)
  const location = String(answer.headers.location)
  assert.match(location, /^\/signin\?/)
  return location
}
const referenceIn = (url: string) => new URLSearchParams(url.slice(url.indexOf('?'))).get('request_uri') ?? ''
const consent = (requestUri: string, { clientId, redirectUri }: Pick<TestApp, 'clientId' | 'redirectUri'> = app) => {
  const { headers, identityId } = person
  const payload = { clientId, redirectUri, identityId, requestUri }
  return world.api.inject({ method: 'POST', url: '/api/oauth/authorize', headers, payload })
}
const errorOf = (body: string) => [viewIn(body).page, viewIn(body).error]

test('a posted request leads to a page that the user can return to, and its URL contains nothing of it', async () => {
  const { verifier, challenge } = newChallenge()
  const pkce = { code_challenge: challenge, code_challenge_method: 'S256' }
  const page = await posted({ state: 's1', nonce: 'n1', login_hint: 'ada', ui_locales: 'de', ...pkce })
  assert.deepEqual([...new URLSearchParams(page.slice('/signin?'.length)).keys()], ['client_id', 'request_uri'])
  assert.match(referenceIn(page), /^urn:ietf:params:oauth:request_uri:posted:[\w-]{43}$/)
  for (const answer of [await show(page), await show(page)]) {
    const { page: name, state, loginHint, languages } = viewIn(answer.body)
    assert.deepEqual([name, state, loginHint, languages], ['signin', 's1', 'ada', ['de']])
  }
  const back = new URL((await consent(referenceIn(page))).json().redirectUrl).searchParams
  assert.equal(back.get('state'), 's1')
  const tokens = (await app.redeem(back.get('code') ?? '', { code_verifier: verifier })).json()
  assert.equal(decodeJwt(tokens.id_token)['nonce'], 'n1')
})

test('AUZ-14 a posted request is valid for half an hour after its first view, and for one consent', async () => {
  const slow = await posted()
  world.pass(59)
  assert.equal((await show(slow)).statusCode, 200)
  world.pass(1799)
  assert.equal((await show(slow)).statusCode, 200)
  world.pass(1)
  assert.deepEqual(errorOf((await show(slow)).body), ['error', 'invalid_request_uri'])
  assert.ok((await prunePushedRequests(world.db, world.now(), 500)) > 0)

  const fast = await posted()
  assert.equal((await consent(referenceIn(fast))).statusCode, 200)
  assert.equal((await consent(referenceIn(fast))).json().error, 'invalid_request_uri')
  assert.deepEqual(errorOf((await show(fast)).body), ['error', 'invalid_request_uri'])
})

test('another app cannot use the reference of a posted request', async () => {
  const page = await posted()
  const other = await world.app({ redirectUris: [app.redirectUri] })
  const { body } = await show(page.replace(app.clientId, other.clientId))
  assert.deepEqual(errorOf(body), ['error', 'invalid_request_uri'])
  assert.equal((await consent(referenceIn(page), other)).json().error, 'invalid_request_uri')
})

test('a posted prompt and max_age apply even if the page omits them', async () => {
  world.pass(400)
  for (const wish of [{ prompt: 'login' }, { max_age: '60' }] as Fields[]) {
    const page = await posted(wish)
    assert.equal(viewIn((await show(page)).body).requestUri, referenceIn(page), 'the passkey is used for this request')
    assert.equal((await consent(referenceIn(page))).json().error, 'reauthentication_required')
  }
})

test('a posted request for access to another app keeps that access', async () => {
  const notes = await createConnectors(world)
  const { clientId: client_id, redirectUri: redirect_uri } = notes.source
  const { resourceKey: resource } = notes
  const fields = { client_id, redirect_uri, resource, scope: 'notes.read', mode: 'background' }
  const answer = await postForm(world.auth, '/connect', fields)
  assert.equal(answer.statusCode, 303)
  const { connector } = viewIn((await show(String(answer.headers.location))).body)
  assert.deepEqual([connector.resourceKey, connector.mode], [resource, 'background'])
})

test('a pushed request that is opened by POST leads to the page with its reference', async () => {
  const { redirectUri: redirect_uri, credentials } = app
  const pushed = await postForm(world.api, '/api/oauth/par', { ...credentials, redirect_uri, response_type: 'code' })
  const { request_uri: requestUri } = pushed.json()
  const page = await posted({ request_uri: requestUri, redirect_uri: 'https://evil.example/' })
  assert.equal(referenceIn(page), requestUri)
  assert.equal(viewIn((await show(page)).body).redirectUri, redirect_uri)
  const unknown = await posted({ request_uri: `${requestUri}x` })
  assert.deepEqual(errorOf((await show(unknown)).body), ['error', 'invalid_request_uri'])
})

test('a posted request that is invalid or silent is answered at once, and nothing is stored', async () => {
  await world.db.deleteFrom('oauth_pushed_request').execute()
  const elsewhere = await post({ redirect_uri: 'https://evil.example/' })
  assert.deepEqual([elsewhere.statusCode, elsewhere.headers.location], [400, undefined])
  assert.match(String((await post({ scope: 'nonsense' })).headers.location), /error=invalid_scope/)
  assert.deepEqual(viewIn((await post({ prompt: 'none' })).body).prompts, ['none'])
  assert.deepEqual(await world.db.selectFrom('oauth_pushed_request').select('client_id').execute(), [])
})

test('GRW-26 600 posted requests of one address are stored in a minute, and then no more', async (t) => {
  const limited = await createWorld({ rateLimits: true })
  t.after(() => limited.close())
  const { clientId: client_id, redirectUri: redirect_uri } = await limited.app()
  const fields = { client_id, redirect_uri, response_type: 'code', scope: 'openid' }
  const statuses: number[] = []
  while (statuses.length < 602) statuses.push((await postForm(limited.auth, '/signin', fields)).statusCode)
  assert.deepEqual(statuses, [...Array<number>(600).fill(303), 429, 429])
  assert.equal((await limited.db.selectFrom('oauth_pushed_request').select('client_id').execute()).length, 600)
})
