import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { inflateRawSync } from 'node:zlib'
import type { SsoConnection } from '@countersign/protocol/organizations/sso'
import { limits } from '@countersign/protocol/formats/limits'
import type { OrganizationId } from '@countersign/protocol/ids'
import { openEnterprise, type Enterprise } from '#testing/enterprise.ts'
import { pruneAssertions } from '#sso/sign-in/flow.ts'
import { join } from '#testing/organization.ts'
import { startSamlProvider, type SamlUser, type SentForm } from '#testing/saml-provider.ts'
import type { Person } from '#testing/world.ts'

type Organization = { owner: Person; organizationId: OrganizationId }
type Browser = ReturnType<Enterprise['browser']>

let enterprise: Enterprise
let world: Enterprise['world']
let idp: Awaited<ReturnType<typeof startSamlProvider>>
let acme: Organization
let connection: SsoConnection
before(async () => {
  enterprise = await openEnterprise()
  ;({ world } = enterprise)
  idp = await startSamlProvider(world.now)
  acme = await enterprise.organization(await world.person())
  await enterprise.verifyDomain(acme, 'acme.example')
  connection = await connect(acme, { domains: ['acme.example'] })
})
after(async () => {
  await idp.close()
  await enterprise.close()
})

const ask = (organization: Organization, method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, payload?: object) =>
  enterprise.send(organization.owner, method, `/${organization.organizationId}/sso-connections${path}`, payload)

async function connect(organization: Organization, settings: object = {}): Promise<SsoConnection> {
  const payload = { name: 'Acme SAML', saml: { metadataUrl: idp.metadataUrl }, ...settings }
  const made = await ask(organization, 'POST', '', payload)
  assert.equal(made.statusCode, 201, made.body)
  return made.json<{ connection: SsoConnection }>().connection
}

const metadataOf = async ({ connectionId }: SsoConnection) =>
  world.api.inject({ url: `/api/sso/${connectionId}/metadata` })
const newUser = (more: Partial<SamlUser> = {}): SamlUser => {
  const nameId = randomUUID()
  return { nameId, attributes: { email: `${nameId}@acme.example`, displayName: 'Ann Example' }, ...more }
}

/** Starts a sign-in in a browser, and sends the provider's response. */
async function answered(browser: Browser, user = newUser(), to = connection): Promise<SentForm> {
  await idp.register((await metadataOf(to)).body)
  const { location = '', ...more } = (await browser.start(to.connectionId)).headers
  assert.ok(location.startsWith('http'), JSON.stringify(more))
  return idp.approve(location, user)
}

/** Returns the error code of a browser response, which is in the page's view data. */
const refusalIn = (answer: { statusCode: number; body: string }) => [
  answer.statusCode,
  /"error":"(\w+)"/.exec(answer.body)?.[1],
]
const send = async (browser: Browser, { action, fields }: SentForm) => refusalIn(await browser.follow(action, fields))

/** Creates a user that the provider knows and that has linked the account in the browser. */
async function colleague(user = newUser()) {
  const person = await world.person()
  const browser = enterprise.browser()
  browser.bring(person)
  const { action, fields } = await answered(browser, user)
  const { location = '' } = (await browser.follow(action, fields)).headers
  const flowId = new URL(location).searchParams.get('flow') ?? ''
  const linked = await browser.page('POST', `/api/sso/arrivals/${flowId}/link`, { identityId: person.identityId })
  assert.equal(linked.statusCode, 200, linked.body)
  return { person, user }
}

async function failures(organizationId = acme.organizationId) {
  const rows = await world.db
    .selectFrom('audit_event')
    .select('details')
    .where('organization_id', '=', organizationId)
    .where('action', '=', 'sso.login.failed')
    .orderBy('event_id')
    .execute()
  return rows.map(({ details }) => (details as { because?: string }).because)
}

test("a user links the account of the organization's SAML provider, and then signs in with it", async () => {
  const { person, user } = await colleague()
  const browser = enterprise.browser()
  const { action, fields } = await answered(browser, user)
  assert.equal(action, connection.saml?.acsUrl)
  const returned = await browser.follow(action, fields)
  assert.equal(returned.headers.location, world.config.businessUrl.href)
  const session = (await browser.page('GET', '/api/auth/session')).json()
  assert.deepEqual([session.authMethod, session.user.userId], ['enterprise_sso', person.identityId])
})

test('an attribute of an assertion makes a user a member of a group', async () => {
  const groupRules = [{ claim: 'department', value: 'Sales', group: 'org:acme:sales' }]
  const ruled = await ask(acme, 'PATCH', `/${connection.connectionId}`, { groupRules })
  assert.equal(ruled.statusCode, 200, ruled.body)
  const groupsOf = async (department: string) => {
    const { nameId, attributes } = newUser()
    const { person } = await colleague({ nameId, attributes: { ...attributes, department } })
    const url = `/api/admin/identities/${person.identityId}`
    return (await world.api.inject({ url, headers: world.admin })).json().identity.groups
  }
  assert.deepEqual(await groupsOf('Sales'), ['org:acme:sales'])
  assert.deepEqual(await groupsOf('sales'), [])
  await ask(acme, 'PATCH', `/${connection.connectionId}`, { groupRules: [] })
})

test("a connection shows the values for the provider, and the provider's metadata", async () => {
  const { saml, oidc } = connection
  const base = `${world.config.baseUrl.origin}/api/sso/${connection.connectionId}`
  assert.equal(oidc, undefined)
  assert.equal(saml?.entityId, idp.entityId)
  assert.deepEqual([saml?.metadataUrl, saml?.acsUrl], [`${base}/metadata`, `${base}/acs`])
  assert.match(saml?.certificates[0]?.sha256 ?? '', /^[\da-f]{64}$/)
  const metadata = await metadataOf(connection)
  assert.equal(metadata.statusCode, 200)
  assert.match(String(metadata.headers['content-type']), /^application\/samlmetadata\+xml/)
  assert.ok(metadata.body.includes(`entityID="${base}/metadata"`))
})

test('SML-10 a response is valid in the browser that requested it, and once', async () => {
  const { user } = await colleague()
  const browser = enterprise.browser()
  const form = await answered(browser, user)
  assert.deepEqual(await send(enterprise.browser(), form), [400, 'invalid_sso_flow'])
  const other = enterprise.browser()
  await other.start(connection.connectionId)
  assert.deepEqual(await send(other, form), [400, 'invalid_sso_flow'])

  const { action, fields } = form
  const returned = await Promise.all(Array.from({ length: 32 }, () => browser.post(action, fields)))
  assert.deepEqual(returned.map(({ statusCode }) => statusCode).toSorted(), [303, ...Array(31).fill(400)])
  assert.deepEqual(await send(browser, form), [400, 'invalid_sso_flow'])
})

test('SML-10 a response to an unknown or another request signs no user in', async () => {
  const { user } = await colleague()
  const browser = enterprise.browser()
  const wrong = await answered(browser, { ...user, otherwise: { InResponseTo: `_${'0'.repeat(40)}` } })
  assert.deepEqual(await send(browser, wrong), [400, 'invalid_sso_flow'])
})

test('PRS-03 of a response to an unknown sign-in, only the root start tag is parsed', async () => {
  const browser = enterprise.browser()
  await browser.start(connection.connectionId)
  const answer = (requestId: string) =>
    Buffer.from(`<a InResponseTo="${requestId}"><b>no XML at all`).toString('base64')
  const { acsUrl = '' } = connection.saml ?? {}
  const unknown = { action: acsUrl, fields: { SAMLResponse: answer('_0') } }
  assert.deepEqual(await send(enterprise.browser(), unknown), [400, 'invalid_sso_flow'])
  assert.deepEqual(await send(browser, unknown), [400, 'invalid_sso_flow'])

  const { location = '' } = (await browser.start(connection.connectionId)).headers
  const request = inflateRawSync(Buffer.from(new URL(location).searchParams.get('SAMLRequest') ?? '', 'base64'))
  const [, requestId = ''] = / ID="([^"]+)"/.exec(request.toString('utf8')) ?? []
  const known = { action: acsUrl, fields: { SAMLResponse: answer(requestId) } }
  assert.deepEqual(await send(browser, known), [401, 'sso_response_invalid'], 'this one is parsed')
})

test('SML-13 an assertion can be used once, even for another request', async () => {
  const { user } = await colleague()
  const otherwise = { AssertionID: `_${randomUUID()}` }
  const browser = enterprise.browser()
  const first = await answered(browser, { ...user, otherwise })
  assert.deepEqual(await send(browser, first), [303, undefined])
  const second = await answered(browser, { ...user, otherwise })
  assert.deepEqual(await send(browser, second), [401, 'sso_response_invalid'])
  assert.equal((await failures()).at(-1), 'assertion_used')
})

test("SML-14 a response of one organization's provider is rejected for another", async () => {
  const other = await enterprise.organization(await world.person(), 'Other')
  const foreign = await connect(other)
  const { user } = await colleague()
  const browser = enterprise.browser()
  await browser.start(foreign.connectionId)
  const { fields } = await answered(browser, user)
  const { acsUrl = '' } = foreign.saml ?? {}
  assert.deepEqual(await send(browser, { action: acsUrl, fields }), [400, 'invalid_sso_flow'])
  const ours = await answered(browser, { ...user, otherwise: { Destination: acsUrl } }, foreign)
  const misled = await answered(
    browser,
    { ...user, otherwise: { Audience: connection.saml?.metadataUrl ?? '' } },
    foreign,
  )
  assert.deepEqual(await send(browser, misled), [401, 'sso_response_invalid'])
  assert.deepEqual(await failures(other.organizationId), ['audience'])
  assert.deepEqual(await send(browser, ours), [303, undefined])
})

test('SML-15 an unsolicited response signs no user in, nor does one of a disabled connection', async () => {
  const { user } = await colleague()
  const browser = enterprise.browser()
  const { action, fields } = await answered(browser, user)
  const samlResponse = Buffer.from(fields['SAMLResponse'] ?? '', 'base64').toString('utf8')
  const unsolicited = samlResponse.replaceAll(/ InResponseTo="[^"]*"/g, '')
  const sent = { SAMLResponse: Buffer.from(unsolicited).toString('base64') }
  assert.deepEqual(await send(browser, { action, fields: sent }), [400, 'sso_response_mismatch'])

  const disabled = await connect(acme)
  const waiting = await answered(browser, user, disabled)
  await ask(acme, 'PATCH', `/${disabled.connectionId}`, { enabled: false })
  assert.deepEqual(await send(browser, waiting), [404, 'sso_connection_unavailable'])
  assert.equal((await browser.start(disabled.connectionId)).statusCode, 404)
})

test('SML-16 HDR-09 the return URL comes from the stored sign-in, not from the response', async () => {
  const { user } = await colleague()
  for (const RelayState of ['https://evil.example', '//evil.example', 'javascript:alert(1)']) {
    const browser = enterprise.browser()
    const { action, fields } = await answered(browser, user)
    const { headers } = await browser.follow(action, { ...fields, RelayState })
    assert.equal(headers.location, world.config.businessUrl.href)
  }
})

test('SML-17 invalid metadata neither creates nor updates a connection', async () => {
  const refusalOf = async (saml: object) => {
    const answer = await ask(acme, 'POST', '', { name: 'Bad', saml })
    return [answer.statusCode, answer.json().error]
  }
  const metadata = await idp.metadata()
  const plain = metadata.replaceAll(/http:\/\/localhost:\d+\/sso/g, 'http://idp.acme.example/sso')
  assert.deepEqual(await refusalOf({ metadata: plain }), [400, 'invalid_metadata'])
  assert.deepEqual(await refusalOf({ metadata: '<x/>' }), [400, 'invalid_metadata'])
  assert.deepEqual(await refusalOf({ metadataUrl: idp.metadataUrl.replace('/metadata', '/x') }), [
    400,
    'invalid_metadata',
  ])
  assert.deepEqual(await refusalOf({ metadataUrl: 'http://10.0.0.1/metadata' }), [400, 'invalid_metadata'])
  assert.deepEqual(await refusalOf({}), [400, 'invalid_request'])
  assert.deepEqual(await refusalOf({ metadata, metadataUrl: idp.metadataUrl }), [400, 'invalid_request'])

  const other = metadata.replaceAll(idp.entityId, 'https://idp.evil.example/metadata')
  const changed = await ask(acme, 'PATCH', `/${connection.connectionId}`, { saml: { metadata: other } })
  assert.deepEqual([changed.statusCode, changed.json().error], [400, 'invalid_metadata'])
})

test("SML-17 updating the metadata replaces the provider's key, and the old key is no longer trusted", async () => {
  const { connectionId } = connection
  const { user } = await colleague()
  const browser = enterprise.browser()
  assert.deepEqual(await send(browser, await answered(browser, { ...user, key: 1 })), [401, 'sso_response_invalid'])
  const metadata = await idp.metadata(1)
  const changed = await ask(acme, 'PATCH', `/${connectionId}`, { saml: { metadata } })
  assert.equal(changed.statusCode, 200, changed.body)
  assert.deepEqual(await send(browser, await answered(browser, { ...user, key: 1 })), [303, undefined])
  assert.deepEqual(await send(browser, await answered(browser, user)), [401, 'sso_response_invalid'])
  const back = await ask(acme, 'PATCH', `/${connectionId}`, { saml: { metadataUrl: idp.metadataUrl } })
  assert.equal(back.statusCode, 200, back.body)
})

test('SML-17 SSO-14 changing keys or sign-in URL requires manage_org, not only manage_sso', async () => {
  const admin = await world.person()
  const { owner, organizationId: id } = acme
  const { memberId } = await join(world, { id, owner, role: 'admin' }, admin)
  const bring = (as: Person, metadata: string) =>
    ask({ ...acme, owner: as }, 'PATCH', `/${connection.connectionId}`, { saml: { metadata } })
  const refusalOf = async (answer: ReturnType<typeof bring>) => {
    const { statusCode, json } = await answer
    return [statusCode, json().error]
  }
  const [current, another] = await Promise.all([idp.metadata(), idp.metadata(1)])
  const [key = ''] = /<KeyDescriptor use="signing">.*?<\/KeyDescriptor>/s.exec(another) ?? []
  const both = current.replace('<KeyDescriptor', `${key}<KeyDescriptor`)
  const elsewhere = current.replaceAll(/http:\/\/localhost:\d+\/sso/g, 'https://login.evil.example/sso')
  for (const metadata of [another, both, elsewhere]) {
    assert.notEqual(metadata, current)
    assert.deepEqual(await refusalOf(bring(admin, metadata)), [403, 'insufficient_scope'])
  }
  const { user } = await colleague()
  const browser = enterprise.browser()
  assert.deepEqual(await send(browser, await answered(browser, { ...user, key: 1 })), [401, 'sso_response_invalid'])

  const confirmedAt = async () =>
    (await ask(acme, 'GET', `/${connection.connectionId}`)).json<{ connection: SsoConnection }>().connection.confirmedAt
  await enterprise.confirm(acme, connection.connectionId)
  const changed = await bring(owner, both)
  assert.equal(changed.statusCode, 200, changed.body)
  assert.equal(await confirmedAt(), null, 'changed keys need a new confirmation by an owner')
  await enterprise.confirm(acme, connection.connectionId)
  assert.equal(changed.json<{ connection: SsoConnection }>().connection.saml?.certificates.length, 2)
  for (const metadata of [both, current]) {
    const again = await bring(admin, metadata)
    assert.equal(again.statusCode, 200, again.body)
    assert.notEqual(await confirmedAt(), null)
  }
  assert.deepEqual(
    await refusalOf(bring(admin, both)),
    [403, 'insufficient_scope'],
    'a key that was removed counts as new again',
  )

  const trusted = { scopes: ['read', 'manage_sso', 'manage_org'] }
  await enterprise.send(owner, 'PATCH', `/${id}/members/${memberId}`, trusted)
  assert.equal((await bring(admin, both)).statusCode, 200)
  assert.equal((await bring(owner, current)).statusCode, 200)
})

test('SML-18 a response must be a single form field of limited size', async () => {
  const { user } = await colleague()
  const browser = enterprise.browser()
  const { action, fields } = await answered(browser, user)
  const samlResponse = fields['SAMLResponse'] ?? ''
  const path = new URL(action).pathname
  const query = new URLSearchParams({ SAMLResponse: samlResponse, SigAlg: 'x', Signature: 'x' }).toString()
  const redirected = await world.api.inject({ url: `${path}?${query}` })
  assert.deepEqual([redirected.statusCode, redirected.json().error], [405, 'method_not_allowed'])

  const post = (payload: string) =>
    world.api.inject({
      method: 'POST',
      url: path,
      payload,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
  const one = new URLSearchParams(fields).toString()
  assert.deepEqual(refusalIn(await post(`${one}&${one}`)), [400, 'invalid_request'])
  const huge = new URLSearchParams({ SAMLResponse: 'A'.repeat(limits.samlFormBytesMax) }).toString()
  assert.deepEqual(refusalIn(await post(huge)), [413, 'payload_too_large'])
  assert.deepEqual(await send(browser, { action, fields }), [303, undefined])
})

test('SML-18 responses are limited to sixty a minute from one address', async () => {
  const limited = await openEnterprise({ rateLimits: true })
  const statuses = []
  for (let sent = 0; sent <= 60; sent += 1) {
    const { statusCode } = await limited.browser().post(`/api/sso/${randomUUID()}/acs`, { SAMLResponse: 'PHgvPg==' })
    statuses.push(statusCode)
  }
  await limited.close()
  assert.deepEqual([new Set(statuses.slice(0, 60)), statuses[60]], [new Set([400]), 429])
})

test('SML-22 a logout message of a provider signs no user out', async () => {
  const base = `/api/sso/${connection.connectionId}`
  for (const path of ['slo', 'logout', 'sls'])
    for (const method of ['GET', 'POST'] as const)
      assert.equal((await world.api.inject({ method, url: `${base}/${path}` })).statusCode, 404)
  const metadata = await world.api.inject({ url: new URL(connection.saml?.metadataUrl ?? '').pathname })
  assert.match(metadata.body, /AssertionConsumerService/)
  assert.doesNotMatch(metadata.body, /SingleLogoutService|ManageNameIDService/, 'and the metadata requests none')
  const paths = Object.keys((await world.api.inject({ url: '/openapi.json' })).json().paths)
  assert.deepEqual(
    paths.filter((path) => path.startsWith('/api/sso/') && /logout|slo|sls|signout/i.test(path)),
    [],
  )
  const { user } = await colleague()
  const browser = enterprise.browser()
  const { action, fields } = await answered(browser, user)
  const request = `<samlp:LogoutRequest xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" ID="_l" Version="2.0"/>`
  const logout = { ...fields, SAMLResponse: Buffer.from(request).toString('base64') }
  assert.deepEqual(await send(browser, { action, fields: logout }), [400, 'sso_response_mismatch'])
})

test('a long response of a user in many groups is accepted', async () => {
  const { user } = await colleague()
  const browser = enterprise.browser()
  const attributes = { ...user.attributes, groups: 'cn=engineers,ou=groups,dc=acme,dc=example '.repeat(2000) }
  assert.deepEqual(await send(browser, await answered(browser, { ...user, attributes })), [303, undefined])
})

test('an OpenID Connect connection has no metadata, and a SAML connection has no secret', async () => {
  const byOidc = await enterprise.connect(acme)
  assert.equal((await metadataOf(byOidc)).statusCode, 404)
  const changed = await ask(acme, 'PATCH', `/${connection.connectionId}`, { oidc: { clientSecret: 'x' } })
  assert.deepEqual([changed.statusCode, changed.json().error], [400, 'invalid_request'])
  const { issuer } = enterprise.upstream
  const metadata = (await idp.metadata()).replaceAll(idp.entityId, issuer)
  const switched = await ask(acme, 'PATCH', `/${byOidc.connectionId}`, { saml: { metadata } })
  assert.deepEqual([switched.statusCode, switched.json().error], [400, 'invalid_metadata'])
})

test('assertion records are deleted when they have expired', async () => {
  const { user } = await colleague()
  const browser = enterprise.browser()
  await send(browser, await answered(browser, user))
  const count = async () => (await world.db.selectFrom('sso_used_assertion').select('connection_id').execute()).length
  assert.ok((await count()) > 0)
  world.pass(300 + limits.clockSkewSecondsMax)
  assert.ok((await pruneAssertions(world.db, world.now(), 500)) > 0)
  assert.equal(await count(), 0)
})
