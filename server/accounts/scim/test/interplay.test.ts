import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { ResponseOf } from '@countersign/protocol/api'
import { scimPatch, scimUser } from '#testing/enterprise.ts'
import { openInvited } from '#testing/invited.ts'
import { isShared, untilWaiting } from '#testing/lock-waits.ts'
import { activate, makeOperator, sibling, suspend } from '#testing/operators.ts'
import { register, startRegistration } from '#testing/registration.ts'
import { acceptedUser, createScimToken, type Directory, newName, openDirectory } from '#testing/scim.ts'
import { createWorld, type Person, type TestWorld } from '#testing/world.ts'
import { pruneSuspensions } from '#accounts/identities/suspension.ts'
import { transaction } from '#platform/database/database.ts'
import { releaseDeleted } from '../release.ts'

let world: TestWorld
let directory: Directory
let invited: ReturnType<typeof openInvited>
before(async () => {
  world = await createWorld()
  directory = await openDirectory(world)
  invited = openInvited(world)
})
after(() => world.close())

const off = { op: 'replace', path: 'active', value: false }
const groupUrn = 'urn:ietf:params:scim:schemas:core:2.0:Group'
const day = 24 * 3600

async function admin(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, payload?: object) {
  const url = `/api/admin/${path}`
  return world.api.inject({ method, url, headers: world.admin, ...(payload && { payload }) })
}

async function release({ tokenId }: Directory): Promise<void> {
  assert.equal((await admin('DELETE', `scim-tokens/${tokenId}`)).statusCode, 204)
  while ((await releaseDeleted(world.db, world.now(), 100)) > 0);
}

const statusOf = async (identityId: string) => (await invited.entryOf(identityId)).status

test('SCM-13 operators see an identity that a directory and they suspend', async () => {
  const user = await acceptedUser(world, directory)
  await directory.patched(`/Users/${user.id}`, off)
  await suspend(world, { identityId: user.id }, { reason: 'By us' })
  const entry = await invited.entryOf(user.id)
  assert.deepEqual([entry.status, entry.statusReason], ['suspended', 'By us'])
  assert.equal((await admin('GET', 'identities?status=suspended')).statusCode, 200)
})

test('SCM-13 operators see which directory manages an identity, and list those of one', async () => {
  const source = await openDirectory(world)
  const accepted = await acceptedUser(world, source)
  const waiting = await source.created()
  const mine = `scim:${source.tokenId}`
  const read = async (query: string) => {
    const answer = await admin('GET', `identities?${query}`)
    assert.equal(answer.statusCode, 200, answer.body)
    const { identities, ...counted } = answer.json<ResponseOf<'GET /api/admin/identities'>>()
    return { ids: identities.map(({ identityId }) => identityId).toSorted(), identities, ...counted }
  }
  const listed = await read(`managedBy=${mine}`)
  assert.deepEqual(listed.ids, [accepted.id, waiting.id].toSorted())
  assert.deepEqual([listed.count, listed.countIs], [2, 'exact'])
  assert.ok(listed.identities.every(({ managedBy }) => managedBy === mine))
  assert.equal((await invited.entryOf(accepted.id)).managedBy, mine)
  assert.deepEqual((await read(`managedBy=${mine}&status=invited`)).ids, [waiting.id])
  const { identityId } = await world.person()
  const others = await read('managedBy=self&limit=100')
  assert.ok(others.ids.includes(identityId) && !others.ids.includes(accepted.id) && !others.ids.includes(waiting.id))
  assert.ok(others.identities.every(({ managedBy }) => managedBy === 'self'))
  for (const wrong of ['scim:', 'config', `scim:${source.tokenId}x`])
    assert.equal((await admin('GET', `identities?managedBy=${wrong}`)).statusCode, 400, wrong)
})

test('SCM-13 what a deleted token has suspended stays so, and operators end it', async () => {
  const source = await openDirectory(world)
  const user = await acceptedUser(world, source)
  const until = new Date(world.now().getTime() + day * 1000).toISOString()
  await suspend(world, { identityId: user.id }, { scope: 'identity', until })
  await source.patched(`/Users/${user.id}`, off)
  await release(source)
  world.pass(2 * day)
  await pruneSuspensions(world.db, world.now(), 100)
  assert.equal(await statusOf(user.id), 'suspended')
  await activate(world, { identityId: user.id })
  assert.equal(await statusOf(user.id), 'active')
  const rows = await world.db.selectFrom('identity').select('suspended_at').where('identity_id', '=', user.id).execute()
  assert.deepEqual(rows, [{ suspended_at: null }])
})

test('SCM-10 an invited user deleted by an operator is unknown to the directory, and can be added', async () => {
  const user = await directory.created()
  const { handle } = await invited.entryOf(user.id)
  const deleted = await admin('DELETE', `identities/${user.id}`, { confirm: handle, reason: 'Twice' })
  assert.equal(deleted.statusCode, 200, deleted.body)
  assert.equal((await directory.ask('GET', `/Users/${user.id}`)).statusCode, 404)
  const again = await directory.ask('POST', '/Users', scimUser({ userName: user.userName }))
  assert.equal(again.statusCode, 201, again.body)
})

test('SCM-09 a token stays void when its creator is suspended, or removed, and becomes an owner again', async () => {
  await makeOperator(world, await world.person(), 'owner')
  const statusWith = async (token: string) =>
    (await world.api.inject({ url: '/scim/v2/Users', headers: { authorization: `Bearer ${token}` } })).statusCode
  const removed = async ({ identityId, handle }: Pick<Person, 'identityId' | 'handle'>) => {
    const path = `operators/${identityId}`
    assert.equal((await admin('DELETE', path)).statusCode, 204)
    world.pass(1)
    assert.equal((await admin('POST', 'operators', { handle, role: 'owner' })).statusCode, 201)
  }
  const suspended = async (person: Pick<Person, 'identityId'>) => {
    await suspend(world, person)
    await activate(world, person)
  }
  for (const end of [removed, suspended]) {
    const person = await world.person()
    const owner = await makeOperator(world, person, 'owner')
    const { token, scimToken } = await createScimToken(world, owner.page)
    assert.equal(await statusWith(token), 200)
    await end(person)
    assert.equal(await statusWith(token), 401)
    const rotated = (await admin('POST', `scim-tokens/${scimToken.tokenId}/rotate`)).json()
    assert.equal(await statusWith(rotated.token), 200)
  }
})

test('SCM-17 an app that gets all groups gets those of a directory only if it names them', async () => {
  const user = await acceptedUser(world, directory)
  const sent = { schemas: [groupUrn], displayName: 'Admins', members: [{ value: user.id }] }
  const group = await directory.ask('POST', '/Groups', sent)
  assert.equal(group.statusCode, 201, group.body)
  const app = await world.app({ allowedScopes: ['openid', 'groups'], groupsClaim: { include: 'all' } })
  const groups = async () => {
    const preview = await admin('POST', `apps/${app.clientId}/claims/preview`, { identityId: user.id })
    return preview.json().idToken.groups
  }
  assert.deepEqual(await groups(), [])
  await admin('PATCH', `apps/${app.clientId}`, { access: { groups: ['admins'] } })
  assert.deepEqual(await groups(), ['admins'])
})

test('a username can be changed back', async () => {
  const user = await acceptedUser(world, directory)
  const handleOf = async () => (await invited.entryOf(user.id)).handle
  for (const userName of [newName(), user.userName]) {
    await directory.patched(`/Users/${user.id}`, { op: 'replace', path: 'userName', value: userName })
    assert.equal(await handleOf(), userName)
  }
})

test('SCM-13 a registration that began with a former username is refused', async () => {
  const user = await directory.created({ displayName: 'Ada Lovelace' })
  const { token } = (await invited.operate('POST', `identities/${user.id}/invitation`, {})).answer.json()
  const names = { handle: user.userName, displayName: 'Ada Lovelace' }
  const started = await startRegistration(world, { invitation: token }, names)
  assert.equal(started.status, 200)
  await directory.patched(`/Users/${user.id}`, { op: 'replace', path: 'userName', value: newName() })
  assert.equal((await started.finish()).error, 'invitation_expired')
  assert.equal((await directory.ask('GET', `/Users/${user.id}`)).statusCode, 200)
})

test('an invited user joins the groups of a token that was deleted', async () => {
  const source = await openDirectory(world)
  const user = await source.created({ displayName: 'Ada Lovelace' })
  const displayName = `Left ${newName()}`
  const group = await source.ask('POST', '/Groups', { schemas: [groupUrn], displayName, members: [{ value: user.id }] })
  assert.equal(group.statusCode, 201, group.body)
  const { groupId } = { groupId: group.json().id }
  const { token } = (await invited.operate('POST', `identities/${user.id}/invitation`, {})).answer.json()
  await release(source)
  const names = { handle: user.userName, displayName: 'Ada Lovelace' }
  assert.equal((await register(world, { invitation: token }, names)).status, 201)
  assert.equal((await admin('GET', `groups/${groupId}`)).json().memberCount, 1)
})

test('an export has no invitations of users of a directory', async () => {
  await directory.created({ emails: [{ value: `${newName()}@example.org`, primary: true }] })
  const { invitations } = (await admin('GET', 'export')).json()
  assert.equal(invitations, undefined)
})

test('SCM-12 events of an identity that no directory manages name none', async () => {
  const user = await acceptedUser(world, directory)
  const person = { identityId: user.id, headers: user.headers } as Person
  const other = await sibling(world, person)
  await admin('POST', 'webhooks', { url: 'http://localhost:9/hook' })
  await directory.patched(`/Users/${user.id}`, off)
  const events = await world.db
    .selectFrom('app_event')
    .select('data')
    .where('type', '=', 'identity.suspended')
    .execute()
  const by = new Map(events.map(({ data }) => JSON.parse(data)).map((data) => [data.identityId, data.by]))
  assert.deepEqual([by.get(user.id), by.get(other.identityId)], ['scim', 'operator'])
})

test('SCM-11 a time that no database can compare is refused, and many filtered removals too', async () => {
  for (const year of ['-200000', '+010000', '0000'])
    assert.equal(
      (await directory.ask('GET', `/Users?filter=${encodeURIComponent(`meta.created gt "${year}-01-01T00:00:00Z"`)}`))
        .statusCode,
      400,
      year,
    )
  const group = await directory.ask('POST', '/Groups', { schemas: [groupUrn], displayName: newName() })
  const scan = { op: 'remove', path: 'members[value co "~"]' }
  const path = `/Groups/${group.json().id}`
  assert.equal(
    (await directory.ask('PATCH', path, scimPatch(...Array.from({ length: 5 }, () => scan)))).statusCode,
    200,
  )
  const refused = await directory.ask('PATCH', path, scimPatch(...Array.from({ length: 6 }, () => scan)))
  assert.deepEqual([refused.statusCode, refused.json().scimType], [400, 'tooMany'])
})

test('SCM-19 a user who accepts while the directory adds them to a group becomes its member', async () => {
  const user = await directory.created({ displayName: 'Ada Lovelace' })
  const answer = await directory.ask('POST', '/Groups', { schemas: [groupUrn], displayName: newName() })
  const group = answer.json()
  const link = await invited.operate('POST', `identities/${user.id}/invitation`, {})
  const { token } = link.answer.json<{ token: string }>()
  const names = { handle: user.userName, displayName: 'Ada Lovelace' }
  const add = () =>
    directory.patched(`/Groups/${group.id}`, { op: 'add', path: 'members', value: [{ value: user.id }] })
  const accept = async () => assert.equal((await register(world, { invitation: token }, names)).status, 201)

  const adding = await transaction(world.db, async (tx) => {
    await tx.selectFrom('user_group').select('key').where('group_id', '=', group.id).forUpdate().execute()
    const begun = add()
    await untilWaiting(world.db, 1)
    if (isShared) await accept()
    return { begun }
  })
  if (!isShared) await accept()
  await adding.begun
  const members = await directory.ask('GET', `/Groups/${group.id}`)
  assert.deepEqual(
    members.json().members.map(({ value }: { value: string }) => value),
    [user.id],
  )
  assert.equal((await invited.entryOf(user.id)).status, 'active')
})
