import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import type { AnyEndpoint } from '@countersign/protocol/endpoint'
import { signInByOrganization } from '#testing/enterprise-session.ts'
import { asPage } from '#testing/operators.ts'
import { createWorld, type Person, type TestWorld } from '#testing/world.ts'
import { endpoints } from '#platform/process/openapi.ts'

let world: TestWorld
let ada: Person
let bob: Person
before(async () => {
  world = await createWorld()
  ada = await world.person()
  bob = await world.person()
})
after(() => world.close())

/** Sends a request without a valid body: what the guard refuses is never read further. */
function send({ method, url, config }: AnyEndpoint, headers: Record<string, string>) {
  const host = config.host === 'every host' ? 'api' : config.host
  const payload = method === 'GET' ? {} : { payload: {} }
  return world[host].inject({ method, url: url.replaceAll(/:\w+/g, randomUUID()), headers, ...payload })
}

const read = (headers: Record<string, string>) => world.api.inject({ url: '/api/auth/session', headers })
const showing = (userId: string) => ({ 'countersign-user': userId })

test('SES-20 no endpoint acts in the session of another user than the page shows', async () => {
  const ofSessions = endpoints.filter(({ endpoint }) => ['session', 'admin'].includes(endpoint.config.security))
  assert.ok(ofSessions.length > 100)
  const page = { ...asPage(world, bob.sessionToken), ...showing(ada.userId) }
  for (const { endpoint } of ofSessions) {
    const answer = await send(endpoint, page)
    assert.deepEqual([answer.statusCode, answer.json().error], [409, 'session_changed'], endpoint.name)
  }
  const { identities, user } = (await read(bob.headers)).json()
  assert.deepEqual([user.userId, identities.length], [bob.userId, 1])
})

test('SES-20 a request names the user of its session, or none', async () => {
  for (const named of [{}, showing(bob.userId), showing(bob.userId.toUpperCase())])
    assert.equal((await read({ ...bob.headers, ...named })).statusCode, 200)
  for (const named of ['', 'bob', bob.identityId, `${bob.userId}, ${bob.userId}`])
    assert.equal((await read({ ...bob.headers, ...showing(named) })).statusCode, 409, named)
})

test('SES-20 a page reads who is signed in now, also while it shows another user', async () => {
  const url = '/api/auth/session/current'
  const { session } = (await world.api.inject({ url, headers: { ...bob.headers, ...showing(ada.userId) } })).json()
  assert.equal(session.user.userId, bob.userId)
})

test('SES-20 a page of an SSO session names the identity, which is all that it knows', async () => {
  const byOrganization = await signInByOrganization(world, bob)
  const named = (await read(byOrganization)).json().user.userId
  assert.equal(named, bob.identityId)
  assert.equal((await read({ ...byOrganization, ...showing(named) })).statusCode, 200)
  assert.equal((await read({ ...byOrganization, ...showing(bob.userId) })).statusCode, 409)
})

test('SES-20 pages of every host may name the user', async () => {
  const { authUrl, businessUrl } = world.config
  for (const { origin } of [authUrl, businessUrl])
    for (const [method, url] of [
      ['DELETE', '/api/account'],
      ['POST', '/api/auth/session/business'],
    ] as const) {
      const headers = { origin, 'access-control-request-method': method }
      const { headers: allowed } = await world.api.inject({ method: 'OPTIONS', url, headers })
      assert.match(String(allowed['access-control-allow-headers']), /\bcountersign-user\b/, `${origin} ${url}`)
      assert.equal(allowed['access-control-allow-origin'], origin)
    }
})
