import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { IdentityId } from '@countersign/protocol/ids'
import { createToken, makeOperator, sibling } from '#testing/operators.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

type Headers = Record<string, string>
type Scope = 'account' | 'identity'

const send = async (
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  path: string,
  headers: Headers,
  payload?: Record<string, unknown>,
) => {
  const url = `/api/admin/${path}`
  const answer = await world.api.inject({ method, url, headers, ...(payload && { payload }) })
  return [answer.statusCode, answer.body === '' ? undefined : answer.json().error]
}
const suspend = (identityId: IdentityId, headers: Headers, scope: Scope = 'account') =>
  send('POST', `identities/${identityId}/suspension`, headers, { reason: 'Left the company', scope })
const activate = (identityId: IdentityId, headers: Headers) =>
  send('DELETE', `identities/${identityId}/suspension`, headers)
const signOut = (identityId: IdentityId, headers: Headers) =>
  send('POST', `identities/${identityId}/sign-out`, headers, {})

test('OPR-06 no operator suspends, activates or signs out one with rights that they lack', async () => {
  const owner = await makeOperator(world, await world.person(), 'owner')
  const auditor = await makeOperator(world, await world.person(), 'auditor')
  const helper = await makeOperator(world, await world.person(), 'people')
  const token = await createToken(world, ['people.suspend'])
  const denied = [403, 'operator_protected']
  for (const headers of [helper.page, token.headers]) {
    for (const { identityId } of [owner, auditor]) {
      assert.deepEqual(await suspend(identityId, headers), denied)
      assert.deepEqual(await suspend(identityId, headers, 'identity'), denied)
      assert.deepEqual(await signOut(identityId, headers), denied)
    }
  }
  assert.deepEqual(await suspend(auditor.identityId, owner.page), [200, undefined])
  assert.deepEqual(await activate(auditor.identityId, helper.page), denied)
  const someone = await world.person()
  assert.deepEqual(await suspend(someone.identityId, helper.page), [200, undefined])
})

test('OPR-06 no operator narrows the suspension of an account in which another one has more rights', async () => {
  const owner = await makeOperator(world, await world.person(), 'owner')
  const helper = await makeOperator(world, await world.person(), 'people')
  const person = await world.person()
  const other = await makeOperator(world, await sibling(world, person), 'owner')
  const denied = [403, 'operator_protected']
  assert.deepEqual(await suspend(person.identityId, owner.page), [200, undefined])
  assert.deepEqual(await suspend(person.identityId, helper.page, 'identity'), denied)
  assert.equal((await send('GET', 'identities', other.page))[0], 401)
  const signedOut = { method: 'GET', url: '/api/auth/session', headers: person.headers } as const
  assert.equal((await world.api.inject(signedOut)).statusCode, 401)
  const held = await world.db
    .selectFrom('identity')
    .select('suspended_at')
    .where('identity_id', '=', other.identityId)
    .executeTakeFirstOrThrow()
  assert.notEqual(held.suspended_at, null)
  assert.deepEqual(await suspend(person.identityId, owner.page, 'identity'), [200, undefined])
  assert.deepEqual(await suspend(person.identityId, helper.page, 'identity'), [200, undefined])
})

test('OPR-06 activating what is not suspended tells of no operator in the account', async () => {
  const owner = await makeOperator(world, await world.person(), 'owner')
  const helper = await makeOperator(world, await world.person(), 'people')
  assert.deepEqual(await activate(owner.identityId, helper.page), [204, undefined])
  assert.deepEqual(await activate((await world.person()).identityId, helper.page), [204, undefined])
})

test('OPR-06 no operator does it to their own account, by a session or by a token', async () => {
  await makeOperator(world, await world.person(), 'owner')
  const own = await makeOperator(world, await world.person(), 'owner')
  const token = await createToken(world, ['people.suspend'], { headers: own.page })
  for (const headers of [own.page, token.headers]) {
    assert.deepEqual(await suspend(own.identityId, headers), [403, 'operator_protected'])
    assert.deepEqual(await signOut(own.identityId, headers), [403, 'operator_protected'])
  }
})

test('OPR-06 a suspended operator has no rights, nor have their tokens', async () => {
  const owner = await makeOperator(world, await world.person(), 'owner')
  const person = await world.person()
  const other = await makeOperator(world, person, 'owner')
  const token = await createToken(world, ['people.read'], { headers: other.page })
  const list = (headers: Headers) => send('GET', 'identities', headers)
  assert.deepEqual(await list(token.headers), [200, undefined])
  assert.deepEqual(await suspend(other.identityId, owner.page, 'identity'), [200, undefined])
  assert.equal((await list(other.page))[0], 401, 'an account without an active identity has no session')
  assert.deepEqual(await list(token.headers), [401, 'invalid_token'])
  assert.deepEqual(await activate(other.identityId, owner.page), [204, undefined])
  assert.deepEqual(await list(token.headers), [401, 'invalid_token'], 'tokens do not return')
})

test('OPR-06 an operator whose identity is suspended has no rights in a session of the account', async () => {
  const owner = await makeOperator(world, await world.person(), 'owner')
  const person = await world.person()
  const operator = await makeOperator(world, person, 'people')
  const payload = { handle: `${person.handle}-2`, displayName: 'Second' }
  const added = await world.api.inject({ method: 'POST', url: '/api/identities', headers: person.headers, payload })
  assert.equal(added.statusCode, 201, added.body)
  assert.deepEqual(await suspend(operator.identityId, owner.page, 'identity'), [200, undefined])
  assert.deepEqual(await send('GET', 'identities', operator.page), [403, 'permission_denied'])
})

test('OPR-04 the last active owner is neither suspended nor left alone with suspended ones', async () => {
  const alone = await createWorld()
  try {
    const post = async (identityId: IdentityId) => {
      const url = `/api/admin/identities/${identityId}/suspension`
      const payload = { reason: 'Left the company' }
      const answer = await alone.api.inject({ method: 'POST', url, headers: alone.admin, payload })
      return [answer.statusCode, answer.json().error]
    }
    const first = await makeOperator(alone, await alone.person(), 'owner')
    assert.deepEqual(await post(first.identityId), [409, 'last_owner'])
    const second = await makeOperator(alone, await alone.person(), 'owner')
    const both = await Promise.all([post(first.identityId), post(second.identityId)])
    assert.deepEqual(both.map(([status]) => status).toSorted(), [200, 409])
    const active = both[0]?.[0] === 200 ? second : first
    const url = `/api/admin/operators/${active.identityId}`
    const removed = await alone.api.inject({ method: 'DELETE', url, headers: alone.admin })
    assert.deepEqual([removed.statusCode, removed.json().error], [409, 'last_owner'])
  } finally {
    await alone.close()
  }
})

test('OPR-07 no operator changes the groups of their own account, or of an operator with more rights', async () => {
  const own = await makeOperator(world, await world.person(), 'people')
  const group = { key: 'admins', displayName: 'Admins' }
  const created = await world.api.inject({
    method: 'POST',
    url: '/api/admin/groups',
    headers: own.page,
    payload: group,
  })
  const { groupId } = created.json<{ groupId: string }>()
  const member = (identityId: IdentityId, headers: Headers) =>
    send('PUT', `groups/${groupId}/members/${identityId}`, headers)
  assert.deepEqual(await member(own.identityId, own.page), [403, 'operator_protected'])
  const owner = await makeOperator(world, await world.person(), 'owner')
  const token = await createToken(world, ['groups.manage'], { headers: owner.page })
  assert.deepEqual(await member(owner.identityId, token.headers), [403, 'operator_protected'])
  assert.ok([200, 204].includes(Number((await member(own.identityId, owner.page))[0])))
  assert.deepEqual(await member(owner.identityId, own.page), [403, 'operator_protected'])
})
