import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { type IdentityId, type OrganizationId, type SessionId, asId } from '@countersign/protocol/ids'
import { transaction } from '#platform/database/database.ts'
import { parseToken, uuidFromBytes } from '#platform/crypto/token-format.ts'
import { createConnectors, delegationsOf } from '#testing/connectors.ts'
import { signInByOrganization } from '#testing/enterprise-session.ts'
import { createOrganization } from '#testing/organization.ts'
import { signingRequesterOf, createSigner } from '#testing/signer.ts'
import { createWorld, type Person, type TestWorld } from '#testing/world.ts'
import { endpoints } from '#platform/process/openapi.ts'
import { endEnterpriseSessions } from '#tokens/families/session.ts'
import { recordSsoAuthentication, findSsoAuthentication } from '#accounts/sessions/sso-session.ts'

let world: TestWorld
before(async () => {
  world = await createWorld({ environment: { DEVELOPER_PORTAL: 'on' } })
})
after(() => world.close())

type Headers = Record<string, string>
const get = (url: string, headers: Headers) => world.api.inject({ url, headers })

/** Adds another identity to a user. */
async function addIdentity({ headers }: Pick<Person, 'headers'>): Promise<IdentityId> {
  const payload = { handle: `at-work-${randomUUID().slice(0, 8)}`, displayName: 'At work' }
  const made = await world.api.inject({ method: 'POST', url: '/api/identities', headers, payload })
  return made.json().identityId
}

/** Endpoints that the decision record opens to SSO sessions, with their conditions. */
const openWithoutPasskey = new Map(
  readFileSync(new URL('../../../../docs/decisions/0026-scope-of-enterprise-sessions.md', import.meta.url), 'utf8')
    .split('\n')
    .map((line) => /^\| `([A-Z]+ \/[^`]+)` \| ([^|]+) \| [^|]+ \|$/.exec(line) ?? [])
    .flatMap(([, name, use]) => (name === undefined || use === undefined ? [] : [[name, use] as const])),
)

test('ESS-01 SSO-12 an SSO session is accepted only by the documented endpoints', async () => {
  const forUsers = endpoints.map(({ endpoint }) => endpoint).filter(({ config }) => config.security === 'session')
  assert.ok(forUsers.length > 90 && openWithoutPasskey.size > 20)
  for (const name of openWithoutPasskey.keys())
    assert.ok(
      forUsers.some((endpoint) => endpoint.name === name),
      `${name} is not an endpoint`,
    )
  const person = await world.person()
  for (const { name, method, url, config } of forUsers) {
    assert.equal(config.ssoSession, openWithoutPasskey.get(name) ?? 'nothing', name)
    const headers = await signInByOrganization(world, person)
    const host = config.host === 'business' ? world.business : world.api
    const answer = await host.inject({ method, url: url.replaceAll(/:\w+/g, randomUUID()), headers })
    const refused = answer.statusCode === 403 && answer.json().error === 'passkey_required'
    assert.equal(!refused, openWithoutPasskey.has(name), `${name}: ${answer.statusCode} ${answer.body}`)
  }
})

test('SSO-12 an SSO session is limited to one identity and reports its authentication method', async () => {
  const person = await world.person()
  const identityId = await addIdentity(person)
  const headers = await signInByOrganization(world, person, { identityId })
  const idsOf = ({ identities }: { identities: { identityId: IdentityId }[] }) =>
    identities.map((each) => each.identityId)

  const session = (await get('/api/auth/session', headers)).json()
  assert.deepEqual([session.authMethod, idsOf(session)], ['enterprise_sso', [identityId]])
  assert.deepEqual(idsOf((await get('/api/identities', headers)).json()), [identityId])
  assert.equal((await get(`/api/identities/${identityId}`, headers)).statusCode, 200)
  const other = await get(`/api/identities/${person.identityId}`, headers)
  assert.deepEqual([other.statusCode, other.json().error], [404, 'identity_not_found'])

  const own = (await get('/api/auth/session', person.headers)).json()
  assert.deepEqual([own.authMethod, idsOf(own)], ['passkey', [person.identityId, identityId]])
})

test('ESS-05 LOG-05 SSO sessions of two identities of one user have no ID in common', async () => {
  const person = await world.person()
  const identityIds = [person.identityId, await addIdentity(person)]
  const organizationId = asId<OrganizationId>(randomUUID())
  for (const identityId of identityIds) {
    const headers = await signInByOrganization(world, person, { organizationId, identityId })
    const session = (await get('/api/auth/session', headers)).json()
    assert.equal(session.user.userId, identityId)
    assert.deepEqual((await get('/api/auth/session/current', headers)).json(), { session })
    assert.equal(JSON.stringify(session).includes(person.userId), false)
  }
  assert.equal((await get('/api/auth/session', person.headers)).json().user.userId, person.userId)
})

test('deleting an identity ends only its own sessions', async () => {
  const person = await world.person()
  const identityId = await addIdentity(person)
  const [gone, kept] = [
    await signInByOrganization(world, person, { identityId }),
    await signInByOrganization(world, person),
  ]
  const url = `/api/identities/${identityId}`
  assert.equal((await world.api.inject({ method: 'DELETE', url, headers: person.headers })).statusCode, 204)
  assert.equal((await get('/api/auth/session', gone)).statusCode, 401)
  assert.equal((await get('/api/auth/session', kept)).statusCode, 200)
})

test('an SSO authentication of a member is revoked for one connection or all', async () => {
  const person = await world.person()
  const organizationId = asId<OrganizationId>(randomUUID())
  const [one, two] = [randomUUID(), randomUUID()]
  const { session_id: sessionId } = await world.db
    .selectFrom('session')
    .select('session_id')
    .where('user_id', '=', person.userId)
    .executeTakeFirstOrThrow()
  const named = { sessionId, organizationId, connectionId: one, identityId: person.identityId }
  await transaction(world.db, (tx) => recordSsoAuthentication(tx, named, world.now()))
  const byOne = await signInByOrganization(world, person, { organizationId, connectionId: one })
  const byTwo = await signInByOrganization(world, person, { organizationId, connectionId: two })
  const elsewhere = await signInByOrganization(world, person)
  const end = (of: { connectionId?: string; identityIds: IdentityId[] }) =>
    transaction(world.db, (tx) => endEnterpriseSessions(tx, { organizationId, ...of }, world.now()))
  const isSignedIn = async (headers: Headers) => (await get('/api/auth/session', headers)).statusCode === 200

  assert.equal(await end({ identityIds: [] }), 0)
  assert.equal(await end({ identityIds: [asId<IdentityId>(randomUUID())] }), 0)
  assert.equal((await findSsoAuthentication(world.db, sessionId, organizationId, world.now()))?.connectionId, one)
  assert.equal(
    await end({ connectionId: one, identityIds: [person.identityId] }),
    1,
    'the session that the connection opened',
  )
  assert.equal(await findSsoAuthentication(world.db, sessionId, organizationId, world.now()), undefined)
  assert.deepEqual([await isSignedIn(byOne), await isSignedIn(byTwo)], [false, true])
  assert.equal(await end({ identityIds: [person.identityId] }), 1)
  const still = [await isSignedIn(byTwo), await isSignedIn(elsewhere), await isSignedIn(person.headers)]
  assert.deepEqual(still, [false, true, true])
})

test('ESS-02 an SSO session can neither read nor answer personal signing requests', async () => {
  const ada = await createSigner(world)
  const { requestId } = (await signingRequesterOf(world, await world.app()).request(ada.identityId)).json()
  const byProvider = await signInByOrganization(world, ada)
  const one = `/api/signing/requests/${requestId}`
  assert.deepEqual((await get('/api/signing/requests', byProvider)).json(), { requests: [] })
  assert.deepEqual((await get('/api/signing/pending', byProvider)).json(), { count: 0, identities: [], requests: [] })
  const [read, denied] = [
    await get(one, byProvider),
    await world.api.inject({ method: 'POST', url: `${one}/deny`, headers: byProvider }),
  ]
  for (const act of ['sign', 'approve']) {
    const payload = { signature: ada.pair.sign('Pay 10 €') }
    const answer = await world.api.inject({ method: 'POST', url: `${one}/${act}`, headers: byProvider, payload })
    assert.deepEqual([answer.statusCode, answer.json().error], [403, 'passkey_required'], act)
  }
  for (const answer of [read, denied])
    assert.deepEqual([answer.statusCode, answer.json().error], [404, 'request_not_found'])
  assert.equal((await get(one, ada.headers)).json().status, 'pending')
})

test('ESS-03 an SSO session can neither list nor end a user’s delegations', async () => {
  const ada = await createSigner(world)
  const connectors = await createConnectors(world)
  assert.equal((await connectors.consent(ada)).statusCode, 200)
  const [delegation] = await delegationsOf(world, ada)
  const byProvider = await signInByOrganization(world, ada)
  const one = `/api/oauth/delegations/${delegation.id}`
  for (const [method, url] of [
    ['GET', '/api/oauth/delegations'],
    ['GET', `${one}/uses`],
    ['DELETE', one],
    ['GET', '/api/oauth/authorizations'],
    ['DELETE', `/api/oauth/authorizations/${randomUUID()}`],
    ['GET', '/api/account/key-wraps'],
    ['GET', `/api/encryption/keys/${ada.identityId}`],
    ['GET', '/api/signing/keys'],
    ['GET', `/api/signing/keys/${ada.identityId}`],
  ] as const) {
    const answer = await world.api.inject({ method, url, headers: byProvider })
    assert.deepEqual([answer.statusCode, answer.json().error], [403, 'passkey_required'], `${method} ${url}`)
  }
  const { resourceKey, scope } = { resourceKey: delegation.targetResourceKey, scope: delegation.scope }
  const requested = { identity_id: ada.identityId, requested_resource: resourceKey, requested_scope: scope }
  const url = `/api/oauth/authorization/${delegation.sourceAppClientId}?${new URLSearchParams(requested).toString()}`
  const own = (await get(url, ada.headers)).json()
  assert.deepEqual([own.authorization.identityId, own.connector.covered], [ada.identityId, true])
  const { authorization, connector } = (await get(url, byProvider)).json()
  const nothing = { delegation: null, missingScopes: scope.split(' '), covered: false }
  assert.deepEqual([authorization, connector], [null, nothing])
  const consent = await connectors.consent({ ...ada, headers: byProvider })
  assert.equal(consent.statusCode, 403, consent.body)
  assert.equal((await delegationsOf(world, ada)).length, 1)
})

test('ESS-04 an SSO session reaches no other organization of the user', async () => {
  const ada = await world.person()
  const { id: own } = await createOrganization(world, ada)
  const { id: other } = await createOrganization(world, ada, 'Other')
  const byProvider = await signInByOrganization(world, ada, { organizationId: own })
  const ask = (url: string) => world.business.inject({ url: `/api/organizations${url}`, headers: byProvider })
  const { organizations } = (await ask('')).json()
  assert.deepEqual(
    organizations.map(({ id }: { id: string }) => id),
    [own],
  )
  assert.equal((await ask(`/${own}/members`)).statusCode, 200)
  for (const path of ['', '/members', '/audit', '/audit/export?format=jsonl', '/trail', '/invitations'])
    assert.equal((await ask(`/${other}${path}`)).statusCode, 404, path)
})

test('SSO-12 an SSO authentication survives a new sign-in of the same user only', async () => {
  const [ada, grace] = [await world.person(), await world.person()]
  const organizationId = asId<OrganizationId>(randomUUID())
  const signIn = async ({ authenticator }: Person, earlier: string): Promise<string> => {
    const headers = { cookie: `countersign=${earlier}`, origin: 'http://localhost:4401' }
    const post = (step: string, payload: object) =>
      world.api.inject({ method: 'POST', url: `/api/auth/login/${step}`, headers, payload })
    const { flowId, options } = (await post('start', {})).json()
    return (await post('finish', { flowId, credential: authenticator.authenticate(options) })).json().sessionToken
  }
  const saidIn = async (token: string) => {
    const sessionId = asId<SessionId>(uuidFromBytes(parseToken('session', token, 16) ?? new Uint8Array()))
    return (await findSsoAuthentication(world.db, sessionId, organizationId, world.now()))?.identityId
  }
  const { authorization } = await signInByOrganization(world, ada, { organizationId })
  const first = authorization.replace('Bearer ', '')
  assert.equal(await saidIn(first), ada.identityId)
  const second = await signIn(ada, first)
  assert.equal(await saidIn(second), ada.identityId)
  const forged = `${second.slice(0, -1)}${second.endsWith('A') ? 'B' : 'A'}`
  assert.equal(await saidIn(await signIn(ada, forged)), undefined, 'the session of another browser')
  assert.equal(await saidIn(second), ada.identityId)
  assert.equal(await saidIn(await signIn(grace, second)), undefined)
  const { authMethod } = (
    await get('/api/auth/session', { authorization: `Bearer ${await signIn(ada, first)}` })
  ).json()
  assert.equal(authMethod, 'passkey')
})
