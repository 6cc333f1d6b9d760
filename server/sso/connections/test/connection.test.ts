import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openEnterprise, type Enterprise } from '#testing/enterprise.ts'
import { createWorld, type Person } from '#testing/world.ts'

let enterprise: Enterprise
let world: Enterprise['world']
before(async () => {
  enterprise = await openEnterprise()
  ;({ world } = enterprise)
})
after(() => enterprise.close())

type Answer = { statusCode: number; body: string; json: () => Record<string, unknown> }
const errorOf = (answer: Answer) => [answer.statusCode, answer.json()['error']]
const settings = () => {
  const { issuer, clientId, clientSecret } = enterprise.upstream
  return { name: 'Acme Login', oidc: { issuer, clientId, clientSecret } }
}

async function acme() {
  const owner = await world.person()
  const { organizationId } = await enterprise.organization(owner)
  const path = `/${organizationId}/sso-connections`
  return { owner, organizationId, path }
}

/** Completes a test sign-in and returns its last page. */
async function tryOut({ owner, path }: { owner: Person; path: string }, connectionId: string) {
  const begun = await enterprise.send(owner, 'POST', `${path}/${connectionId}/test`)
  assert.equal(begun.statusCode, 200, begun.body)
  const browser = enterprise.browser()
  const { url } = begun.json<{ url: string }>()
  const { location = '' } = (await browser.get(url)).headers
  const back = enterprise.upstream.approve(location, { sub: 'ann', email: 'ann@acme.example', name: 'Ann' })
  enterprise.upstream.say({ sub: 'ann' })
  const arrived = await browser.follow(back.href)
  return { browser, url, flowId: new URL(arrived.headers.location ?? '').searchParams.get('flow') ?? '' }
}

test('a connection is created, read, updated and deleted, and no response contains its secret', async () => {
  const { owner, organizationId, path } = await acme()
  await enterprise.verifyDomain({ owner, organizationId }, 'made.example')
  const created = await enterprise.send(owner, 'POST', path, { ...settings(), domains: ['made.example'] })
  assert.equal(created.statusCode, 201, created.body)
  const { connection } = created.json()
  const { connectionId } = connection
  const { issuer, clientId, clientSecret } = enterprise.upstream
  assert.deepEqual(connection, {
    connectionId,
    name: 'Acme Login',
    enabled: true,
    domains: ['made.example'],
    oidc: { issuer, clientId, callbackUrl: `${world.config.baseUrl.origin}/api/sso/${connectionId}/callback` },
    groupRules: [],
    testedAt: null,
    confirmedAt: null,
    inUse: false,
    createdAt: world.now().toISOString(),
    updatedAt: world.now().toISOString(),
  })
  assert.deepEqual((await enterprise.send(owner, 'GET', `${path}/${connectionId}`)).json(), { connection })
  assert.deepEqual((await enterprise.send(owner, 'GET', path)).json()['connections'], [connection])

  const change = { name: 'Acme', domains: [], enabled: false, oidc: { clientSecret: 'another secret' } }
  const changed = await enterprise.send(owner, 'PATCH', `${path}/${connectionId}`, change)
  assert.deepEqual(changed.json().connection, { ...connection, name: 'Acme', domains: [], enabled: false })
  const stored = await world.db.selectFrom('sso_connection').selectAll().execute()
  assert.ok(!JSON.stringify([stored, created.body, changed.body]).includes(clientSecret))
  assert.ok(!JSON.stringify([stored, changed.body]).includes('another secret'))

  assert.equal((await enterprise.send(owner, 'DELETE', `${path}/${connectionId}`)).statusCode, 204)
  assert.deepEqual((await enterprise.send(owner, 'GET', path)).json()['connections'], [])
  const acts = await world.db
    .selectFrom('audit_event')
    .select('action')
    .where('organization_id', '=', organizationId)
    .where('action', 'like', 'sso.%')
    .orderBy('event_id')
    .execute()
  assert.deepEqual(
    acts.map(({ action }) => action),
    ['sso.connection.created', 'sso.connection.updated', 'sso.connection.deleted'],
  )
})

test('the URLs of the next connection are known before it is created, and no later one has them', async () => {
  const { owner, path } = await acme()
  const next = async () => (await enterprise.send(owner, 'GET', path)).json<{ next: { connectionId: string } }>().next
  const { origin } = world.config.baseUrl
  const first = await next()
  const start = `${origin}/api/sso/${first.connectionId}`
  const urls = { callbackUrl: `${start}/callback`, metadataUrl: `${start}/metadata`, acsUrl: `${start}/acs` }
  assert.deepEqual(first, { connectionId: first.connectionId, ...urls })
  assert.deepEqual(await next(), first)
  const { connection } = (await enterprise.send(owner, 'POST', path, settings())).json()
  assert.deepEqual([connection.connectionId, connection.oidc.callbackUrl], [first.connectionId, first.callbackUrl])
  await enterprise.send(owner, 'DELETE', `${path}/${first.connectionId}`)
  assert.notEqual((await next()).connectionId, first.connectionId)
})

test('the provider of a connection cannot change, because its subjects belong to it', async () => {
  const { owner, path } = await acme()
  const { connection } = (await enterprise.send(owner, 'POST', path, settings())).json()
  const oidc = { issuer: 'https://evil.example', clientId: 'mine', clientSecret: 'x' }
  await enterprise.send(owner, 'PATCH', `${path}/${connection.connectionId}`, { oidc })
  const read = await enterprise.send(owner, 'GET', `${path}/${connection.connectionId}`)
  assert.deepEqual(read.json().connection.oidc, connection.oidc)
})

test('SSO-04 SRF-01 SRF-08 a URL without provider is rejected without revealing its content', async (t) => {
  const { owner, path } = await acme()
  const withIssuer = (issuer: string) => ({ ...settings(), oidc: { ...settings().oidc, issuer } })
  t.after(() => enterprise.upstream.describe())
  enterprise.upstream.describe({ issuer: 'https://evil.example' })
  const lying = await enterprise.send(owner, 'POST', path, settings())
  assert.deepEqual(errorOf(lying), [400, 'invalid_issuer'])

  const closed = await enterprise.send(owner, 'POST', path, withIssuer('http://localhost:9'))
  const other = await enterprise.send(owner, 'POST', path, withIssuer(enterprise.upstream.host.at('/nothing')))
  assert.deepEqual([errorOf(closed), closed.body], [[400, 'invalid_issuer'], other.body])

  const hosted = await createWorld({
    environment: {
      BASE_URL: 'https://api.id.example.com',
      AUTH_URL: 'https://id.example.com',
      BUSINESS_URL: 'https://business.id.example.com',
      ALLOW_EMBEDDED: '1',
    },
  })
  t.after(() => hosted.close())
  const person = await hosted.person()
  const send = (url: string, payload: object) =>
    hosted.business.inject({ method: 'POST', url, headers: person.headers, payload })
  const { organization } = (await send('/api/organizations', { name: 'A', identityId: person.identityId })).json()
  for (const issuer of [
    'https://127.0.0.1',
    'https://[::1]',
    'https://10.0.0.1',
    'https://localhost',
    'http://a.example',
  ]) {
    const refused = await send(`/api/organizations/${organization.id}/sso-connections`, withIssuer(issuer))
    assert.deepEqual(errorOf(refused), [400, 'invalid_issuer'], issuer)
  }
})

test('managing connections requires recent authentication', async () => {
  const { owner, path } = await acme()
  const { connection } = (await enterprise.send(owner, 'POST', path, settings())).json()
  world.pass(301)
  for (const [method, address, payload] of [
    ['POST', path, settings()],
    ['PATCH', `${path}/${connection.connectionId}`, { enabled: false }],
    ['DELETE', `${path}/${connection.connectionId}`],
    ['POST', `${path}/${connection.connectionId}/test`],
  ] as const)
    assert.deepEqual(errorOf(await enterprise.send(owner, method, address, payload)), [
      403,
      'reauthentication_required',
    ])
})

test("a test sign-in links no account, and shows the provider's claims", async () => {
  const { owner, organizationId, path } = await acme()
  const { connection } = (await enterprise.send(owner, 'POST', path, { ...settings(), enabled: false })).json()
  const { connectionId } = connection
  const { browser, url, flowId } = await tryOut({ owner, path }, connectionId)
  const said = (await browser.page('GET', `/api/sso/arrivals/${flowId}`)).json()
  assert.deepEqual(
    [said.purpose, said.subject, said.email, said.emailVerified],
    ['test', 'ann', 'ann@acme.example', false],
  )
  browser.bring(owner)
  const { identityId } = owner
  const linked = await browser.page('POST', `/api/sso/arrivals/${flowId}/link`, { identityId })
  assert.deepEqual(errorOf(linked), [400, 'invalid_sso_flow'])
  assert.match((await enterprise.browser().get(url)).body, /invalid_sso_flow/, 'its URL works once')
  assert.match((await enterprise.browser().get(url.replace(/test=.*/, 'test=made-up'))).body, /invalid_sso_flow/)

  const tested = (await enterprise.send(owner, 'GET', `${path}/${connectionId}`)).json().connection
  assert.deepEqual([tested.testedAt, tested.inUse], [world.now().toISOString(), false], 'it is still disabled')
  await browser.get(`/api/sso/${connectionId}/arrive?flow=${flowId}`)
  const noted = await world.db
    .selectFrom('audit_event')
    .select('event_id')
    .where('organization_id', '=', organizationId)
    .where('action', '=', 'sso.connection.tested')
    .execute()
  assert.equal(noted.length, 1, 'loading the page again is not a second test')
  await enterprise.confirm({ owner, organizationId }, connectionId)
  const enabled = await enterprise.send(owner, 'PATCH', `${path}/${connectionId}`, { enabled: true })
  assert.equal(enabled.json().connection.inUse, true)
  assert.equal((await enterprise.send(owner, 'GET', `/${organizationId}`)).json().organization.ssoRequired, false)
})

test('a connection can be required only after it was tested and confirmed', async () => {
  const { owner, organizationId, path } = await acme()
  const mustSignIn = (ssoRequired: boolean) => enterprise.send(owner, 'PATCH', `/${organizationId}`, { ssoRequired })
  assert.deepEqual(errorOf(await mustSignIn(true)), [409, 'sso_connection_untested'])
  const { connectionId } = (await enterprise.send(owner, 'POST', path, settings())).json().connection
  assert.deepEqual(errorOf(await mustSignIn(true)), [409, 'sso_connection_untested'])
  await tryOut({ owner, path }, connectionId)
  await enterprise.confirm({ owner, organizationId }, connectionId)
  assert.equal((await mustSignIn(true)).statusCode, 200)

  const only = `${path}/${connectionId}`
  assert.deepEqual(errorOf(await enterprise.send(owner, 'PATCH', only, { enabled: false })), [
    409,
    'sso_connection_required',
  ])
  assert.deepEqual(errorOf(await enterprise.send(owner, 'DELETE', only)), [409, 'sso_connection_required'])
  const second = (await enterprise.send(owner, 'POST', path, settings())).json().connection.connectionId
  await tryOut({ owner, path }, second)
  assert.deepEqual(
    errorOf(await enterprise.send(owner, 'DELETE', only)),
    [409, 'sso_connection_required'],
    'the second is not required yet',
  )
  await enterprise.confirm({ owner, organizationId }, second)
  assert.equal((await enterprise.send(owner, 'DELETE', only)).statusCode, 204, 'another connection replaces it')
  assert.equal((await enterprise.send(owner, 'GET', `${path}/${second}`)).json().connection.inUse, true)
  assert.equal((await mustSignIn(false)).statusCode, 200)
  assert.equal((await enterprise.send(owner, 'PATCH', `${path}/${second}`, { enabled: false })).statusCode, 200)
})

test('GRW-17 an organization has at most ten connections, including when they are created concurrently', async () => {
  const { owner, path } = await acme()
  const answers = await Promise.all(Array.from({ length: 12 }, () => enterprise.send(owner, 'POST', path, settings())))
  assert.deepEqual(answers.map(({ statusCode }) => statusCode).toSorted(), [...Array(10).fill(201), 409, 409])
})
