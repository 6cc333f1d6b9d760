import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Group } from '@countersign/protocol/accounts/groups'
import { createToken, makeOperator } from '#testing/operators.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

type Headers = Record<string, string>
type Method = 'POST' | 'PUT' | 'PATCH' | 'DELETE'

async function send(headers: Headers, method: Method, path: string, payload?: object) {
  const answer = await world.api.inject({
    method,
    url: `/api/admin/groups${path}`,
    headers,
    ...(payload && { payload }),
  })
  const { error, permission } = answer.body === '' ? {} : answer.json<Record<string, string>>()
  return { status: answer.statusCode, error, permission }
}

async function createGroup(key: string, fields: object): Promise<Group> {
  const payload = { key, displayName: key, ...fields }
  const answer = await world.api.inject({ method: 'POST', url: '/api/admin/groups', headers: world.admin, payload })
  assert.equal(answer.statusCode, 201, answer.body)
  return answer.json()
}

/** All requests that change a group or its members, except for its deletion. */
async function changes(groupId: string): Promise<[Method, string, object?][]> {
  const [added, removed] = [await world.person(), await world.person()]
  return [
    ['PATCH', `/${groupId}`, { displayName: 'Mine' }],
    ['PATCH', `/${groupId}`, { protected: false }],
    ['PUT', `/${groupId}/members/${added.identityId}`],
    ['DELETE', `/${groupId}/members/${removed.identityId}`],
    ['POST', `/${groupId}/members/batch`, { add: [added.identityId] }],
  ]
}

test('GRP-10 a protected group is changed only by those who manage operators', async () => {
  const { groupId } = await createGroup('cluster-admins', { protected: true })
  const people = await makeOperator(world, await world.person(), 'people')
  const owner = await makeOperator(world, await world.person(), 'owner')
  const token = await createToken(world, ['groups.manage', 'groups.read'], { headers: owner.page })
  for (const headers of [people.page, token.headers]) {
    for (const [method, path, payload] of [...(await changes(groupId)), ['DELETE', `/${groupId}`] as const]) {
      const { status, error, permission } = await send(headers, method, path, payload)
      assert.deepEqual([status, error, permission], [403, 'permission_denied', 'operators.manage'], `${method} ${path}`)
    }
    const created = { key: 'own-admins', displayName: 'Own', protected: true }
    assert.equal((await send(headers, 'POST', '', created)).error, 'permission_denied')
  }
  const read = await world.api.inject({ url: `/api/admin/groups/${groupId}`, headers: people.page })
  assert.deepEqual([read.json().protected, read.json().memberCount], [true, 0])
})

test('GRP-10 an owner changes a protected group after a recent authentication', async () => {
  const { groupId } = await createGroup('payments', { protected: true })
  const owner = await makeOperator(world, await world.person(), 'owner')
  const [first] = await changes(groupId)
  assert.ok(first)
  assert.equal((await send(owner.page, ...first)).status, 200)
  world.pass(301)
  for (const [method, path, payload] of await changes(groupId))
    assert.equal(
      (await send(owner.page, method, path, payload)).error,
      'reauthentication_required',
      `${method} ${path}`,
    )
  assert.equal((await send(owner.page, 'DELETE', `/${groupId}`)).error, 'reauthentication_required')
  assert.equal((await send(world.admin, 'DELETE', `/${groupId}`)).status, 204)
})

test('GRP-10 a group that is not protected is changed without a passkey, and protected by an owner alone', async () => {
  const { groupId, protected: isProtected } = await createGroup('readers', {})
  assert.equal(isProtected, false)
  const people = await makeOperator(world, await world.person(), 'people')
  world.pass(301)
  assert.equal((await send(people.page, 'PATCH', `/${groupId}`, { displayName: 'Readers' })).status, 200)
  assert.equal((await send(people.page, 'PATCH', `/${groupId}`, { protected: true })).error, 'permission_denied')
  assert.equal((await send(world.admin, 'PATCH', `/${groupId}`, { protected: true })).status, 200)
  assert.equal((await send(people.page, 'PATCH', `/${groupId}`, { displayName: 'Mine' })).error, 'permission_denied')
})
