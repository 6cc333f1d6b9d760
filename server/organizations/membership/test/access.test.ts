import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import type { OrganizationRole } from '@countersign/protocol/formats/role'
import { nameBy, signInByOrganization } from '#testing/enterprise-session.ts'
import { askBusiness, join, makeOrganization } from '#testing/organization.ts'
import { createWorld, type Person, type World } from '#testing/world.ts'
import { endpoints } from '#platform/process/openapi.ts'

const roles = ['owner', 'admin', 'signer', 'member', 'viewer'] as const satisfies OrganizationRole[]

type Headers = Pick<Person, 'headers'>
let world: World
let id: string
let stranger: Person
const people = new Map<OrganizationRole, Person>()
before(async () => {
  world = await createWorld()
  const owner = await world.person()
  stranger = await world.person()
  await makeOrganization(world, stranger, 'Elsewhere')
  id = (await makeOrganization(world, owner)).id
  people.set('owner', owner)
  for (const role of roles.slice(1)) {
    const person = await world.person()
    await join(world, { id, owner, role }, person)
    people.set(role, person)
  }
})
after(() => world.close())

/**
 * Who gets in at each endpoint of an organization, from the owner on. Whoever does may still be told that what they
 * name is not there, or that what they send is wrong; whoever does not is told `insufficient_scope`.
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
  'GET /api/organizations/:organizationId/audit': ['owner'],
  'GET /api/organizations/:organizationId/audit/export': ['owner'],
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

/** What is no organization's: for whoever is signed in. */
const forEverybody = [
  'GET /api/organizations',
  'POST /api/organizations',
  'GET /api/invitations/:token',
  'POST /api/invitations/:token/accept',
]

/** Bodies and queries that are sound, so that it is the guard that answers. */
const sound: Record<string, object> = {
  'POST /api/organizations/:organizationId/invitations': { handle: 'nobody-of-this-name', role: 'viewer' },
  'POST /api/organizations/:organizationId/domains': { domain: 'not a domain' },
  'PUT /api/organizations/:organizationId/keys/:keyId/wraps': {
    wraps: [{ memberId: randomUUID(), ciphertext: 'not.a.wrap' }],
  },
  'PUT /api/organizations/:organizationId/kms': { url: 'not an address' },
  'POST /api/organizations/:organizationId/sso-connections': {
    name: ' ',
    oidc: { issuer: 'https://login.acme.example', clientId: 'acme', clientSecret: 'secret' },
  },
  'POST /api/organizations/:organizationId/sso-connections/:connectionId/scim-token': { subjectBy: 'email' },
}
const queries: Record<string, string> = { 'GET /api/organizations/:organizationId/audit/export': '?format=csv' }

const last = 'DELETE /api/organizations/:organizationId'

/** The endpoints of an organization; what ends it stands last. */
const doors = endpoints
  .map(({ endpoint }) => endpoint)
  .filter(({ config }) => config.host === 'business' && config.security === 'session')
  .toSorted((a, b) => Number(a.name === last) - Number(b.name === last))

function ask(person: Headers, name: string, organizationId: string) {
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

test('ORG-01 each endpoint of the business host says here who gets in', () => {
  assert.deepEqual(doors.map(({ name }) => name).toSorted(), [...Object.keys(lettingIn), ...forEverybody].toSorted())
})

test('ORG-01 ORG-04 in an organization each role gets in where it may, and nowhere else', async () => {
  for (const { name } of doors.filter((door) => door.name in lettingIn))
    for (const role of [...roles].toReversed()) {
      const person = people.get(role)
      assert.ok(person)
      const answer = await ask(person, name, id)
      const isIn = lettingIn[name]?.includes(role)
      const told = `${name} as ${role}: ${answer.statusCode} ${answer.body}`
      const kept = answer.statusCode === 403 && answer.json().error === 'insufficient_scope'
      assert.equal(kept, !isIn, told)
      assert.ok(answer.statusCode < 500 && answer.statusCode !== 401, told)
    }
  const gone = await ask(stranger, 'GET /api/organizations/:organizationId', id)
  assert.equal(gone.statusCode, 404)
})

test('ORG-01 who is no member is told of no organization, whatever they are elsewhere', async () => {
  const { id: other } = await makeOrganization(world, await world.person(), 'Theirs')
  for (const { name } of doors.filter((door) => door.name in lettingIn))
    for (const person of [stranger, ...people.values()]) {
      const answer = await ask(person, name, other)
      assert.deepEqual([answer.statusCode, answer.json().error], [404, 'organization_not_found'], name)
    }
})

test('ORG-01 a person acts as the identity that has the right, or as the one that they name', async () => {
  const owner = await world.person()
  const payload = { handle: `second-${randomUUID().slice(0, 8)}`, displayName: 'Second' }
  const second = await world.api.inject({ method: 'POST', url: '/api/identities', headers: owner.headers, payload })
  const asSecond = { ...owner, handle: payload.handle, identityId: second.json().identityId }
  const made = await makeOrganization(world, owner)
  await join(world, { id: made.id, owner, role: 'viewer' }, asSecond)
  const change = (query: string) =>
    askBusiness(world, owner, `PATCH /organizations/${made.id}${query}`, { name: 'New' })
  assert.equal((await change('')).statusCode, 200)
  assert.equal((await change(`?identity_id=${owner.identityId}`)).statusCode, 200)
  const narrowed = await change(`?identity_id=${asSecond.identityId}`)
  assert.deepEqual([narrowed.statusCode, narrowed.json().error], [403, 'insufficient_scope'])
  const foreign = await change(`?identity_id=${stranger.identityId}`)
  assert.deepEqual([foreign.statusCode, foreign.json().error], [404, 'organization_not_found'])
})

test('whom the sign-in of an organization has named gets in there as that, and in no other', async () => {
  const person = await world.person()
  const [own, other] = [await makeOrganization(world, person), await makeOrganization(world, person, 'Other')]
  const headers = await signInByOrganization(world, person, { organizationId: own.id })
  const read = (organizationId: string) => askBusiness(world, { headers }, `GET /organizations/${organizationId}`)
  assert.equal((await read(own.id)).statusCode, 200)
  assert.equal((await read(other.id)).statusCode, 404)
  const { organizations } = (await askBusiness(world, { headers }, 'GET /organizations')).json()
  assert.deepEqual(
    organizations.map((each: { id: string }) => each.id),
    [own.id],
  )
  const removed = await askBusiness(world, { headers }, `DELETE /organizations/${own.id}`)
  assert.deepEqual([removed.statusCode, removed.json().error], [403, 'passkey_required'])
})

test('where its own sign-in is required, members come through it; an owner with a passkey is noted', async () => {
  const owner = await world.person()
  const member = await world.person()
  const { id: organizationId } = await makeOrganization(world, owner)
  await join(world, { id: organizationId, owner, role: 'admin' }, member)
  const connectionId = randomUUID()
  await world.db
    .updateTable('organization')
    .set({ sso_required: true, sso_connection_id: connectionId })
    .where('organization_id', '=', organizationId)
    .execute()
  const read = (headers: Person['headers']) => askBusiness(world, { headers }, `GET /organizations/${organizationId}`)

  const bare = await read(member.headers)
  assert.deepEqual([bare.statusCode, bare.json().error], [403, 'enterprise_sso_required'])
  assert.equal(bare.json().loginUrl, `http://localhost:4400/api/sso/${connectionId}/start`)
  const through = await signInByOrganization(world, member, { organizationId, connectionId })
  assert.equal((await read(through)).statusCode, 200)

  assert.equal((await read(owner.headers)).statusCode, 200)
  const [entry] = (await askBusiness(world, owner, `GET /organizations/${organizationId}/audit`)).json().entries
  assert.deepEqual([entry.action, entry.handle], ['organization.entered_without_sso', owner.handle])
  const left = await askBusiness(world, member, `GET /organizations/${organizationId}/members`)
  assert.equal(left.statusCode, 403)
})

test('where its own sign-in is required a person acts as whom it has named, or as an owner of theirs', async () => {
  const [founder, person] = [await world.person(), await world.person()]
  const { id: organizationId } = await makeOrganization(world, founder)
  const add = async (role: OrganizationRole) => {
    const payload = { handle: `name-${randomUUID().slice(0, 8)}`, displayName: role }
    const added = await world.api.inject({ method: 'POST', url: '/api/identities', headers: person.headers, payload })
    const { identityId }: { identityId: string } = added.json()
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
  const toldAs = async (path = '') => {
    const answer = await askBusiness(world, person, `GET /organizations/${organizationId}${path}`)
    return answer.json().organization?.identityId ?? answer.json().error ?? answer.statusCode
  }
  assert.equal(await toldAs(), 'enterprise_sso_required')
  await nameBy(world, { ...person, identityId: viewerId }, { organizationId, connectionId })
  assert.equal(await toldAs(), viewerId)
  assert.equal(await toldAs(`?identity_id=${person.identityId}`), 'enterprise_sso_required')
  assert.equal(
    await toldAs('/invitations'),
    'enterprise_sso_required',
    'the viewer has come through it, and invites nobody',
  )
  const ownerId = await add('owner')
  assert.equal(await toldAs('/invitations'), 200)
  assert.deepEqual([await toldAs(), await toldAs(`?identity_id=${ownerId}`)], [viewerId, ownerId])
})

test('an owner who comes in without its own sign-in is told of once an hour, in each session', async () => {
  const owner = await world.person()
  const { id: organizationId } = await makeOrganization(world, owner)
  await world.db
    .updateTable('organization')
    .set({ sso_required: true, sso_connection_id: randomUUID() })
    .where('organization_id', '=', organizationId)
    .execute()
  const read = (headers: Person['headers']) => askBusiness(world, { headers }, `GET /organizations/${organizationId}`)
  const told = async () => {
    const { entries } = (await askBusiness(world, owner, `GET /organizations/${organizationId}/audit`)).json()
    return entries.filter(({ action }: { action: string }) => action === 'organization.entered_without_sso').length
  }
  await Promise.all([1, 2, 3, 4].map(() => read(owner.headers)))
  assert.equal(await told(), 1)
  await read(await owner.signIn())
  assert.equal(await told(), 2)
  const changed = await askBusiness(world, owner, `PATCH /organizations/${organizationId}`, { name: 'Acme Ltd' })
  assert.equal(changed.statusCode, 200, changed.body)
  assert.equal(await told(), 2)
  world.pass(3600)
  await Promise.all([1, 2, 3, 4].map(() => read(owner.headers)))
  assert.equal(await told(), 3)
})
