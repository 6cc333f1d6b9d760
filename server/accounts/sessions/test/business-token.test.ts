import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { decodeJwt, SignJWT } from 'jose'
import { sha256 } from '#platform/crypto/secret.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'
import { endpoints } from '#platform/process/openapi.ts'

/** Three host names, as in production: a cookie of one does not reach another. */
const environment = {
  BASE_URL: 'http://api.countersign.localhost:4400',
  AUTH_URL: 'http://auth.countersign.localhost:4401',
  BUSINESS_URL: 'http://business.countersign.localhost:4402',
}

let world: TestWorld
before(async () => {
  world = await createWorld({ environment })
})
after(() => world.close())

const askForBearer = (headers: Record<string, string>) =>
  world.api.inject({ method: 'POST', url: '/api/auth/session/business', headers })

const withCookie = (sessionToken: string, origin = environment.BUSINESS_URL) => ({
  cookie: `countersign=${sessionToken}`,
  origin,
})

async function bearerOf(sessionToken: string) {
  const answer = await askForBearer(withCookie(sessionToken))
  assert.equal(answer.statusCode, 201, answer.body)
  const { businessToken, expiresInSeconds } = answer.json<{ businessToken: string; expiresInSeconds: number }>()
  assert.equal(expiresInSeconds, 300)
  return businessToken
}

const organizations = (token: string) =>
  world.business.inject({ url: '/api/organizations', headers: { authorization: `Bearer ${token}` } })

test('a page of the business host acts for the signed-in user, for five minutes at a time', async () => {
  const ada = await world.person()
  const token = await bearerOf(ada.sessionToken)
  assert.equal((await organizations(token)).statusCode, 200)
  world.pass(299)
  assert.equal((await organizations(token)).statusCode, 200)
  world.pass(2)
  const late = await organizations(token)
  assert.equal(late.statusCode, 401)
  assert.equal(late.json().error, 'unauthorized')
  assert.equal(
    (await organizations(await bearerOf(ada.sessionToken))).statusCode,
    200,
    'a new token works for another five minutes',
  )
})

test('a business token expires with its session', async () => {
  const ada = await world.person()
  const token = await bearerOf(ada.sessionToken)
  await world.api.inject({ method: 'DELETE', url: '/api/auth/session', headers: ada.headers })
  assert.equal((await organizations(token)).statusCode, 401)
  assert.equal((await askForBearer(withCookie(ada.sessionToken))).statusCode, 401)
})

test('a business token is rejected on the other hosts and cannot get another token', async () => {
  const ada = await world.person()
  const headers = { authorization: `Bearer ${await bearerOf(ada.sessionToken)}`, origin: environment.BUSINESS_URL }
  assert.equal((await askForBearer(headers)).statusCode, 401)
  const elsewhere = endpoints.filter(
    ({ endpoint: { config } }) => config.host !== 'business' && config.security === 'session',
  )
  assert.ok(elsewhere.length > 20)
  for (const { endpoint } of elsewhere) {
    const { method, url } = endpoint
    const payload = method === 'GET' ? {} : { payload: {} }
    const answer = await world.api.inject({ method, url: url.replaceAll(/:\w+/g, ada.userId), headers, ...payload })
    assert.equal(answer.statusCode, 401, `${endpoint.name}: ${answer.body}`)
  }
})

test('only pages of the business host and of the passkey host receive a business token', async () => {
  const ada = await world.person()
  const opened = await askForBearer(withCookie(ada.sessionToken, environment.AUTH_URL))
  assert.equal(opened.statusCode, 201, opened.body)
  for (const origin of [environment.BASE_URL, 'https://evil.example', 'null']) {
    const answer = await askForBearer(withCookie(ada.sessionToken, origin))
    assert.equal(answer.statusCode, 403, origin)
    assert.equal(answer.json().error, 'invalid_origin')
  }
  const program = await askForBearer(ada.headers)
  assert.equal(program.statusCode, 403, 'a client with the session token needs none')
})

test('a forged business token authenticates no user', async () => {
  const ada = await world.person()
  const claims = decodeJwt(await bearerOf(ada.sessionToken))
  const [own] = world.kernel.keyring.derive('countersign/business-session/v1')
  const [mac] = world.kernel.keyring.derive('countersign/mac/v1')
  const typ = 'business-session+jwt'
  const made = (key: Buffer, header: Record<string, string>, more = {}) =>
    new SignJWT({ ...claims, ...more }).setProtectedHeader({ alg: 'HS256', ...header }).sign(key)
  const wrong = {
    'by another key': made(sha256('made up'), { typ }),
    'by the key of another purpose': made(mac, { typ }),
    'of another type': made(own, { typ: 'at+jwt' }),
    'of no type': made(own, {}),
    'of another algorithm': made(own, { typ, alg: 'HS512' }),
    'of another issuer': made(own, { typ }, { iss: environment.AUTH_URL }),
    'for another host': made(own, { typ }, { aud: environment.BASE_URL }),
    'without an end': made(own, { typ }, { exp: undefined }),
    'of no session': made(own, { typ }, { sid: ada.userId }),
  }
  for (const [what, token] of Object.entries(wrong))
    assert.equal((await organizations(await token)).statusCode, 401, what)
  assert.equal((await organizations(await made(own, { typ }))).statusCode, 200, 'the genuine token is accepted')
})

test('where the hosts share a name, the cookie suffices, from pages of the service only', async (t) => {
  const local = await createWorld()
  t.after(() => local.close())
  const { sessionToken } = await local.person()
  const ask = (origin: string) =>
    local.business.inject({ url: '/api/organizations', headers: withCookie(sessionToken, origin) })
  assert.equal((await ask('http://localhost:4402')).statusCode, 200)
  assert.equal((await ask('http://localhost:4401')).statusCode, 200)
  assert.equal((await ask('https://evil.example')).statusCode, 403)
})
