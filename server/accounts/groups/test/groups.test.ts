import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { limits } from '@countersign/protocol/formats/limits'
import { type IdentityId, asId } from '@countersign/protocol/ids'
import type { Group } from '@countersign/protocol/accounts/groups'
import { pruneDeletedGroups } from '#accounts/groups/group.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
const send = (method: Method, path: string, payload?: object) =>
  world.api.inject({ method, url: `/api/admin/groups${path}`, headers: world.admin, ...(payload && { payload }) })

async function created(key: string): Promise<Group> {
  const answer = await send('POST', '', { key, displayName: key })
  assert.equal(answer.statusCode, 201, answer.body)
  return answer.json()
}

const batch = (groupId: string, payload: object) => send('POST', `/${groupId}/members/batch`, payload)
const countOf = async (groupId: string) => (await send('GET', `/${groupId}`)).json<Group>().memberCount

/** Inserts identities in bulk. They belong to no account that signs in. */
async function manyIdentities(count: number): Promise<IdentityId[]> {
  const person = await world.person()
  const ids = Array.from({ length: count }, () => asId<IdentityId>(randomUUID()))
  const row = await world.db.selectFrom('identity').selectAll().where('identity_id', '=', person.identityId).execute()
  const [copied] = row
  assert.ok(copied)
  const rows = ids.map((identityId) => ({ ...copied, identity_id: identityId, handle: `h-${identityId.slice(0, 20)}` }))
  await world.db.insertInto('identity').values(rows).execute()
  return ids
}

test('an operator creates, finds, changes and deletes a group', async () => {
  const group = await created('staff')
  assert.deepEqual(
    { ...group, groupId: '', createdAt: '', updatedAt: '' },
    {
      ...{ groupId: '', key: 'staff', displayName: 'staff', description: null },
      ...{ protected: false, organizationId: null, managedBy: null, memberCount: 0, createdAt: '', updatedAt: '' },
    },
  )
  const changed = await send('PATCH', `/${group.groupId}`, { displayName: 'Staff', description: 'All of us' })
  assert.equal(changed.json().displayName, 'Staff')
  assert.deepEqual((await send('GET', '?key=staff')).json().groups, [changed.json()])
  assert.equal((await send('POST', '', { key: 'staff', displayName: 'Again' })).json().error, 'group_exists')
  assert.equal((await send('PATCH', `/${group.groupId}`, { key: 'other' })).statusCode, 400)

  assert.equal((await send('DELETE', `/${group.groupId}`)).statusCode, 204)
  for (const [method, path] of [
    ['GET', ''],
    ['DELETE', ''],
    ['GET', '/members'],
  ] as const)
    assert.equal((await send(method, `/${group.groupId}${path}`)).json().error, 'group_not_found')
  assert.notEqual((await created('staff')).groupId, group.groupId)
})

test('GRP-01 a key is ASCII and neither look-alike nor of another kind of group', async () => {
  const alike = [
    'аdmins',
    'adm\u0131ns',
    'ａdmins',
    'admins\u200b',
    'admins ',
    'Admins',
    'ad mins',
    'admins\n',
    'admins\0',
  ]
  const others = ['', '-admins', '.admins', '__proto__', 'a'.repeat(64), 'system:masters', 'system:', 'org:acme:admins']
  for (const key of [...alike, ...others]) {
    const answer = await send('POST', '', { key, displayName: 'Admins' })
    assert.equal(answer.statusCode, 400, key)
    assert.equal(answer.json().error, 'invalid_request', key)
  }
  for (const key of ['a'.repeat(63), '0/x:y._-', 'systems', 'constructor']) await created(key)
})

test('groups are listed by key in pages, each once', async () => {
  const made = ['p-b', 'p-a', 'p-c', 'p-10', 'p-9']
  for (const key of made) await created(key)
  type Page = { groups: Group[]; nextCursor: string | null }
  const found: string[] = []
  for (let cursor: string | null = 'p'; cursor !== null;) {
    const page: Page = (await send('GET', `?limit=2&cursor=${cursor}`)).json()
    found.push(...page.groups.map(({ key }) => key))
    cursor = page.nextCursor
  }
  assert.deepEqual(
    found.filter((key) => key.startsWith('p-')),
    made.toSorted(),
  )
})

test('members are added and removed once, counted, and listed by ID', async () => {
  const { groupId } = await created('eng')
  const people = [await world.person(), await world.person(), await world.person()]
  const [ada, bob, cyd] = people.map(({ identityId }) => identityId)
  for (let again = 0; again < 2; again += 1)
    assert.equal((await send('PUT', `/${groupId}/members/${ada}`)).statusCode, 204)
  assert.deepEqual((await batch(groupId, { add: [ada, bob, cyd] })).json(), { added: 2, removed: 0, memberCount: 3 })
  assert.deepEqual((await batch(groupId, { remove: [bob] })).json(), { added: 0, removed: 1, memberCount: 2 })
  for (let again = 0; again < 2; again += 1)
    assert.equal((await send('DELETE', `/${groupId}/members/${bob}`)).statusCode, 204)

  type Page = { members: { identityId: string; handle: string; sources: string[] }[]; nextCursor: string | null }
  const first = (await send('GET', `/${groupId}/members?limit=1`)).json<Page>()
  const second = (await send('GET', `/${groupId}/members?limit=1&cursor=${first.nextCursor}`)).json<Page>()
  assert.equal(second.nextCursor, null)
  const listed = [...first.members, ...second.members]
  assert.deepEqual(
    listed.map(({ identityId }) => identityId),
    [ada, cyd].toSorted(),
  )
  assert.ok(listed.every(({ sources, handle }) => String(sources) === 'manual' && handle.startsWith('person-')))
  assert.equal(await countOf(groupId), 2)
})

test('GRP-02 a batch with an unknown identity, or one twice, changes nothing', async () => {
  const { groupId } = await created('batch')
  const [ada, bob] = [await world.person(), await world.person()]
  await batch(groupId, { add: [bob.identityId] })
  const stranger = randomUUID()
  const refused = await batch(groupId, { add: [ada.identityId, stranger], remove: [bob.identityId] })
  assert.equal(refused.statusCode, 404)
  assert.deepEqual(refused.json().identityIds, [stranger])
  const contradicting = await batch(groupId, { add: [ada.identityId], remove: [ada.identityId] })
  assert.equal(contradicting.json().error, 'invalid_request')
  const tooMany = Array.from({ length: limits.groupMemberChangesMax }, () => randomUUID())
  assert.equal((await batch(groupId, { add: tooMany, remove: [bob.identityId] })).json().error, 'invalid_request')
  assert.equal((await batch(groupId, {})).statusCode, 400)
  assert.deepEqual((await batch(groupId, { add: [], remove: [] })).json(), { added: 0, removed: 0, memberCount: 1 })
  assert.equal((await batch(randomUUID(), { add: [ada.identityId] })).json().error, 'group_not_found')
  assert.equal(await countOf(groupId), 1)
  // Removing an identity that does not exist tells nothing about it.
  assert.equal((await send('DELETE', `/${groupId}/members/${stranger}`)).statusCode, 204)
})

test('a batch adds 1,000 members', async () => {
  const { groupId } = await created('thousand')
  const add = await manyIdentities(limits.groupMemberChangesMax)
  assert.deepEqual((await batch(groupId, { add })).json(), { added: 1000, removed: 0, memberCount: 1000 })
  assert.deepEqual((await batch(groupId, { remove: add })).json(), { added: 0, removed: 1000, memberCount: 0 })
  await world.db.deleteFrom('identity').where('identity_id', 'in', add).execute()
})

test('GRP-03 an identity is in at most 500 groups', async () => {
  const { identityId } = await world.person()
  const groupIds = Array.from({ length: limits.groupsPerIdentityMax }, () => randomUUID())
  const [createdAt, updatedAt] = [world.now(), world.now()]
  await world.db
    .insertInto('user_group')
    .values(
      groupIds.map((group_id, nth) => ({
        ...{ group_id, key: `many-${nth}`, display_name: 'Many', member_count: 1 },
        ...{ created_at: createdAt, updated_at: updatedAt },
      })),
    )
    .execute()
  const members = groupIds.map((group_id) => ({ group_id, identity_id: identityId }))
  await world.db
    .insertInto('group_member')
    .values(members.map((row) => ({ ...row, source: 'manual', added_at: createdAt })))
    .execute()
  await world.db.insertInto('group_member_by_group').values(members).execute()
  const { groupId } = await created('one-more')
  const refused = await send('PUT', `/${groupId}/members/${identityId}`)
  assert.equal(refused.statusCode, 409)
  assert.equal(refused.json().error, 'too_many_groups')
  assert.equal(await countOf(groupId), 0)
  await send('DELETE', `/${groupIds[0]}`)
  assert.equal((await send('PUT', `/${groupId}/members/${identityId}`)).statusCode, 204)
})

test('a deleted group leaves no members behind, in however many batches', async () => {
  const { groupId } = await created('gone')
  const people = [await world.person(), await world.person(), await world.person()]
  await batch(groupId, { add: people.map(({ identityId }) => identityId) })
  await send('DELETE', `/${groupId}`)
  let pruned = 0
  for (let deleted = 1; deleted > 0; pruned += deleted) deleted = await pruneDeletedGroups(world.db, world.now(), 2)
  assert.ok(pruned >= 4)
  for (const table of ['user_group', 'group_member', 'group_member_by_group'] as const)
    assert.deepEqual(await world.db.selectFrom(table).select('group_id').where('group_id', '=', groupId).execute(), [])
})

test('a deleted account leaves its groups, and their counts stay true', async () => {
  const groups = [await created('left-a'), await created('left-b')]
  const [person, other] = [await world.person(), await world.person()]
  for (const { groupId } of groups) await batch(groupId, { add: [person.identityId, other.identityId] })
  const exported = await world.api.inject({ url: '/api/account/export', headers: person.headers })
  assert.deepEqual(
    exported.json().identities[0].groups.map(({ key }: { key: string }) => key),
    ['left-a', 'left-b'],
  )
  const gone = await world.api.inject({ method: 'DELETE', url: '/api/account', headers: person.headers })
  assert.equal(gone.statusCode, 204, gone.body)
  for (const { groupId } of groups) assert.equal(await countOf(groupId), 1)
})

test('GRP-04 concurrent changes of members and the deletion of an account keep every count true', async () => {
  const groups = [await created('race-a'), await created('race-b')]
  const people = await Promise.all(Array.from({ length: 4 }, () => world.person()))
  const ids = people.map(({ identityId }) => identityId)
  const changes = groups.flatMap(({ groupId }) =>
    ids.flatMap((identityId) => [batch(groupId, { add: [identityId] }), batch(groupId, { remove: [identityId] })]),
  )
  const [leaving] = people
  const deletion = world.api.inject({ method: 'DELETE', url: '/api/account', headers: leaving?.headers ?? {} })
  const answers = await Promise.all([...changes, deletion])
  // The identity may be gone before it is added.
  for (const { statusCode } of answers) assert.ok([200, 204, 404].includes(statusCode), String(statusCode))
  for (const { groupId } of groups) {
    const listed = await send('GET', `/${groupId}/members`)
    const { members } = listed.json<{ members: { identityId: string }[] }>()
    assert.equal(await countOf(groupId), members.length)
    assert.ok(!members.some(({ identityId }) => identityId === leaving?.identityId))
  }
})

test('a user sees in their activity that an operator added or removed them', async () => {
  const person = await world.person()
  const { groupId } = await created('seen')
  await send('PUT', `/${groupId}/members/${person.identityId}`)
  await send('DELETE', `/${groupId}/members/${person.identityId}`)
  const answer = await world.api.inject({ url: '/api/account/activity?kind=identities', headers: person.headers })
  const entries = answer.json<{ entries: { action: string; details: object }[] }>().entries
  assert.deepEqual(
    entries.slice(0, 2).map(({ action, details }) => [action, details]),
    [
      ['group.member.removed', { groupId, key: 'seen' }],
      ['group.member.added', { groupId, key: 'seen' }],
    ],
  )
})
