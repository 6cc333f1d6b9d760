import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { limits } from '@countersign/protocol/formats/limits'
import { asId, type IdentityId } from '@countersign/protocol/ids'
import { decodeJwt } from 'jose'
import { scimPatch } from '#testing/enterprise.ts'
import { openInvited } from '#testing/invited.ts'
import { makeOperator } from '#testing/operators.ts'
import { acceptedUser, type Directory, newName, openDirectory } from '#testing/scim.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'
import { releaseDeleted } from '../release.ts'

let world: TestWorld
let directory: Directory
let operate: ReturnType<typeof openInvited>['operate']
before(async () => {
  world = await createWorld()
  directory = await openDirectory(world)
  ;({ operate } = openInvited(world))
})
after(() => world.close())

type Member = { value: string }
const scimGroup = (group: object) => ({ schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'], ...group })
const newGroupName = () => `Team ${newName()}`
async function created(fields: object = {}, from: Directory = directory) {
  const answer = await from.ask('POST', '/Groups', scimGroup({ displayName: newGroupName(), ...fields }))
  assert.equal(answer.statusCode, 201, answer.body)
  return answer.json()
}
async function membersOf(id: string): Promise<string[]> {
  const { members = [] } = (await directory.ask('GET', `/Groups/${id}`)).json<{ members?: Member[] }>()
  return members.map(({ value }) => value).toSorted()
}
const groupOf = async (id: string) => (await operate('GET', `groups/${id}`)).answer.json()
const sorted = (...ids: string[]) => ids.toSorted()

test('a group is created with members, read, replaced and deleted', async () => {
  const [ada, ben] = [await acceptedUser(world, directory), await directory.created()]
  const displayName = newGroupName()
  const answer = await directory.ask(
    'POST',
    '/Groups',
    scimGroup({ displayName, externalId: 'G-1', members: [{ value: ada.id }, { value: ben.id.toUpperCase() }] }),
  )
  assert.equal(answer.statusCode, 201, answer.body)
  const group = answer.json()
  assert.deepEqual([answer.headers['location'], answer.headers['etag']], [group.meta.location, group.meta.version])
  assert.deepEqual([group.displayName, group.externalId], [displayName, 'G-1'])
  assert.deepEqual(await membersOf(group.id), sorted(ada.id, ben.id))
  assert.match(group.members[0].$ref, /\/scim\/v2\/Users\//)
  const { key, managedBy, memberCount, protected: isProtected } = await groupOf(group.id)
  assert.deepEqual(
    { key, managedBy, memberCount, isProtected },
    {
      key: displayName.toLowerCase().replaceAll(' ', '-'),
      managedBy: directory.source,
      memberCount: 1,
      isProtected: false,
    },
  )
  // The key is of the first name.
  const replaced = await directory.ask('PUT', `/Groups/${group.id}`, scimGroup({ displayName: 'Renamed', members: [] }))
  assert.deepEqual([replaced.statusCode, replaced.json().displayName], [200, 'Renamed'])
  assert.deepEqual([(await groupOf(group.id)).key, await membersOf(group.id)], [key, []])
  assert.equal((await directory.ask('DELETE', `/Groups/${group.id}`)).statusCode, 204)
  assert.equal((await directory.ask('GET', `/Groups/${group.id}`)).statusCode, 404)
  assert.equal((await operate('GET', `groups/${group.id}`)).status, 404)
})

test('members are added and removed one by one, by filter, as a list, and all at once', async () => {
  const users = [await directory.created(), await directory.created(), await acceptedUser(world, directory)]
  const [one = '', two = '', three = ''] = users.map(({ id }): string => id)
  const { id } = await created()
  const patched = (...operations: object[]) => directory.patched(`/Groups/${id}`, ...operations)
  await patched({ op: 'Add', path: 'members', value: [{ value: one }, { value: two }] })
  await patched({ op: 'add', value: { members: [{ value: three }], displayName: 'Team three' } })
  assert.deepEqual(await membersOf(id), sorted(one, two, three))
  await patched({ op: 'remove', path: `members[value eq "${two}"]` })
  assert.deepEqual(await membersOf(id), sorted(one, three))
  await patched({ op: 'Remove', path: 'members', value: [{ value: three }] })
  assert.deepEqual(await membersOf(id), [one])
  await patched(
    { op: 'replace', path: 'members', value: [{ value: two }] },
    { op: 'add', path: 'members', value: { value: three } },
  )
  assert.deepEqual(await membersOf(id), sorted(two, three))
  await patched({ op: 'remove', path: `members[value ne "${two}"]` })
  assert.deepEqual(await membersOf(id), [two])
  await patched({ op: 'remove', path: 'members' })
  assert.deepEqual(await membersOf(id), [])
  for (const [operation, status, word] of [
    [{ op: 'add', path: 'members', value: [{ value: randomUUID() }] }, 404, undefined],
    [{ op: 'add', path: 'members', value: [{ display: 'Ada' }] }, 400, 'invalidValue'],
    [{ op: 'replace', path: `members[value eq "${one}"].value`, value: two }, 400, 'invalidPath'],
    [{ op: 'remove', path: 'displayName' }, 400, 'mutability'],
  ] as const) {
    const refused = await directory.ask('PATCH', `/Groups/${id}`, scimPatch(operation))
    assert.deepEqual([refused.statusCode, refused.json().scimType], [status, word], JSON.stringify(operation))
  }
})

test('an invited user becomes a member when the invitation is accepted, and leaves with the deletion', async () => {
  const { id } = await created()
  const user = await directory.created({ displayName: 'Ada Lovelace' })
  await directory.patched(`/Groups/${id}`, { op: 'add', path: 'members', value: [{ value: user.id }] })
  assert.deepEqual([(await groupOf(id)).memberCount, await membersOf(id)], [0, [user.id]])
  const link = (await operate('POST', `identities/${user.id}/invitation`, {})).answer.json<{ token: string }>()
  const names = { handle: user.userName, displayName: 'Ada Lovelace' }
  const ada = await world.person()
  assert.equal((await openInvited(world).acceptFurther(ada, link.token, names)).status, 201)
  assert.deepEqual([(await groupOf(id)).memberCount, await membersOf(id)], [1, [user.id]])
  const { members } = (await operate('GET', `groups/${id}/members`)).answer.json<{ members: { sources: string[] }[] }>()
  assert.deepEqual(members[0]?.sources, [directory.source])
})

test('groups are found by name, ID and member, and members can be left out', async () => {
  const user = await acceptedUser(world, directory)
  const invited = await directory.created()
  const group = await created({ externalId: 'find-me', members: [{ value: user.id }, { value: invited.id }] })
  const found = async (filter: string) => {
    const groups: { id: string }[] = await directory.found(filter, '/Groups')
    return groups.map(({ id }) => id)
  }
  for (const filter of [
    `displayName eq "${group.displayName.toUpperCase()}"`,
    `id eq "${group.id}"`,
    'externalId eq "find-me"',
    `members.value eq "${user.id}"`,
    `members[value eq "${invited.id}"]`,
    `members eq "${user.id}" and displayName sw "team"`,
  ])
    assert.deepEqual(await found(filter), [group.id], filter)
  for (const filter of ['members co "a"', 'members pr', 'key eq "a"', 'members[type eq "User"]']) {
    const answer = await directory.ask('GET', `/Groups?filter=${encodeURIComponent(filter)}`)
    assert.deepEqual([answer.statusCode, answer.json().scimType], [400, 'invalidFilter'], filter)
  }
  const bare = await directory.ask('GET', `/Groups/${group.id}?excludedAttributes=members`)
  assert.deepEqual([bare.json().members, bare.json().meta.version], [undefined, group.meta.version])
  const search = { schemas: ['urn:ietf:params:scim:api:messages:2.0:SearchRequest'], sortBy: 'displayName', count: 1 }
  const searched = (await directory.ask('POST', '/Groups/.search', search)).json()
  assert.deepEqual([searched.itemsPerPage, searched.Resources[0].schemas], [1, group.schemas])
  const all = (await directory.ask('POST', '/.search', { ...search, filter: `id eq "${group.id}"`, count: 5 })).json()
  assert.deepEqual([all.totalResults, all.Resources[0].id], [1, group.id])
})

test('SCM-16 a version guards the changes of a group and of its members', async () => {
  const { id, meta } = await created()
  const { id: value } = await directory.created()
  const change = scimPatch({ op: 'add', path: 'members', value: [{ value }] })
  const ifMatch = { 'if-match': meta.version }
  assert.equal((await directory.ask('PATCH', `/Groups/${id}`, change, ifMatch)).statusCode, 200)
  assert.equal((await directory.ask('PATCH', `/Groups/${id}`, change, ifMatch)).statusCode, 412)
  assert.equal((await directory.ask('DELETE', `/Groups/${id}`, undefined, ifMatch)).statusCode, 412)
  const same = { 'if-none-match': (await directory.ask('GET', `/Groups/${id}`)).json().meta.version }
  assert.equal((await directory.ask('GET', `/Groups/${id}`, undefined, same)).statusCode, 304)
})

test('SCM-16 a directory cannot take the key of another group, or a key with a meaning elsewhere', async () => {
  const displayName = newGroupName()
  const existing = await created({ displayName })
  for (const name of [displayName.toUpperCase(), displayName.replace(' ', '_ ').replace('_', '')]) {
    const again = await directory.ask('POST', '/Groups', scimGroup({ displayName: name }))
    assert.deepEqual([again.statusCode, again.json().scimType], [409, 'uniqueness'], name)
  }
  const other = await openDirectory(world)
  const taken = await other.ask('POST', '/Groups', scimGroup({ displayName }))
  assert.deepEqual([taken.statusCode, taken.json().scimType], [409, 'uniqueness'])
  const keyOf = async (name: string) => (await groupOf((await created({ displayName: name })).id)).key
  assert.equal(await keyOf('org:acme:Admins'), 'org-acme-admins')
  assert.equal(await keyOf('system:masters'), 'system-masters')
  assert.equal(await keyOf('Vertrieb & Märkte/DE'), 'vertrieb-markte-de')
  assert.match(await keyOf('الإدارة'), /^group-[0-9a-f]{16}$/)
  for (const name of ['Отдел 1', 'Группа 1']) assert.match(await keyOf(name), /^1-[0-9a-f]{16}$/)
  assert.ok(existing.id)
})

test('SCM-16 a directory sees and changes no group of others, and makes no one of them a member', async () => {
  const other = await openDirectory(world)
  const foreign = await created({}, other)
  const user = await directory.created()
  const theirs = await other.created()
  const plain = await operate('POST', 'groups', { key: `ops-${newName()}`, displayName: 'Operators' })
  const own = plain.answer.json<{ groupId: string }>()
  const guarded = await operate('POST', 'groups', { key: `g-${newName()}`, displayName: 'Guarded', protected: true })
  const change = scimPatch({ op: 'add', path: 'members', value: [{ value: user.id }] })
  for (const id of [foreign.id, own.groupId, guarded.answer.json<{ groupId: string }>().groupId, randomUUID(), 'x'])
    for (const [method, body] of [
      ['GET', undefined],
      ['PUT', scimGroup({ displayName: 'Taken over' })],
      ['PATCH', change],
      ['DELETE', undefined],
    ] as const)
      assert.equal((await directory.ask(method, `/Groups/${id}`, body)).statusCode, 404, `${method} ${id}`)
  assert.ok(!(await directory.ask('GET', '/Groups?count=200')).body.includes(foreign.id))

  const { id } = await created()
  const person = await world.person()
  for (const value of [theirs.id, person.identityId]) {
    const add = scimPatch({ op: 'add', path: 'members', value: [{ value }] })
    assert.equal((await directory.ask('PATCH', `/Groups/${id}`, add)).statusCode, 404)
  }
})

test('OPR-07 a directory neither adds nor removes an identity of the account whose rights it has', async () => {
  const [person, handed] = [await world.person(), await openDirectory(world)]
  const [self, other] = [await acceptedUser(world, handed, person), await acceptedUser(world, handed)]
  const [joined, empty] = [await created({ members: [{ value: self.id }] }, handed), await created({}, handed)]
  const { page } = await makeOperator(world, person, 'owner')
  const rotated = await operate('POST', `scim-tokens/${handed.tokenId}/rotate`, undefined, page)
  const headers = {
    authorization: `Bearer ${rotated.answer.json<{ token: string }>().token}`,
    'content-type': 'application/scim+json',
  }
  const change = async (op: 'add' | 'remove', { id }: { id: string }, user: { id: string }) => {
    const payload = JSON.stringify(scimPatch({ op, path: 'members', value: [{ value: user.id }] }))
    const answer = await world.api.inject({ method: 'PATCH', url: `/scim/v2/Groups/${id}`, headers, payload })
    return [answer.statusCode, (await groupOf(id)).memberCount]
  }
  assert.deepEqual(await change('remove', joined, self), [403, 1])
  assert.deepEqual(await change('add', empty, self), [403, 0])
  assert.deepEqual(await change('add', empty, other), [200, 1])
})

test('SCM-16 operators do not change the group of a directory, but can protect and delete it', async () => {
  const { id } = await created()
  const person = await world.person()
  for (const [method, path, payload] of [
    ['PATCH', `groups/${id}`, { displayName: 'Other' }],
    ['PUT', `groups/${id}/members/${person.identityId}`, undefined],
    ['POST', `groups/${id}/members/batch`, { remove: [person.identityId] }],
  ] as const) {
    const refused = await operate(method, path, payload)
    assert.deepEqual([refused.status, refused.error], [409, 'managed_elsewhere'], path)
  }
  assert.equal((await operate('PATCH', `groups/${id}`, { protected: true })).status, 200)
  const user = await acceptedUser(world, directory)
  await directory.patched(`/Groups/${id}`, { op: 'add', path: 'members', value: [{ value: user.id }] })
  assert.deepEqual(await membersOf(id), [user.id])
  assert.equal((await operate('DELETE', `groups/${id}`)).status, 204)
  assert.equal((await directory.ask('GET', `/Groups/${id}`)).statusCode, 404)
})

test('SCM-17 a group is in no claim until an operator assigns it', async () => {
  const user = await acceptedUser(world, directory)
  const group = await created({ members: [{ value: user.id }] })
  const { key } = await groupOf(group.id)
  const app = await world.app({ allowedScopes: ['openid', 'profile', 'groups'] })
  const person = { headers: user.headers, identityId: (await openInvited(world).entryOf(user.id)).identityId }
  const groupsOf = async () => {
    const { id_token: idToken } = await app.tokens(person, { scope: 'openid groups' })
    return decodeJwt(idToken ?? '')['groups']
  }
  assert.deepEqual((await groupsOf()) ?? [], [])
  const access = { mode: 'restricted', groups: [key] }
  assert.equal((await operate('PATCH', `apps/${app.clientId}`, { access })).status, 200)
  assert.deepEqual(await groupsOf(), [key])
  await directory.patched(`/Groups/${group.id}`, { op: 'remove', path: 'members' })
  await assert.rejects(groupsOf(), /app_access_denied/)
})

test('a group of a deleted token keeps its members, and belongs to operators', async () => {
  const ended = await openDirectory(world)
  const user = await acceptedUser(world, ended)
  const group = await created({ members: [{ value: user.id }] }, ended)
  assert.equal((await operate('DELETE', `scim-tokens/${ended.tokenId}`)).status, 204)
  while ((await releaseDeleted(world.db, world.now(), 100)) > 0);
  const { managedBy, memberCount } = await groupOf(group.id)
  assert.deepEqual({ managedBy, memberCount }, { managedBy: null, memberCount: 1 })
  assert.equal((await operate('DELETE', `groups/${group.id}/members/${user.id}`)).status, 204)
  assert.equal((await groupOf(group.id)).memberCount, 0)
})

test('CLM-07 a group of a deleted token is protected if claims of an app name its key', async () => {
  const ended = await openDirectory(world)
  const displayName = newGroupName()
  const key = displayName.toLowerCase().replaceAll(' ', '-')
  const mapping = { claim: 'level', source: 'groups', scope: 'groups', as: 'string', map: { [key]: 'Admin' } }
  const { clientId } = await world.app()
  assert.equal((await operate('PUT', `apps/${clientId}/claims`, { claims: [mapping] })).status, 200)
  const group = await created({ displayName }, ended)
  assert.equal((await groupOf(group.id)).key, key)
  assert.equal((await operate('DELETE', `scim-tokens/${ended.tokenId}`)).status, 204)
  while ((await releaseDeleted(world.db, world.now(), 100)) > 0);
  const { managedBy, protected: isProtected } = await groupOf(group.id)
  assert.deepEqual({ managedBy, isProtected }, { managedBy: null, isProtected: true })
})

test('more members than a response shows are left out on request, and change one by one', async () => {
  const large = await openDirectory(world)
  const user = await large.created()
  const { id } = await created({}, large)
  const row = await world.db
    .selectFrom('invited_identity')
    .selectAll()
    .where('identity_id', '=', user.id)
    .executeTakeFirstOrThrow()
  const rows = Array.from({ length: limits.scimMembersShownMax + 1 }, (_, nth) => ({
    ...row,
    ...{ identity_id: asId<IdentityId>(randomUUID()), handle: `${row.handle}-${nth}`, group_ids: [id] },
  }))
  await world.db.transaction().execute(async (tx) => {
    for (let at = 0; at < rows.length; at += 5000)
      await tx
        .insertInto('invited_identity')
        .values(rows.slice(at, at + 5000))
        .execute()
  })
  const read = await large.ask('GET', `/Groups/${id}`)
  assert.deepEqual([read.statusCode, read.json().scimType], [400, 'tooMany'])
  assert.equal((await large.ask('GET', `/Groups/${id}?excludedAttributes=members`)).statusCode, 200)
  const added = await large.ask(
    'PATCH',
    `/Groups/${id}`,
    scimPatch({ op: 'add', path: 'members', value: [{ value: user.id }] }),
  )
  assert.deepEqual([added.statusCode, added.body], [204, ''])
  await world.db
    .deleteFrom('invited_identity')
    .where('identity_id', '<>', user.id)
    .where('managed_by', '=', large.source)
    .execute()
  assert.equal((await large.ask('GET', `/Groups/${id}`)).json().members.length, 1)
})
