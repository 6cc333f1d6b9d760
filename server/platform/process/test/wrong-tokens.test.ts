import assert from 'node:assert/strict'
import { createPublicKey } from 'node:crypto'
import { after, before, test } from 'node:test'
import type { AnyEndpoint, Security } from '@countersign/protocol/endpoint'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { createConnectors, type Connectors } from '#testing/connectors.ts'
import { endingQueryOf } from '#testing/ending-answers.ts'
import { byEs256, byHs256, newSigner, writeJwt } from '#testing/token-issuer.ts'
import { createWorld, postForm, type Person, type TestWorld } from '#testing/world.ts'
import { endpoints } from '#platform/process/openapi.ts'

/** Kinds of endpoints that a bearer token opens. */
type Opens = Exclude<Security, 'none' | 'client' | 'client in body' | 'fedcm session'>
type Named = { name: string; token: string; opens?: Opens }

let world: TestWorld
let sister: TestWorld
let notes: Connectors
/** A valid token that an app can exchange. */
let subjectToken: string
let tokens: Named[]
let named: string[]

before(async () => {
  ;[world, sister] = await Promise.all([createWorld(), createWorld()])
  notes = await createConnectors(world)
  // Signed like access tokens, so that the algorithm alone does not distinguish them.
  await changeApp(notes.source.clientId, { idTokenSignedResponseAlg: 'ES256' })
  const ada = await world.person()
  const expired = await expiredTokens(ada)
  const live = await liveTokens(await signedInAgain(ada))
  tokens = [...live, ...expired, ...(await endedTokens(ada)), ...(await foreignTokens()), ...(await forgedTokens())]
  named = tokens.map(({ name }) => name)
})
after(() => Promise.all([world.close(), sister.close()]))

const signedInAgain = async (person: Person): Promise<Person> => ({ ...person, headers: await person.signIn() })
const tokenIn = ({ headers }: Pick<Person, 'headers'>) => headers.authorization.replace('Bearer ', '')

/** Returns the tokens of a sign-in by their names. */
async function tokensOf(person: Person, what: string, app = notes.source): Promise<Named[]> {
  const { access_token, access_token_jwt, id_token = '', refresh_token } = await app.tokens(person)
  return [
    { name: `${what} opaque access token`, token: access_token },
    { name: `${what} access token as a JWT`, token: access_token_jwt },
    { name: `${what} ID token`, token: id_token },
    { name: `${what} refresh token`, token: refresh_token },
  ]
}

/** Returns tokens of a user that expired a month ago. */
async function expiredTokens(ada: Person): Promise<Named[]> {
  const agreed = await notes.consent(ada, { communicationMode: 'background' })
  assert.equal(agreed.statusCode, 200, agreed.body)
  const had = await tokensOf(ada, 'an expired')
  world.pass(31 * 24 * 3600)
  return [...had, { name: 'an expired session', token: ada.sessionToken }]
}

/** Returns live tokens: one that opens each kind of endpoint, and others that open none. */
async function liveTokens(ada: Person): Promise<Named[]> {
  const code = await notes.source.code(ada)
  const [opaque, jwt, ...others] = await tokensOf(ada, 'a live')
  assert.ok(opaque && jwt)
  subjectToken = jwt.token
  const { access_token: delegated } = await notes.delegated(subjectToken)
  return [
    { ...opaque, opens: 'access token' },
    { ...jwt, opens: 'access token' },
    ...others,
    { name: 'a session', token: tokenIn(ada), opens: 'session' },
    { name: 'the admin token', token: world.admin.authorization.replace('Bearer ', ''), opens: 'admin' },
    { name: 'a delegated token', token: delegated },
    { name: 'a code', token: code },
    { name: 'a client secret', token: notes.source.clientSecret },
  ]
}

/** Returns tokens that were ended early: revoked, disconnected, disabled, signed out. */
async function endedTokens(ada: Person): Promise<Named[]> {
  const revoked = await tokensOf(await signedInAgain(ada), 'a revoked')
  const { token = '' } = revoked.at(-1) ?? {}
  const revocation = await postForm(world.api, '/api/oauth/revoke', { ...notes.source.credentials, token })
  assert.equal(revocation.statusCode, 200)

  const bob = await world.person()
  const disconnected = await tokensOf(bob, 'a disconnected app’s')
  const { authorizations } = (await world.api.inject({ url: '/api/oauth/authorizations', headers: bob.headers })).json<{
    authorizations: { id: string }[]
  }>()
  assert.equal(authorizations.length, 1)
  await end(`/api/oauth/authorizations/${authorizations[0]?.id}`, bob)

  const app = await world.app()
  const disabled = await tokensOf(bob, 'a disabled app’s', app)
  await changeApp(app.clientId, { status: 'disabled' })

  const left = await signedInAgain(ada)
  await end('/api/auth/session', left)
  return [...revoked, ...disconnected, ...disabled, { name: 'a session that was ended', token: tokenIn(left) }]
}

async function changeApp(clientId: string, payload: object): Promise<void> {
  const url = `/api/admin/apps/${clientId}`
  const answer = await world.api.inject({ method: 'PATCH', url, headers: world.admin, payload })
  assert.equal(answer.statusCode, 200, answer.body)
}

async function end(url: string, { headers }: Pick<Person, 'headers'>): Promise<void> {
  const answer = await world.api.inject({ method: 'DELETE', url, headers })
  assert.equal(answer.statusCode, 204, answer.body)
}

/** Returns tokens of another service with the same issuer. */
async function foreignTokens(): Promise<Named[]> {
  const eve = await sister.person()
  const { access_token, access_token_jwt } = await (await sister.app()).tokens(eve)
  return [
    { name: 'another service’s opaque access token', token: access_token },
    { name: 'another service’s access token as a JWT', token: access_token_jwt },
    { name: 'another service’s session', token: eve.sessionToken },
    { name: 'another service’s admin token', token: sister.admin.authorization.replace('Bearer ', '') },
  ]
}

/** Returns variants of a valid JWT that an attacker can create without the service's keys. */
async function forgedTokens(): Promise<Named[]> {
  const claims = decodeJwt(subjectToken)
  const { kid = '' } = decodeProtectedHeader(subjectToken)
  const { keys } = (await world.auth.inject({ url: '/.well-known/jwks.json' })).json()
  const ours = keys.find((key: { kid: string }) => key.kid === kid)
  const pem = createPublicKey({ key: ours, format: 'jwk' }).export({ type: 'spki', format: 'pem' })
  const stranger = byEs256(newSigner().privateKey)
  const header = { alg: 'ES256', typ: 'at+jwt', kid }
  return [
    { name: 'a JWT without an algorithm', token: writeJwt({ ...header, alg: 'none' }, claims, () => Buffer.alloc(0)) },
    { name: 'a JWT by our public key', token: writeJwt({ ...header, alg: 'HS256' }, claims, byHs256(pem)) },
    { name: 'a JWT by another key', token: writeJwt(header, claims, stranger) },
    { name: 'a JWT of another issuer', token: writeJwt(header, { ...claims, iss: 'https://evil.example' }, stranger) },
    { name: 'something made up', token: `cs_session_${'x'.repeat(60)}` },
    { name: 'nothing', token: '' },
  ]
}

const hostsOf = ({ config }: AnyEndpoint) =>
  config.host === 'every host' ? ['api', 'auth', 'business'] : [config.host]
const addressOf = ({ url }: AnyEndpoint) => url.replaceAll(/:\w+/g, '00000000-0000-4000-8000-000000000000')

/** Endpoints that a bearer token opens, once per host, with the kind of that token. */
const guarded = endpoints.flatMap(({ endpoint }) => {
  const { security } = endpoint.config
  // Endpoints of FedCM use a cookie, and no bearer token opens them.
  if (security === 'none' || security === 'client' || security === 'client in body' || security === 'fedcm session')
    return []
  return hostsOf(endpoint).map((host) => ({ endpoint, security, host: host as 'api' | 'auth' | 'business' }))
})

function ask(
  { endpoint, host }: (typeof guarded)[number],
  headers: Record<string, string>,
  query = endingQueryOf(endpoint.url),
) {
  const { method } = endpoint
  const payload = method !== 'GET' && { payload: {} }
  return world[host].inject({ method, url: `${addressOf(endpoint)}${query}`, headers, ...payload })
}

const rowsOf = (table: 'audit_event' | 'session' | 'token_access_token' | 'app') =>
  world.db
    .selectFrom(table)
    .select(({ fn }) => fn.countAll<string>().as('rows'))
    .executeTakeFirstOrThrow()
const rows = () => Promise.all((['audit_event', 'session', 'token_access_token', 'app'] as const).map(rowsOf))

const refusalFor: Record<Opens, string> = {
  session: 'unauthorized',
  'access token': 'invalid_token',
  admin: 'invalid_token',
}

function refusalOf({ endpoint, security }: (typeof guarded)[number], token: string): [number, string] {
  if (token === 'nothing') return [401, 'unauthorized']
  // The token is valid, but its app is disabled (interface §7).
  if (endpoint.url === '/api/oauth/workspaces' && /^a disabled app’s .*access/.test(token))
    return [403, 'invalid_client']
  return [401, refusalFor[security]]
}

test('SES-05 DEL-15 a live token opens the endpoints of its kind and no others', async () => {
  assert.ok(guarded.length > 80 && tokens.length > 25, `${guarded.length} endpoints, ${tokens.length} tokens`)
  assert.equal(new Set(named).size, named.length)
  const before = await rows()
  for (const door of guarded)
    for (const { name, token, opens } of tokens) {
      if (opens === door.security) continue
      const answer = await ask(door, { authorization: `Bearer ${token}` })
      const received = [answer.statusCode, answer.json().error]
      assert.deepEqual(received, refusalOf(door, name), `${door.endpoint.name} with ${name}: ${answer.body}`)
    }
  assert.deepEqual(await rows(), before, 'the requests changed nothing')
})

/** The API of a demonstration app. It takes a token for its own audience, as its tests show. */
const ofDemonstration = 'GET /api/playground/calendar'

test('the right token opens each kind of endpoint, so that the rejections are meaningful', async () => {
  const opened = guarded.filter(({ endpoint }) => endpoint.method === 'GET' && endpoint.name !== ofDemonstration)
  for (const door of opened)
    for (const { name, token } of tokens.filter(({ opens }) => opens === door.security)) {
      const answer = await ask(door, { authorization: `Bearer ${token}` })
      assert.notEqual(answer.statusCode, 401, `${door.endpoint.name} with ${name}`)
    }
  assert.deepEqual([...new Set(opened.map(({ security }) => security))].toSorted(), Object.keys(refusalFor).toSorted())
})

test('a valid token is accepted only in its header: not in the URL, and only a session in a cookie', async () => {
  for (const door of guarded)
    for (const { name, token, opens } of tokens) {
      const inAddress = await ask(door, {}, `?access_token=${token}`)
      assert.equal(inAddress.statusCode, 401, `${door.endpoint.name} with ${name} in its address`)
      if (opens === 'session') continue
      const inCookie = await ask(door, { cookie: `countersign=${token}`, origin: world.config.authUrl.origin })
      assert.equal(inCookie.statusCode, 401, `${door.endpoint.name} with ${name} as a cookie`)
    }
})

test('DEL-01 DEL-02 DEL-03 DEL-06 DEL-07 DEL-16 only a live JWT of the app itself can be exchanged', async () => {
  const other = await (await world.app()).tokens(await world.person())
  const wrong = [
    ...tokens.filter(({ token }) => token !== subjectToken),
    { name: 'another app’s access token as a JWT', token: other.access_token_jwt },
  ]
  for (const { name, token } of wrong) {
    const answer = await notes.exchange(token)
    assert.deepEqual([answer.statusCode, answer.json().error], [400, 'invalid_request'], `${name}: ${answer.body}`)
  }
  assert.equal((await notes.exchange(subjectToken)).statusCode, 200)
})
