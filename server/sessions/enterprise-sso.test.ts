import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { transaction } from '#kernel/database.ts'
import { readToken, uuidFromBytes } from '#kernel/token-format.ts'
import { createConnectors, delegationsOf } from '#testing/connectors.ts'
import { signInByOrganization } from '#testing/enterprise-session.ts'
import { askerOf, createSigner } from '#testing/signer.ts'
import { createWorld, type Person, type World } from '#testing/world.ts'
import { endpoints } from '../openapi.ts'
import { endEnterpriseSso, noteEnterpriseSso, readEnterpriseSso } from './enterprise-sso.ts'

let world: World
before(async () => {
  world = await createWorld({ environment: { DEVELOPER_PORTAL: 'on' } })
})
after(() => world.close())

type Headers = Record<string, string>
const get = (url: string, headers: Headers) => world.api.inject({ url, headers })

/** A further identity of a person. */
async function addIdentity({ headers }: Pick<Person, 'headers'>): Promise<string> {
  const payload = { handle: `at-work-${randomUUID().slice(0, 8)}`, displayName: 'At work' }
  const made = await world.api.inject({ method: 'POST', url: '/api/identities', headers, payload })
  return made.json().identityId
}

/** Of each endpoint for people who are signed in: whether it is open to those whom an organization alone has named. */
const openWithoutPasskey: Record<string, boolean> = {
  'DELETE /api/account': false,
  'GET /api/account/activity': false,
  'GET /api/account/device-approvals': false,
  'POST /api/account/device-approvals': false,
  'DELETE /api/account/device-approvals/:approvalId': false,
  'GET /api/account/device-approvals/:approvalId': false,
  'POST /api/account/device-approvals/:approvalId/answer': false,
  'POST /api/account/device-approvals/:approvalId/reveal': false,
  'POST /api/account/device-approvals/:approvalId/take': false,
  'POST /api/account/device-approvals/:approvalId/wrap': false,
  'GET /api/account/export': false,
  'GET /api/account/key-wraps': false,
  'POST /api/account/key-wraps': false,
  'PUT /api/account/key-wraps': false,
  'GET /api/account/recovery': false,
  'PUT /api/account/recovery': false,
  'GET /api/auth/passkeys': false,
  'DELETE /api/auth/passkeys/:credentialId': false,
  'PATCH /api/auth/passkeys/:credentialId': false,
  'POST /api/auth/passkeys/finish': false,
  'POST /api/auth/passkeys/start': false,
  'POST /api/auth/reauthenticate/finish': false,
  'POST /api/auth/reauthenticate/start': false,
  'DELETE /api/auth/session': true,
  'GET /api/auth/session': true,
  'POST /api/auth/session/business': true,
  'POST /api/auth/session/end': true,
  'DELETE /api/auth/sessions': false,
  'GET /api/auth/sessions': false,
  'DELETE /api/auth/sessions/:sessionId': false,
  'GET /api/developer/apps': false,
  'POST /api/developer/apps': false,
  'DELETE /api/developer/apps/:clientId': false,
  'GET /api/developer/apps/:clientId': false,
  'PATCH /api/developer/apps/:clientId': false,
  'GET /api/developer/apps/:clientId/resources': false,
  'POST /api/developer/apps/:clientId/resources': false,
  'PATCH /api/developer/apps/:clientId/resources/:resourceKey': false,
  'POST /api/developer/apps/:clientId/secret': false,
  'DELETE /api/developer/apps/:clientId/webhook': false,
  'GET /api/developer/apps/:clientId/webhook': false,
  'PUT /api/developer/apps/:clientId/webhook': false,
  'GET /api/developer/apps/:clientId/webhook/deliveries': false,
  'POST /api/developer/apps/:clientId/webhook/deliveries/:deliveryId/send': false,
  'POST /api/developer/apps/:clientId/webhook/secret': false,
  'POST /api/developer/apps/:clientId/webhook/test': false,
  'GET /api/encryption/keys/:identityId': false,
  'POST /api/encryption/keys/:identityId': false,
  'GET /api/identities': true,
  'POST /api/identities': false,
  'DELETE /api/identities/:identityId': false,
  'GET /api/identities/:identityId': true,
  'PATCH /api/identities/:identityId': false,
  'DELETE /api/identities/:identityId/email': false,
  'POST /api/identities/:identityId/email': false,
  'POST /api/identities/:identityId/email/verify': false,
  'GET /api/oauth/authorization/:clientId': true,
  'GET /api/oauth/authorizations': false,
  'DELETE /api/oauth/authorizations/:id': false,
  'POST /api/oauth/authorize': true,
  'POST /api/oauth/fedcm/finalize': false,
  'GET /api/oauth/delegations': true,
  'DELETE /api/oauth/delegations/:delegationId': true,
  'GET /api/oauth/delegations/:delegationId/uses': true,
  'GET /api/organizations': true,
  'POST /api/organizations': false,
  'DELETE /api/organizations/:organizationId': false,
  'GET /api/organizations/:organizationId': true,
  'PATCH /api/organizations/:organizationId': true,
  'GET /api/organizations/:organizationId/audit': true,
  'GET /api/organizations/:organizationId/audit/export': true,
  'GET /api/organizations/:organizationId/members': true,
  'GET /api/organizations/:organizationId/members/:memberId': true,
  'PATCH /api/organizations/:organizationId/members/:memberId': true,
  'DELETE /api/organizations/:organizationId/members/:memberId': true,
  'GET /api/organizations/:organizationId/invitations': true,
  'POST /api/organizations/:organizationId/invitations': true,
  'GET /api/organizations/:organizationId/invitations/:invitationId': true,
  'DELETE /api/organizations/:organizationId/invitations/:invitationId': true,
  'GET /api/organizations/:organizationId/domains': false,
  'POST /api/organizations/:organizationId/domains': false,
  'DELETE /api/organizations/:organizationId/domains/:domainId': false,
  'POST /api/organizations/:organizationId/domains/:domainId/verify': false,
  'GET /api/invitations/:token': false,
  'POST /api/invitations/:token/accept': false,
  'GET /api/organizations/:organizationId/sso-connections': false,
  'POST /api/organizations/:organizationId/sso-connections': false,
  'DELETE /api/organizations/:organizationId/sso-connections/:connectionId': false,
  'GET /api/organizations/:organizationId/sso-connections/:connectionId': false,
  'PATCH /api/organizations/:organizationId/sso-connections/:connectionId': false,
  'POST /api/organizations/:organizationId/sso-connections/:connectionId/test': false,
  'POST /api/organizations/:organizationId/sso-connections/:connectionId/scim-token': false,
  'DELETE /api/organizations/:organizationId/sso-connections/:connectionId/scim-token': false,
  'POST /api/organizations/:organizationId/sso-connections/:connectionId/encryption-key': false,
  'DELETE /api/organizations/:organizationId/sso-connections/:connectionId/encryption-key': false,
  'GET /api/organizations/:organizationId/keys': false,
  'POST /api/organizations/:organizationId/keys': false,
  'DELETE /api/organizations/:organizationId/keys/:keyId': false,
  'GET /api/organizations/:organizationId/keys/:keyId/wraps': false,
  'PUT /api/organizations/:organizationId/keys/:keyId/wraps': false,
  'GET /api/organizations/:organizationId/kms': false,
  'PUT /api/organizations/:organizationId/kms': false,
  'DELETE /api/organizations/:organizationId/kms': false,
  'GET /api/signing/history': false,
  'GET /api/signing/keys': false,
  'GET /api/signing/keys/:identityId': false,
  'POST /api/signing/keys/:identityId': false,
  'PUT /api/signing/keys/:identityId': false,
  'GET /api/signing/requests': true,
  'GET /api/signing/requests/:requestId': true,
  'POST /api/signing/requests/:requestId/approve': false,
  'POST /api/signing/requests/:requestId/deny': true,
  'GET /api/signing/requests/:requestId/receipt': false,
  'POST /api/sso/arrivals/:flowId/link': false,
  'POST /api/signing/requests/:requestId/sign': false,
}

test('SSO-12 a session that an organization opened can do what it is open to, and nothing else', async () => {
  const forPeople = endpoints.map(({ endpoint }) => endpoint).filter(({ config }) => config.security === 'session')
  assert.deepEqual(
    forPeople.map(({ name }) => name).toSorted(),
    Object.keys(openWithoutPasskey).toSorted(),
    'a new endpoint for people says here whether it takes a passkey',
  )
  const person = await world.person()
  for (const { name, method, url, config } of forPeople) {
    const headers = await signInByOrganization(world, person)
    const host = config.host === 'business' ? world.business : world.api
    const answer = await host.inject({ method, url: url.replaceAll(/:\w+/g, randomUUID()), headers })
    const refused = answer.statusCode === 403 && answer.json().error === 'passkey_required'
    assert.equal(!refused, openWithoutPasskey[name], `${name}: ${answer.statusCode} ${answer.body}`)
  }
})

test('SSO-12 a session that an organization opened is of one identity, and says how it was opened', async () => {
  const person = await world.person()
  const identityId = await addIdentity(person)
  const headers = await signInByOrganization(world, person, { identityId })
  const idsOf = ({ identities }: { identities: { identityId: string }[] }) => identities.map((each) => each.identityId)

  const session = (await get('/api/auth/session', headers)).json()
  assert.deepEqual([session.authMethod, idsOf(session)], ['enterprise_sso', [identityId]])
  assert.deepEqual(idsOf((await get('/api/identities', headers)).json()), [identityId])
  assert.equal((await get(`/api/identities/${identityId}`, headers)).statusCode, 200)
  const other = await get(`/api/identities/${person.identityId}`, headers)
  assert.deepEqual([other.statusCode, other.json().error], [404, 'identity_not_found'])

  const own = (await get('/api/auth/session', person.headers)).json()
  assert.deepEqual([own.authMethod, idsOf(own)], ['passkey', [person.identityId, identityId]])
})

test('the sessions of one identity alone end with it', async () => {
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

test('what a provider has said is taken back by connection, by member, or as a whole', async () => {
  const person = await world.person()
  const organizationId = randomUUID()
  const [one, two] = [randomUUID(), randomUUID()]
  const { session_id: sessionId } = await world.db
    .selectFrom('session')
    .select('session_id')
    .where('user_id', '=', person.userId)
    .executeTakeFirstOrThrow()
  const named = { sessionId, organizationId, connectionId: one, identityId: person.identityId }
  await transaction(world.db, (tx) => noteEnterpriseSso(tx, named, world.now()))
  const byOne = await signInByOrganization(world, person, { organizationId, connectionId: one })
  const byTwo = await signInByOrganization(world, person, { organizationId, connectionId: two })
  const elsewhere = await signInByOrganization(world, person)
  const end = (of: object) => transaction(world.db, (tx) => endEnterpriseSso(tx, { organizationId, ...of }))
  const isSignedIn = async (headers: Headers) => (await get('/api/auth/session', headers)).statusCode === 200

  assert.deepEqual(await end({ identityIds: [] }), [])
  assert.deepEqual(await end({ identityIds: [randomUUID()] }), [])
  assert.equal((await readEnterpriseSso(world.db, sessionId, organizationId, world.now()))?.connectionId, one)
  assert.deepEqual(
    (await end({ connectionId: one })).map(({ identityId }) => identityId),
    [person.identityId],
    'of two that the connection spoke in, the one that it opened',
  )
  assert.equal(await readEnterpriseSso(world.db, sessionId, organizationId, world.now()), undefined)
  assert.deepEqual([await isSignedIn(byOne), await isSignedIn(byTwo)], [false, true])
  assert.equal((await end({ identityIds: [person.identityId] })).length, 1)
  const still = [await isSignedIn(byTwo), await isSignedIn(elsewhere), await isSignedIn(person.headers)]
  assert.deepEqual(still, [false, true, true])
})

test('SSO-12 a session that an organization opened touches nothing of the other identities', async () => {
  const ada = await createSigner(world)
  const identityId = await addIdentity(ada)
  const connectors = await createConnectors(world)
  assert.equal((await connectors.consent(ada)).statusCode, 200)
  const [delegation] = await delegationsOf(world, ada)
  const { requestId } = (await askerOf(world, connectors.source).request(ada.identityId)).json()
  const asked = async (headers: Headers & { authorization: string }) => {
    const ask = async (method: 'GET' | 'POST' | 'DELETE', url: string) =>
      (await world.api.inject({ method, url, headers })).statusCode
    const one = `/api/signing/requests/${requestId}`
    return {
      delegations: (await delegationsOf(world, { headers })).length,
      requests: (await get('/api/signing/requests', headers)).json().requests.length,
      uses: await ask('GET', `/api/oauth/delegations/${delegation.id}/uses`),
      read: await ask('GET', one),
      deny: await ask('POST', `${one}/deny`),
      revoke: await ask('DELETE', `/api/oauth/delegations/${delegation.id}`),
    }
  }
  const byOther = await signInByOrganization(world, ada, { identityId })
  const nothing = { delegations: 0, requests: 0, uses: 404, read: 404, deny: 404, revoke: 404 }
  assert.deepEqual(await asked(byOther), nothing)
  const consent = await connectors.consent({ ...ada, headers: byOther })
  assert.deepEqual([consent.statusCode, consent.json().error], [404, 'identity_not_found'])
  const own = { delegations: 1, requests: 1, uses: 200, read: 200, deny: 200, revoke: 204 }
  assert.deepEqual(await asked(await signInByOrganization(world, ada)), own)
})

test('SSO-12 what a provider has said outlives a sign-in of the same person there, and of nobody else', async () => {
  const [ada, grace] = [await world.person(), await world.person()]
  const organizationId = randomUUID()
  const signIn = async ({ authenticator }: Person, earlier: string): Promise<string> => {
    const headers = { cookie: `countersign=${earlier}`, origin: 'http://localhost:4401' }
    const post = (step: string, payload: object) =>
      world.api.inject({ method: 'POST', url: `/api/auth/login/${step}`, headers, payload })
    const { flowId, options } = (await post('start', {})).json()
    return (await post('finish', { flowId, credential: authenticator.authenticate(options) })).json().sessionToken
  }
  const saidIn = async (token: string) => {
    const sessionId = uuidFromBytes(readToken('session', token, 16) ?? new Uint8Array())
    return (await readEnterpriseSso(world.db, sessionId, organizationId, world.now()))?.identityId
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
