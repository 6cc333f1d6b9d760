import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { IdentityId, OrganizationId } from '@countersign/protocol/ids'
import { flowOf, linkAs, newClaims, openEnterprise, scimUser, type Enterprise } from '#testing/enterprise.ts'
import { businessRequest, join } from '#testing/organization.ts'
import type { Person } from '#testing/world.ts'

let enterprise: Enterprise
let world: Enterprise['world']
before(async () => {
  enterprise = await openEnterprise()
  ;({ world } = enterprise)
})
after(() => enterprise.close())

type Organization = { owner: Person; organizationId: OrganizationId }

const setStatus = (organizationId: OrganizationId, status: 'active' | 'suspended') =>
  world.api.inject({
    method: 'PATCH',
    url: `/api/admin/organizations/${organizationId}`,
    headers: world.admin,
    payload: { status },
  })

/** Suspends the organization, deletes the owner's account, and has the operator reactivate the organization. */
async function activate({ owner, organizationId }: Organization) {
  assert.equal((await setStatus(organizationId, 'suspended')).statusCode, 200)
  const left = await world.api.inject({ method: 'DELETE', url: '/api/account', headers: await owner.signIn() })
  assert.equal(left.statusCode, 204, left.body)
  return setStatus(organizationId, 'active')
}

const isRefused = (answer: Awaited<ReturnType<typeof activate>>) =>
  assert.deepEqual([answer.statusCode, answer.json().error], [409, 'no_owner'])

async function rolesSeenBy(person: Person, { organizationId }: Organization) {
  const answer = await businessRequest(world, person, `GET /organizations/${organizationId}/members`)
  const { members } = answer.json<{ members: { identityId: IdentityId; role: string }[] }>()
  return new Map(members.map(({ identityId, role }) => [identityId, role]))
}

async function joinAs(role: 'admin' | 'viewer', { owner, organizationId }: Organization, by = owner) {
  const person = await world.person()
  const { memberId } = await join(world, { id: organizationId, owner: { headers: await by.signIn() }, role }, person)
  return { ...person, memberId }
}

/** Creates a user that the directory of an organization has provisioned as an admin and that has joined. */
async function nameAsAdmin(organization: Organization) {
  const { connectionId } = await enterprise.connect(organization)
  const { ask } = await enterprise.provision(organization, connectionId)
  const claims = newClaims()
  const user = { userName: claims.email, externalId: claims.sub, roles: [{ value: 'admin' }] }
  assert.equal((await ask('POST', '/Users', scimUser(user))).statusCode, 201)
  const person = await world.person()
  const browser = enterprise.browser()
  browser.bring(person)
  const arrived = await browser.signIn(connectionId, claims)
  assert.equal((await linkAs(browser, flowOf(arrived), person.identityId)).statusCode, 200)
  const roles = await rolesSeenBy(person, organization)
  assert.equal(roles.get(person.identityId), 'admin')
  return person
}

async function change({ organizationId }: Organization, by: Person, memberId: string, payload: object) {
  const path = `/organizations/${organizationId}/members/${memberId}`
  const changed = await businessRequest(world, { headers: await by.signIn() }, `PATCH ${path}`, payload)
  assert.equal(changed.statusCode, 200, changed.body)
}

async function memberIdOf(person: Person, { organizationId }: Organization): Promise<string> {
  const { members } = (await businessRequest(world, person, `GET /organizations/${organizationId}/members`)).json()
  return members.find(({ identityId }: { identityId: IdentityId }) => identityId === person.identityId)?.memberId
}

test('ORG-23 reactivation makes the first admin who has all scopes of the role the owner', async () => {
  const acme = await enterprise.organization(await world.person())
  const [first, second] = [await joinAs('admin', acme), await joinAs('admin', acme)]
  await change(acme, acme.owner, first.memberId, { scopes: ['read'], signingAuthority: false })
  const activated = await activate(acme)
  assert.deepEqual([activated.statusCode, activated.json().organization?.owners], [200, 1], activated.body)
  const roles = await rolesSeenBy(second, acme)
  assert.deepEqual([roles.get(first.identityId), roles.get(second.identityId)], ['admin', 'owner'])
})

test('ORG-23 an organization whose only admin lacks a scope of the role stays suspended', async () => {
  const acme = await enterprise.organization(await world.person())
  const admin = await joinAs('admin', acme)
  const scopes = ['read', 'sign', 'approve', 'manage_identities', 'manage_keys']
  await change(acme, acme.owner, admin.memberId, { scopes })
  isRefused(await activate(acme))
})

test('ORG-23 admins who were named only by a directory do not become the owner', async () => {
  const acme = await enterprise.organization(await world.person())
  const named = await nameAsAdmin(acme)
  await joinAs('admin', acme, named)
  const viewer = await joinAs('viewer', acme)
  await change(acme, named, viewer.memberId, { role: 'admin' })
  await change(acme, named, await memberIdOf(named, acme), { scopes: ['read', 'manage_identities'] })
  isRefused(await activate(acme))
})

test('ORG-23 a directory admin with a permission that an owner has granted can become the owner', async () => {
  const acme = await enterprise.organization(await world.person())
  const named = await nameAsAdmin(acme)
  const memberId = await memberIdOf(named, acme)
  await change(acme, acme.owner, memberId, { scopes: ['read'] })
  await change(acme, acme.owner, memberId, { role: 'viewer' })
  await change(acme, acme.owner, memberId, { role: 'admin' })
  assert.equal((await activate(acme)).statusCode, 200)
  assert.equal((await rolesSeenBy(named, acme)).get(named.identityId), 'owner')
})
