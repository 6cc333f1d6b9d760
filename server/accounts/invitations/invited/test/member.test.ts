import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { AuditEvent } from '@countersign/protocol/operations/audit'
import { openInvited } from '#testing/invited.ts'
import { createToken, makeOperator } from '#testing/operators.ts'
import { register } from '#testing/registration.ts'
import { openDirectory } from '#testing/scim.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

type Log = { entries: AuditEvent[] }

let world: TestWorld
let operator: ReturnType<typeof openInvited>
before(async () => {
  world = await createWorld()
  operator = openInvited(world)
})
after(() => world.close())

async function createGroup(key: string, fields: object = {}): Promise<string> {
  const { status, answer } = await operator.operate('POST', 'groups', { key, displayName: key, ...fields })
  assert.equal(status, 201, answer.body)
  return answer.json().groupId
}

const groupsOf = async (identityId: string) => (await operator.entryOf(identityId)).groups

test('REG-16 an invited identity does not join a group from which an operator has removed it', async () => {
  const [first, second] = [await createGroup('first'), await createGroup('second')]
  const one = await operator.add({ groups: ['first', 'second'] })
  const other = await operator.add({ groups: ['first', 'second'] })
  const people = await makeOperator(world, await world.person(), 'people')
  const path = `groups/${first}/members/${one.identityId}`
  assert.equal((await operator.operate('DELETE', path, undefined, people.page)).status, 204)
  const { answer } = await operator.operate('GET', `invitations/${one.invitation.invitationId}`)
  assert.deepEqual(answer.json().groups, ['second'])
  const batch = { remove: [one.identityId, other.identityId] }
  const changed = await operator.operate('POST', `groups/${first}/members/batch`, batch)
  assert.deepEqual(changed.answer.json(), { added: 0, removed: 1, memberCount: 0 })
  for (const { identityId, token, names } of [one, other]) {
    assert.equal((await register(world, { invitation: token }, names)).status, 201)
    assert.deepEqual(await groupsOf(identityId), ['second'])
  }
  const { entries } = (await operator.operate('GET', 'audit?action=group.member.removed')).answer.json<Log>()
  assert.deepEqual(
    entries.map(({ actor, identityId }) => [actor.id, identityId]),
    [
      [null, other.identityId],
      [people.identityId, one.identityId],
    ],
  )
  assert.equal((await operator.operate('GET', `groups/${second}`)).answer.json().memberCount, 2)
})

test('REG-16 removing an invited identity from a group needs the rights over its members', async () => {
  const groupId = await createGroup('vault', { protected: true })
  const { identityId, token, names } = await operator.add({ groups: ['vault'] })
  const people = await makeOperator(world, await world.person(), 'people')
  const inviting = await createToken(world, ['people.invite', 'people.read'])
  const path = `groups/${groupId}/members/${identityId}`
  for (const headers of [people.page, inviting.headers])
    assert.equal((await operator.operate('DELETE', path, undefined, headers)).error, 'permission_denied')
  assert.equal((await register(world, { invitation: token }, names)).status, 201)
  assert.deepEqual(await groupsOf(identityId), ['vault'])
})

test('REG-16 operators cannot remove an invited identity from a group of a directory', async () => {
  const directory = await openDirectory(world)
  const { id } = await directory.created()
  const schemas = ['urn:ietf:params:scim:schemas:core:2.0:Group']
  const group = await directory.ask('POST', '/Groups', { schemas, displayName: 'Staff', members: [{ value: id }] })
  const refused = await operator.operate('DELETE', `groups/${group.json().id}/members/${id}`)
  assert.deepEqual([refused.status, refused.error], [409, 'managed_elsewhere'])
  assert.deepEqual(await groupsOf(id), ['staff'])
})
