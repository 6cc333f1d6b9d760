import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import type { ClientId } from '@countersign/protocol/ids'
import { createConnectors, type Connectors } from '#testing/connectors.ts'
import { createWorld, newChallenge, postForm, type Person, type TestApp, type TestWorld } from '#testing/world.ts'

let world: TestWorld
let app: TestApp
let notes: Connectors
let person: Person
before(async () => {
  world = await createWorld()
  app = await world.app()
  notes = await createConnectors(world)
  person = await world.person()
})
after(() => world.close())

type Fields = Record<string, string>

const requested = (fields: Fields = {}) => {
  const { clientId: client_id, redirectUri: redirect_uri } = app
  return { client_id, redirect_uri, response_type: 'code', scope: 'openid', ...fields }
}
/** Posts a request as a browser does, which follows the redirect to the page of the stored request. */
async function post(url: '/signin' | '/connect', fields: Fields) {
  const answer = await postForm(world.auth, url, fields)
  const location = String(answer.headers.location)
  return location.startsWith('/signin?') ? world.auth.inject({ url: location }) : answer
}
const ask = (fields: Fields = {}) => post('/signin', requested({ prompt: 'login', ...fields }))
const askFrom = (remoteAddress: string) =>
  world.auth.inject({ url: `/signin?${new URLSearchParams(requested({ prompt: 'login' }))}`, remoteAddress })
const push = (fields: Fields = {}, of: Pick<TestApp, 'redirectUri' | 'credentials'> = app) =>
  postForm(world.api, '/api/oauth/par', {
    ...requested({ prompt: 'login', ...fields }),
    ...of.credentials,
    redirect_uri: of.redirectUri,
  })
const referenceIn = (body: string): string => JSON.parse(/id="view">(.*)<\/script>/.exec(body)?.[1] ?? '{}').requestUri

const keptRows = () => world.db.selectFrom('oauth_pushed_request').select(['parameters', 'connector']).execute()

/** Tells if a request is still stored: without a passkey use for it, the service asks for one. */
async function isKept(requestUri: string, { clientId, redirectUri }: Pick<TestApp, 'clientId' | 'redirectUri'> = app) {
  const { headers, identityId } = person
  const payload = { clientId, redirectUri, identityId, requestUri }
  const answer = await world.api.inject({ method: 'POST', url: '/api/oauth/authorize', headers, payload })
  return answer.json().error !== 'invalid_request_uri'
}

/** Registers an app of a user in the developer portal. */
async function registerOwn({ headers }: Person) {
  const { redirectUri } = app
  const payload = { name: 'An app of a user', redirectUris: [redirectUri] }
  const answer = await world.api.inject({ method: 'POST', url: '/api/developer/apps', headers, payload })
  assert.equal(answer.statusCode, 201, answer.body)
  const { clientId, clientSecret } = answer.json<{ clientId: ClientId; clientSecret: string }>()
  return { clientId, redirectUri, credentials: { client_id: clientId, client_secret: clientSecret } }
}

/** Stores `count` copies of the existing request, a second later. */
async function repeat(count: number): Promise<void> {
  world.pass(1)
  await sql`
    insert into oauth_pushed_request (request_uri_sha256, client_id, parameters, expires_at, source_sha256, created_at)
    select sha256(nth::text::bytea), client_id, parameters, expires_at, source_sha256, ${world.now()}
    from oauth_pushed_request, generate_series(1, ${count}::integer) nth`.execute(world.db)
  world.pass(1)
}

test('GRW-25 a stored request contains known parameters only, and at most 12 kB', async () => {
  const junk = { junk: 'x'.repeat(60_000), client_secret: 'x'.repeat(1000) }
  assert.equal((await ask(junk)).statusCode, 200)
  // The longest state, with more of everything else than legitimate requests have.
  const honest = { state: 's'.repeat(8192), nonce: 'n'.repeat(1024), ui_locales: 'de en '.repeat(300) }
  assert.equal((await ask(honest)).statusCode, 200)
  assert.equal((await push(honest)).statusCode, 201)
  const kept = await keptRows()
  assert.equal(kept.length, 3)
  for (const { parameters } of kept) assert.ok(parameters.length < 12 * 1024, `${parameters.length}`)
  assert.doesNotMatch(JSON.stringify(kept), /xxx/)
})

test('GRW-25 a larger request is rejected: as a form, for a connector, and pushed', async () => {
  const before = await keptRows()
  // Each character takes six in JSON, where control characters are escaped.
  for (const fields of [{ scope: 'openid '.repeat(2000) }, { state: '\u0001'.repeat(8000) }] as Fields[]) {
    const answer = await ask(fields)
    assert.equal(answer.statusCode, 303)
    const back = new URL(String(answer.headers.location)).searchParams
    assert.equal(back.get('error'), 'invalid_request')
    assert.match(back.get('error_description') ?? '', /too large/)
    const pushed = await push(fields)
    assert.deepEqual([pushed.statusCode, pushed.json().error], [400, 'invalid_request'])
  }
  const { clientId: client_id, redirectUri: redirect_uri } = notes.source
  const connector = { client_id, redirect_uri, resource: notes.resourceKey, prompt: 'login' }
  const small = await post('/connect', { ...connector, scope: 'notes.read' })
  assert.equal(small.statusCode, 200)
  const large = await post('/connect', { ...connector, scope: 'notes.read '.repeat(2000) })
  assert.match(String(large.headers.location), /error=invalid_request&/)
  assert.equal((await keptRows()).length, before.length + 1)
})

test('GRW-26 3,000 requests of one address are stored, and then the oldest is replaced', async () => {
  await world.db.deleteFrom('oauth_pushed_request').execute()
  const first = referenceIn((await ask()).body)
  assert.equal(await isKept(first), true)
  await repeat(2999)
  for (const address of ['198.51.100.7', '2001:db8:1:1::1', '2001:db8:1:2::1'])
    assert.equal((await askFrom(address)).statusCode, 200)
  assert.deepEqual([await isKept(first), (await keptRows()).length], [true, 3003])

  const another = referenceIn((await ask()).body)
  assert.deepEqual([await isKept(first), await isKept(another)], [false, true])
  assert.equal((await keptRows()).length, 3003, 'requests of other addresses stay')
})

test('GRW-26 the networks of one IPv6 /48 count as one address', async () => {
  await world.db.deleteFrom('oauth_pushed_request').execute()
  const first = referenceIn((await askFrom('2001:db8:7:1::1')).body)
  await repeat(2999)
  assert.equal((await askFrom('2001:db8:7:2::1')).statusCode, 200)
  assert.deepEqual([await isKept(first), (await keptRows()).length], [false, 3000])
})

test('GRW-26 3,000 pushed requests of an authenticated app are stored, and those of other apps stay', async () => {
  await world.db.deleteFrom('oauth_pushed_request').execute()
  const { request_uri: first } = (await push()).json()
  await repeat(2999)
  const stranger = await world.app()
  const publicApp = await world.app({ public: true })
  const { challenge } = newChallenge()
  const pkce = { code_challenge: challenge, code_challenge_method: 'S256' }
  assert.equal((await push({}, stranger)).statusCode, 201)
  assert.equal((await push(pkce, publicApp)).statusCode, 201)
  assert.equal(await isKept(first), true)
  assert.equal((await push()).statusCode, 201)
  assert.deepEqual([await isKept(first), (await keptRows()).length], [false, 3002])
})

test('GRW-50 3,000 pushed requests of all apps of one user are stored, and those of others stay', async () => {
  await world.db.deleteFrom('oauth_pushed_request').execute()
  const [one, two] = [await registerOwn(person), await registerOwn(person)]
  const [ofAnother, ofOperator] = [await registerOwn(await world.person()), await world.app()]
  const { request_uri: first } = (await push({}, one)).json()
  await repeat(2999)
  for (const other of [ofAnother, ofOperator]) assert.equal((await push({}, other)).statusCode, 201)
  assert.equal(await isKept(first, one), true)
  const { request_uri: last } = (await push({}, two)).json()
  assert.deepEqual([await isKept(first, one), await isKept(last, two), (await keptRows()).length], [false, true, 3002])
})

test('GRW-26 concurrent requests leave 3,000 stored', async () => {
  await world.db.deleteFrom('oauth_pushed_request').execute()
  await ask()
  await repeat(2999)
  const answers = await Promise.all(Array.from({ length: 16 }, () => ask()))
  assert.ok(answers.every(({ statusCode }) => statusCode === 200))
  assert.ok((await keptRows()).length <= 3016)
  await ask()
  assert.equal((await keptRows()).length, 3000)
})
