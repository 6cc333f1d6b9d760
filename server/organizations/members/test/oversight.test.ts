import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { signInByOrganization } from '#testing/enterprise-session.ts'
import { businessRequest, join, createOrganization } from '#testing/organization.ts'
import { createWorld, type Person, type TestWorld } from '#testing/world.ts'

let world: TestWorld
let owner: Person
before(async () => {
  world = await createWorld()
  owner = await world.person()
})
after(() => world.close())

const ask = (method: 'GET' | 'PATCH', path: string, payload?: object) =>
  world.api.inject({
    method,
    url: `/api/admin/organizations${path}`,
    headers: world.admin,
    ...(payload && { payload }),
  })

test('the operator lists organizations page by page', async () => {
  const made = [await createOrganization(world, owner, 'First'), await createOrganization(world, owner, 'Second')]
  await join(world, { id: made[0]?.id ?? '', owner, role: 'viewer' }, await world.person())
  const first = (await ask('GET', '?limit=1')).json()
  const second = (await ask('GET', `?limit=1&cursor=${first.nextCursor}`)).json()
  const [one] = second.organizations
  assert.deepEqual([first.organizations[0].name, one.name, second.nextCursor], ['Second', 'First', null])
  assert.deepEqual([one.members, one.owners, one.status, one.slug], [2, 1, 'active', 'first'])
  assert.deepEqual((await ask('GET', `/${one.organizationId}`)).json(), { organization: one })
  assert.equal((await ask('GET', `/${randomUUID()}`)).statusCode, 404)
})

test('members of a suspended organization cannot see it, and its tokens and sessions are revoked', async () => {
  const { id: organizationId } = await createOrganization(world, owner)
  const app = await world.app()
  const { access_token: token } = await app.tokens(owner, { organizationId })
  const headers = await signInByOrganization(world, owner, { organizationId })
  const alive = async () => [
    (await businessRequest(world, owner, `GET /organizations/${organizationId}`)).statusCode,
    (await world.api.inject({ url: '/api/oauth/userinfo', headers: { authorization: `Bearer ${token}` } })).statusCode,
    (await world.api.inject({ url: '/api/auth/session', headers })).statusCode,
  ]
  assert.deepEqual(await alive(), [200, 200, 200])
  const suspended = await ask('PATCH', `/${organizationId}`, { status: 'suspended' })
  assert.equal(suspended.json().organization.status, 'suspended')
  assert.deepEqual(await alive(), [404, 401, 401])
  await ask('PATCH', `/${organizationId}`, { status: 'suspended' })

  assert.equal((await ask('PATCH', `/${organizationId}`, { status: 'active' })).statusCode, 200)
  assert.deepEqual(await alive(), [200, 401, 401])
  const { entries } = (await businessRequest(world, owner, `GET /organizations/${organizationId}/audit`)).json()
  const acts = entries.map(({ action, actor }: { action: string; actor: string }) => `${action} by ${actor}`)
  assert.deepEqual(acts.slice(0, 2), ['organization.reactivated by operator', 'organization.suspended by operator'])
})

for (const scope of ['account', 'identity'] as const)
  test(`ORG-22 if the last owner of a suspended organization deletes their ${scope}, an admin follows`, async () => {
    const leaving = await world.person()
    const { id, memberId } = await createOrganization(world, leaving)
    const [admin, second] = [await world.person(), await world.person()]
    const first = await join(world, { id, owner: leaving, role: 'admin' }, admin)
    await join(world, { id, owner: leaving, role: 'admin' }, second)
    const identity = { handle: `other-${scope}`, displayName: 'Other' }
    await world.api.inject({ method: 'POST', url: '/api/identities', headers: leaving.headers, payload: identity })
    const url = scope === 'account' ? '/api/account' : `/api/identities/${leaving.identityId}`
    const leave = () => world.api.inject({ method: 'DELETE', url, headers: leaving.headers })
    assert.equal((await leave()).json().error, 'last_owner')
    assert.equal((await ask('PATCH', `/${id}`, { status: 'suspended' })).statusCode, 200)
    const left = await leave()
    assert.equal(left.statusCode, 204, left.body)
    assert.deepEqual((await ask('GET', `/${id}`)).json().organization.owners, 0)
    assert.equal((await businessRequest(world, admin, `GET /organizations/${id}`)).statusCode, 404)

    const activated = await ask('PATCH', `/${id}`, { status: 'active' })
    assert.deepEqual([activated.statusCode, activated.json().organization.owners], [200, 1])
    const { members } = (await businessRequest(world, admin, `GET /organizations/${id}/members`)).json()
    const roles = members.map((member: { memberId: string; role: string }) => [member.memberId, member.role])
    assert.ok(!roles.some(([id]: [string]) => id === memberId))
    assert.deepEqual(roles[0], [first.memberId, 'owner'])
    assert.deepEqual(roles[1]?.[1], 'admin')
    const { entries } = (await businessRequest(world, admin, `GET /organizations/${id}/audit`)).json()
    // Both have the same timestamp, so their order is undefined.
    const newest = entries.slice(0, 2) as { action: string; actor: string }[]
    assert.deepEqual(newest.map(({ action, actor }) => `${action} by ${actor}`).toSorted(), [
      'organization.member.updated by operator',
      'organization.reactivated by operator',
    ])
  })

test('ORG-22 a suspended organization without a possible owner stays suspended', async () => {
  const leaving = await world.person()
  const { id } = await createOrganization(world, leaving)
  const viewer = await world.person()
  await join(world, { id, owner: leaving, role: 'viewer' }, viewer)
  await ask('PATCH', `/${id}`, { status: 'suspended' })
  assert.equal(
    (await world.api.inject({ method: 'DELETE', url: '/api/account', headers: leaving.headers })).statusCode,
    204,
  )
  const refused = await ask('PATCH', `/${id}`, { status: 'active' })
  assert.deepEqual([refused.statusCode, refused.json().error], [409, 'no_owner'])
  assert.equal((await ask('GET', `/${id}`)).json().organization.status, 'suspended')
  assert.equal(
    (await world.api.inject({ method: 'DELETE', url: '/api/account', headers: viewer.headers })).statusCode,
    204,
  )
  assert.equal((await ask('GET', `/${id}`)).statusCode, 404, 'the organization is deleted with its last member')
})
