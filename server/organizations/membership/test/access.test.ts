import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import type { OrganizationRole } from '@countersign/protocol/formats/role'
import type { IdentityId, OrganizationId } from '@countersign/protocol/ids'
import { nameBy, signInByOrganization } from '#testing/enterprise-session.ts'
import { businessRequest, join, createOrganization } from '#testing/organization.ts'
import { createWorld, type Person, type TestWorld } from '#testing/world.ts'
import { endpoints } from '#platform/process/openapi.ts'

const roles = ['owner', 'admin', 'signer', 'member', 'viewer'] as const satisfies OrganizationRole[]

type Headers = Pick<Person, 'headers'>
let world: TestWorld
let id: OrganizationId
let stranger: Person
const people = new Map<OrganizationRole, Person>()
before(async () => {
  world = await createWorld()
  const owner = await world.person()
  stranger = await world.person()
  await createOrganization(world, stranger, 'Elsewhere')
  id = (await createOrganization(world, owner)).id
  people.set('owner', owner)
  for (const role of roles.slice(1)) {
    const person = await world.person()
    await join(world, { id, owner, role }, person)
    people.set(role, person)
  }
})
after(() => world.close())

/**
 * Roles with access at each endpoint of an organization, from the owner down. A role with access can still get a
 * not-found or validation error; a role without access gets `insufficient_scope`.
 */
const lettingIn: Record<string, readonly OrganizationRole[]> = {
  'GET /api/organizations/:organizationId': roles,
  'PATCH /api/organizations/:organizationId': ['owner'],
  'DELETE /api/organizations/:organizationId': ['owner'],
  'GET /api/organizations/:organizationId/members': roles,
  'GET /api/organizations/:organizationId/members/:memberId': roles,
  'PATCH /api/organizations/:organizationId/members/:memberId': ['owner', 'admin'],
  'DELETE /api/organizations/:organizationId/members/:memberId': ['owner', 'admin'],
  'GET /api/organizations/:organizationId/invitations': ['owner', 'admin'],
  'POST /api/organizations/:organizationId/invitations': ['owner', 'admin'],
  'GET /api/organizations/:organizationId/invitations/:invitationId': ['owner', 'admin'],
  'DELETE /api/organizations/:organizationId/invitations/:invitationId': ['owner', 'admin'],
  'POST /api/organizations/:organizationId/invitations/:invitationId/mail': ['owner', 'admin'],
  'POST /api/organizations/:organizationId/pictures': ['owner'],
  'GET /api/organizations/:organizationId/signing-requests': roles,
  'GET /api/organizations/:organizationId/audit': ['owner'],
  'GET /api/organizations/:organizationId/audit/export': ['owner'],
  'GET /api/organizations/:organizationId/trail': ['owner'],
  'GET /api/organizations/:organizationId/domains': ['owner', 'admin'],
  'POST /api/organizations/:organizationId/domains': ['owner', 'admin'],
  'POST /api/organizations/:organizationId/domains/:domainId/verify': ['owner', 'admin'],
  'DELETE /api/organizations/:organizationId/domains/:domainId': ['owner', 'admin'],
  'GET /api/organizations/:organizationId/keys': roles,
  'POST /api/organizations/:organizationId/keys': ['owner', 'admin'],
  'DELETE /api/organizations/:organizationId/keys/:keyId': ['owner'],
  'GET /api/organizations/:organizationId/keys/:keyId/wraps': roles,
  'PUT /api/organizations/:organizationId/keys/:keyId/wraps': ['owner', 'admin'],
  'DELETE /api/organizations/:organizationId/keys/:keyId/wraps': roles,
  'GET /api/organizations/:organizationId/proposals': roles,
  'POST /api/organizations/:organizationId/proposals/:proposalId/approval': roles,
  'POST /api/organizations/:organizationId/proposals/:proposalId/act': roles,
  'DELETE /api/organizations/:organizationId/proposals/:proposalId': roles,
  'GET /api/organizations/:organizationId/council': roles,
  'POST /api/organizations/:organizationId/council/signatories': ['owner', 'admin'],
  'DELETE /api/organizations/:organizationId/council/signatories/:identityId': ['owner'],
  'POST /api/organizations/:organizationId/council/reset': ['owner'],
  'POST /api/organizations/:organizationId/council/reset/completion': ['owner'],
  'DELETE /api/organizations/:organizationId/council/reset': roles,
  'GET /api/organizations/:organizationId/kms': ['owner', 'admin'],
  'PUT /api/organizations/:organizationId/kms': ['owner', 'admin'],
  'DELETE /api/organizations/:organizationId/kms': ['owner', 'admin'],
  'GET /api/organizations/:organizationId/sso-connections': ['owner', 'admin'],
  'POST /api/organizations/:organizationId/sso-connections': ['owner', 'admin'],
  'GET /api/organizations/:organizationId/sso-connections/:connectionId': ['owner', 'admin'],
  'PATCH /api/organizations/:organizationId/sso-connections/:connectionId': ['owner', 'admin'],
  'DELETE /api/organizations/:organizationId/sso-connections/:connectionId': ['owner', 'admin'],
  'POST /api/organizations/:organizationId/sso-connections/:connectionId/confirm': ['owner'],
  'POST /api/organizations/:organizationId/sso-connections/:connectionId/test': ['owner', 'admin'],
  'POST /api/organizations/:organizationId/sso-connections/:connectionId/scim-token': ['owner'],
  'DELETE /api/organizations/:organizationId/sso-connections/:connectionId/scim-token': ['owner', 'admin'],
  'POST /api/organizations/:organizationId/sso-connections/:connectionId/encryption-key': ['owner', 'admin'],
  'DELETE /api/organizations/:organizationId/sso-connections/:connectionId/encryption-key': ['owner', 'admin'],
}

/** Endpoints of an act, which is found in the session that started it alone. */
const ofSession = [
  'GET /api/organizations/:organizationId/acts/:actId',
  'GET /api/organizations/:organizationId/acts/:actId/trail',
  'POST /api/organizations/:organizationId/acts/:actId',
  'DELETE /api/organizations/:organizationId/acts/:actId',
  'POST /api/organizations/:organizationId/acts/:actId/proposal',
]

/** Endpoints that belong to no organization: every signed-in user has access. */
const forEverybody = [
  'GET /api/organizations',
  'POST /api/organizations',
  'GET /api/invitations/:token',
  'POST /api/invitations/:token/accept',
  'POST /api/organizations/:organizationId/invitations/:invitationId/accept',
  'POST /api/organizations/:organizationId/invitations/:invitationId/decline',
]

/** Valid bodies and queries, so that the permission check decides. */
const sound: Record<string, object> = {
  'POST /api/organizations/:organizationId/invitations': { handle: 'nobody-of-this-name', role: 'viewer' },
  'POST /api/organizations/:organizationId/domains': { domain: 'not a domain' },
  'PUT /api/organizations/:organizationId/keys/:keyId/wraps': {
    wraps: [{ memberId: randomUUID(), ciphertext: 'not.a.wrap' }],
  },
  'POST /api/organizations/:organizationId/council/signatories': { identityId: randomUUID() },
  'PUT /api/organizations/:organizationId/kms': { url: 'not an address' },
  'POST /api/organizations/:organizationId/sso-connections': {
    name: ' ',
    oidc: { issuer: 'https://login.acme.example', clientId: 'acme', clientSecret: 'secret' },
  },
  'POST /api/organizations/:organizationId/sso-connections/:connectionId/scim-token': { subjectBy: 'email' },
}
const queries: Record<string, string> = { 'GET /api/organizations/:organizationId/audit/export': '?format=csv' }

const last = 'DELETE /api/organizations/:organizationId'

/** Endpoints of an organization. Those that delete something come last. */
const doors = endpoints
  .map(({ endpoint }) => endpoint)
  .filter(({ config }) => config.host === 'business' && config.security === 'session')
  .toSorted((a, b) => Number(a.name === last) - Number(b.name === last))

function ask(person: Headers, name: string, organizationId: OrganizationId) {
  const [method = '', url = ''] = name.split(' ')
  const path = url.replace(':organizationId', organizationId).replaceAll(/:\w+/g, randomUUID()).replace('/api', '')
  const body = ['POST', 'PUT', 'PATCH'].includes(method) ? { payload: sound[name] ?? {} } : {}
  return world.business.inject({
    method: method as 'GET',
    url: `/api${path}${queries[name] ?? ''}`,
    headers: person.headers,
    ...body,
  })
}

test('ORG-01 the table contains every endpoint of the business host', () => {
  assert.deepEqual(
    doors.map(({ name }) => name).toSorted(),
    [...Object.keys(lettingIn), ...ofSession, ...forEverybody].toSorted(),
  )
})

test('ORG-01 ORG-04 each role has access to exactly its endpoints of an organization', async () => {
  for (const { name } of doors.filter((door) => door.name in lettingIn))
    for (const role of [...roles].toReversed()) {
      const person = people.get(role)
      assert.ok(person)
      const answer = await ask(person, name, id)
      const isIn = lettingIn[name]?.includes(role)
      const outcomeOf = `${name} as ${role}: ${answer.statusCode} ${answer.body}`
      const kept = answer.statusCode === 403 && answer.json().error === 'insufficient_scope'
      assert.equal(kept, !isIn, outcomeOf)
      assert.ok(answer.statusCode < 500 && answer.statusCode !== 401, outcomeOf)
    }
  const gone = await ask(stranger, 'GET /api/organizations/:organizationId', id)
  assert.equal(gone.statusCode, 404)
})

test('ORG-01 a user who is not a member sees no organization, whatever their role elsewhere', async () => {
  const { id: other } = await createOrganization(world, await world.person(), 'Theirs')
  for (const { name } of doors.filter((door) => door.name in lettingIn))
    for (const person of [stranger, ...people.values()]) {
      const answer = await ask(person, name, other)
      assert.deepEqual([answer.statusCode, answer.json().error], [404, 'organization_not_found'], name)
    }
})

test('ORG-01 a user acts as the identity that has the permission, or as the one that they name', async () => {
  const owner = await world.person()
  const payload = { handle: `second-${randomUUID().slice(0, 8)}`, displayName: 'Second' }
  const second = await world.api.inject({ method: 'POST', url: '/api/identities', headers: owner.headers, payload })
  const asSecond = { ...owner, handle: payload.handle, identityId: second.json().identityId }
  const made = await createOrganization(world, owner)
  await join(world, { id: made.id, owner, role: 'viewer' }, asSecond)
  const change = (query: string) =>
    businessRequest(world, owner, `PATCH /organizations/${made.id}${query}`, { name: 'New' })
  assert.equal((await change('')).statusCode, 200)
  assert.equal((await change(`?identity_id=${owner.identityId}`)).statusCode, 200)
  const narrowed = await change(`?identity_id=${asSecond.identityId}`)
  assert.deepEqual([narrowed.statusCode, narrowed.json().error], [403, 'insufficient_scope'])
  const foreign = await change(`?identity_id=${stranger.identityId}`)
  assert.deepEqual([foreign.statusCode, foreign.json().error], [404, 'organization_not_found'])
})

test('a user signed in by SSO accesses that organization as the named identity, and no other', async () => {
  const person = await world.person()
  const [own, other] = [await createOrganization(world, person), await createOrganization(world, person, 'Other')]
  const headers = await signInByOrganization(world, person, { organizationId: own.id })
  const read = (organizationId: OrganizationId) =>
    businessRequest(world, { headers }, `GET /organizations/${organizationId}`)
  assert.equal((await read(own.id)).statusCode, 200)
  assert.equal((await read(other.id)).statusCode, 404)
  const { organizations } = (await businessRequest(world, { headers }, 'GET /organizations')).json()
  assert.deepEqual(
    organizations.map((each: { id: string }) => each.id),
    [own.id],
  )
  const removed = await businessRequest(world, { headers }, `DELETE /organizations/${own.id}`)
  assert.deepEqual([removed.statusCode, removed.json().error], [403, 'passkey_required'])
})

test("where SSO is required, members must use it, and an owner's access by passkey is recorded", async () => {
  const owner = await world.person()
  const member = await world.person()
  const { id: organizationId } = await createOrganization(world, owner)
  await join(world, { id: organizationId, owner, role: 'admin' }, member)
  const connectionId = randomUUID()
  await world.db
    .updateTable('organization')
    .set({ sso_required: true, sso_connection_id: connectionId })
    .where('organization_id', '=', organizationId)
    .execute()
  const read = (headers: Person['headers']) =>
    businessRequest(world, { headers }, `GET /organizations/${organizationId}`)

  const bare = await read(member.headers)
  assert.deepEqual([bare.statusCode, bare.json().error], [403, 'enterprise_sso_required'])
  assert.equal(bare.json().loginUrl, `http://localhost:4400/api/sso/${connectionId}/start`)
  const through = await signInByOrganization(world, member, { organizationId, connectionId })
  assert.equal((await read(through)).statusCode, 200)

  assert.equal((await read(owner.headers)).statusCode, 200)
  const [entry] = (await businessRequest(world, owner, `GET /organizations/${organizationId}/audit`)).json().entries
  assert.deepEqual([entry.action, entry.handle], ['organization.sso_bypassed', owner.handle])
  const left = await businessRequest(world, member, `GET /organizations/${organizationId}/members`)
  assert.equal(left.statusCode, 403)
})

test('where SSO is required, a user acts as the identity that it named, or as an owner', async () => {
  const [founder, person] = [await world.person(), await world.person()]
  const { id: organizationId } = await createOrganization(world, founder)
  const add = async (role: OrganizationRole) => {
    const payload = { handle: `name-${randomUUID().slice(0, 8)}`, displayName: role }
    const added = await world.api.inject({ method: 'POST', url: '/api/identities', headers: person.headers, payload })
    const { identityId }: { identityId: IdentityId } = added.json()
    await join(world, { id: organizationId, owner: founder, role }, { ...person, handle: payload.handle, identityId })
    return identityId
  }
  await join(world, { id: organizationId, owner: founder, role: 'admin' }, person)
  const viewerId = await add('viewer')
  const connectionId = randomUUID()
  await world.db
    .updateTable('organization')
    .set({ sso_required: true, sso_connection_id: connectionId })
    .where('organization_id', '=', organizationId)
    .execute()
  const seenAs = async (path = '') => {
    const answer = await businessRequest(world, person, `GET /organizations/${organizationId}${path}`)
    return answer.json().organization?.identityId ?? answer.json().error ?? answer.statusCode
  }
  assert.equal(await seenAs(), 'enterprise_sso_required')
  await nameBy(world, { ...person, identityId: viewerId }, { organizationId, connectionId })
  assert.equal(await seenAs(), viewerId)
  assert.equal(await seenAs(`?identity_id=${person.identityId}`), 'enterprise_sso_required')
  assert.equal(
    await seenAs('/invitations'),
    'enterprise_sso_required',
    'the viewer has signed in with SSO, and cannot invite',
  )
  const ownerId = await add('owner')
  assert.equal(await seenAs('/invitations'), 200)
  assert.deepEqual([await seenAs(), await seenAs(`?identity_id=${ownerId}`)], [viewerId, ownerId])
})

test("an owner's access without SSO is recorded once an hour for each session", async () => {
  const owner = await world.person()
  const { id: organizationId } = await createOrganization(world, owner)
  await world.db
    .updateTable('organization')
    .set({ sso_required: true, sso_connection_id: randomUUID() })
    .where('organization_id', '=', organizationId)
    .execute()
  const read = (headers: Person['headers']) =>
    businessRequest(world, { headers }, `GET /organizations/${organizationId}`)
  const outcomeOf = async () => {
    const { entries } = (await businessRequest(world, owner, `GET /organizations/${organizationId}/audit`)).json()
    return entries.filter(({ action }: { action: string }) => action === 'organization.sso_bypassed').length
  }
  await Promise.all([1, 2, 3, 4].map(() => read(owner.headers)))
  assert.equal(await outcomeOf(), 1)
  await read(await owner.signIn())
  assert.equal(await outcomeOf(), 2)
  const changed = await businessRequest(world, owner, `PATCH /organizations/${organizationId}`, { name: 'Acme Ltd' })
  assert.equal(changed.statusCode, 200, changed.body)
  assert.equal(await outcomeOf(), 2)
  world.pass(3600)
  await Promise.all([1, 2, 3, 4].map(() => read(owner.headers)))
  assert.equal(await outcomeOf(), 3)
})
