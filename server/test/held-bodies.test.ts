import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import type { AnyEndpoint } from '@countersign/protocol/endpoint'
import { openEnterprise, scimUser, type Enterprise } from '#testing/enterprise.ts'
import { fedcmHeaders, openBrowser } from '#testing/federated-browser.ts'
import { holdRequest, listenHere } from '#testing/held-request.ts'
import { endpoints } from '#platform/process/openapi.ts'

const businessUrl = 'http://business.countersign.localhost:4402'
let enterprise: Enterprise
let ports: Record<'api' | 'auth' | 'business', number>
before(async () => {
  const environment = { BUSINESS_URL: businessUrl, DEVELOPER_PORTAL: 'on' }
  enterprise = await openEnterprise({ environment })
  const { api, auth, business } = enterprise.world
  ports = { api: await listenHere(api), auth: await listenHere(auth), business: await listenHere(business) }
})
after(() => enterprise.close())

const json = { 'content-type': 'application/json' }
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

/** All endpoints of a kind that accept a body. */
const bodied = (security: AnyEndpoint['config']['security']) =>
  endpoints
    .map(({ endpoint }) => endpoint)
    .filter(({ method, config }) => method !== 'GET' && config.security === security)

function hold({ method, url, config: { host } }: AnyEndpoint, headers: Record<string, string>) {
  const path = url.replaceAll(/:\w+/g, randomUUID())
  const port = ports[host === 'every host' || host === undefined ? 'api' : host]
  return holdRequest(port, { method, path, headers: { ...json, ...headers }, body: '{}' })
}

type Look = { port: number; path: string; headers: Record<string, string> }

/** Requests over a separate connection: earlier data has arrived by then, and its guards are done. */
async function statusOf({ port, path, headers }: Look) {
  return (await fetch(`http://127.0.0.1:${port}${path}`, { headers })).status
}

/** Holds a request to each of these, revokes their credential, and sends the last bytes. */
async function actAfterTheEnd(
  requested: AnyEndpoint[],
  headers: Record<string, string>,
  look: Omit<Look, 'headers'>,
  end: () => Promise<unknown>,
) {
  const held = await Promise.all(requested.map(async (endpoint) => ({ endpoint, ...(await hold(endpoint, headers)) })))
  assert.equal(await statusOf({ ...look, headers }), 200)
  await end()
  assert.equal(await statusOf({ ...look, headers }), 401)
  const answers = await Promise.all(held.map(async ({ endpoint, finish }) => ({ endpoint, ...(await finish()) })))
  return answers.filter(({ status }) => status !== 401).map(({ endpoint, status }) => `${endpoint.name}: ${status}`)
}

test('SES-14 no endpoint acts for a session that ended before the last byte of the request', async () => {
  const { world } = enterprise
  const requested = bodied('session')
  assert.ok(requested.length > 60)
  const owner = await world.person()
  const look = { port: ports.api, path: '/api/auth/session' }
  const signOut = (headers: Record<string, string>) =>
    world.api.inject({ method: 'DELETE', url: '/api/auth/session', headers })

  const stolen = await owner.signIn()
  const byToken = await actAfterTheEnd(requested, stolen, look, () =>
    world.api.inject({ method: 'DELETE', url: '/api/auth/sessions', headers: owner.headers }),
  )
  assert.deepEqual(byToken, [])

  const { ofPages } = await openBrowser(world, owner)
  assert.deepEqual(await actAfterTheEnd(requested, ofPages, look, () => signOut(ofPages)), [])

  const { cookies } = await openBrowser(world, owner)
  const page = { cookie: `countersign=${cookies.main}`, origin: businessUrl }
  const opened = await world.api.inject({ method: 'POST', url: '/api/auth/session/business', headers: page })
  const business = bearer(opened.json<{ businessToken: string }>().businessToken)
  const byPage = await actAfterTheEnd(
    requested.filter(({ config }) => config.host === 'business'),
    business,
    { port: ports.business, path: '/api/organizations' },
    () => signOut(page),
  )
  assert.deepEqual(byPage, [])
})

test('SES-14 no endpoint acts for a FedCM session that ended before the last byte', async () => {
  const { world } = enterprise
  const person = await world.person()
  const { cookies, ofPages } = await openBrowser(world, person)
  const left = await actAfterTheEnd(
    bodied('fedcm session'),
    { ...fedcmHeaders, cookie: `__Host-countersign-fedcm=${cookies.federated}` },
    { port: ports.api, path: '/api/oauth/fedcm/accounts' },
    () => world.api.inject({ method: 'DELETE', url: '/api/auth/session', headers: ofPages }),
  )
  assert.deepEqual(left, [])
})

test('SES-14 no endpoint acts for an access token that ended before the last byte', async () => {
  const { world } = enterprise
  const person = await world.person()
  const app = await world.app()
  for (const kind of ['access_token', 'access_token_jwt'] as const) {
    const token = bearer((await app.tokens(person))[kind] ?? '')
    const left = await actAfterTheEnd(
      bodied('access token'),
      token,
      { port: ports.api, path: '/api/oauth/userinfo' },
      async () => {
        const { headers } = person
        const listed = await world.api.inject({ url: '/api/oauth/authorizations', headers })
        const [consent] = listed.json<{ authorizations: { id: string }[] }>().authorizations
        await world.api.inject({ method: 'DELETE', url: `/api/oauth/authorizations/${consent?.id}`, headers })
      },
    )
    assert.deepEqual(left, [])
  }
})

test('SES-14 no endpoint acts for a SCIM token that was revoked before the last byte', async () => {
  const { world } = enterprise
  const acme = await enterprise.organization(await world.person())
  const { connectionId } = await enterprise.connect(acme)
  const { token } = await enterprise.provision(acme, connectionId)
  const scim = { ...bearer(token), 'content-type': 'application/scim+json' }
  const users = `/scim/v2/${connectionId}/Users`
  const body = JSON.stringify(scimUser({ userName: 'ada', externalId: 'ada' }))
  const at = (method: string, path: string) => holdRequest(ports.api, { method, path, headers: scim, body })
  const someone = `${users}/${randomUUID()}`
  const held = await Promise.all([
    at('POST', users),
    ...['PUT', 'PATCH', 'DELETE'].map((method) => at(method, someone)),
  ])
  assert.equal(await statusOf({ port: ports.api, path: users, headers: scim }), 200)
  const fresh = { headers: await acme.owner.signIn() }
  const path = `/${acme.organizationId}/sso-connections/${connectionId}/scim-token`
  assert.equal((await enterprise.send(fresh, 'DELETE', path)).statusCode, 204)
  for (const { finish } of held) assert.equal((await finish()).status, 401)
})

test('SES-15 a delayed request replaces no recovery code once its session has ended', async () => {
  const { world } = enterprise
  const victim = await world.person()
  const stolen = await victim.signIn()
  const recoveryAuth = randomBytes(32).toString('base64url')
  const held = await holdRequest(ports.api, {
    method: 'PUT',
    path: '/api/account/recovery',
    headers: { ...json, ...stolen },
    body: JSON.stringify({ recoveryAuth, ciphertext: 'a.b.c.d.e' }),
  })
  assert.equal(await statusOf({ port: ports.api, path: '/api/auth/session', headers: stolen }), 200)
  const { headers } = victim
  assert.equal((await world.api.inject({ method: 'DELETE', url: '/api/auth/sessions', headers })).statusCode, 204)
  assert.equal((await held.finish()).status, 401)
  const payload = { handle: victim.handle, recoveryAuth }
  const recovery = await world.api.inject({ method: 'POST', url: '/api/auth/recover/start', payload })
  assert.equal(recovery.statusCode, 401, recovery.body)
  assert.equal((await world.api.inject({ url: '/api/auth/session', headers })).statusCode, 200)
})
