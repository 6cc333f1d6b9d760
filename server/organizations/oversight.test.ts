import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { signInByOrganization } from '#testing/enterprise-session.ts'
import { askBusiness, join, makeOrganization } from '#testing/organization.ts'
import { createWorld, type Person, type World } from '#testing/world.ts'

let world: World
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

test('the operator sees which organizations there are, page by page', async () => {
  const made = [await makeOrganization(world, owner, 'First'), await makeOrganization(world, owner, 'Second')]
  await join(world, { id: made[0]?.id ?? '', owner, role: 'viewer' }, await world.person())
  const first = (await ask('GET', '?limit=1')).json()
  const second = (await ask('GET', `?limit=1&cursor=${first.nextCursor}`)).json()
  const [one] = second.organizations
  assert.deepEqual([first.organizations[0].name, one.name, second.nextCursor], ['Second', 'First', null])
  assert.deepEqual([one.members, one.owners, one.status, one.slug], [2, 1, 'active', 'first'])
  assert.deepEqual((await ask('GET', `/${one.organizationId}`)).json(), { organization: one })
  assert.equal((await ask('GET', `/${randomUUID()}`)).statusCode, 404)
})

test('a suspended organization is none to its members, and its tokens and sessions are dead', async () => {
  const { id: organizationId } = await makeOrganization(world, owner)
  const app = await world.app()
  const { access_token: token } = await app.tokens(owner, { organizationId })
  const headers = await signInByOrganization(world, owner, { organizationId })
  const alive = async () => [
    (await askBusiness(world, owner, `GET /organizations/${organizationId}`)).statusCode,
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
  const { entries } = (await askBusiness(world, owner, `GET /organizations/${organizationId}/audit`)).json()
  const acts = entries.map(({ action, actor }: { action: string; actor: string }) => `${action} by ${actor}`)
  assert.deepEqual(acts.slice(0, 2), ['organization.activated by operator', 'organization.suspended by operator'])
})
