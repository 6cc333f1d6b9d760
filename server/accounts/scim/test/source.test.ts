import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { scimPatch, scimUser } from '#testing/enterprise.ts'
import { newHandle, openInvited } from '#testing/invited.ts'
import { activate, createToken, makeOperator, sibling, suspend } from '#testing/operators.ts'
import { reauthenticate } from '#testing/organization.ts'
import { register } from '#testing/registration.ts'
import { acceptedUser, createScimToken, type Directory, newName, openDirectory } from '#testing/scim.ts'
import { createWorld, type Person, type TestWorld } from '#testing/world.ts'
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

const off = scimPatch({ op: 'replace', path: 'active', value: false })
const on = scimPatch({ op: 'replace', path: 'active', value: true })

const accepted = (from: Directory, further?: Person) => acceptedUser(world, from, further)

const sessionStatus = async ({ headers }: Pick<Person, 'headers'>) =>
  (await world.api.inject({ url: '/api/auth/sessions', headers })).statusCode
const statusOf = async (identityId: string) => (await invited.entryOf(identityId)).status
const activeOf = async (from: Directory, id: string) => (await from.ask('GET', `/Users/${id}`)).json().active

test('SCM-09 owners alone create tokens, which are shown once, replaced, and refused once they end', async () => {
  const operator = await makeOperator(world, await world.person(), 'people')
  const url = '/api/admin/scim-tokens'
  const denied = await world.api.inject({ method: 'POST', url, headers: operator.page, payload: { name: 'A' } })
  assert.deepEqual([denied.statusCode, denied.json().permission], [403, 'tokens.manage'])
  await makeOperator(world, await world.person(), 'owner')
  const owner = await makeOperator(world, await world.person(), 'owner')
  const made = await createScimToken(world, owner.page)
  assert.match(made.token, /^cs_scim_[\w-]{49}$/)
  const listed = await world.api.inject({ url, headers: world.admin })
  assert.ok(!listed.body.includes(made.token))
  const statusWith = async (token: string) =>
    (await world.api.inject({ url: '/scim/v2/Users', headers: { authorization: `Bearer ${token}` } })).statusCode
  assert.equal(await statusWith(made.token), 200)

  const rotate = { method: 'POST', url: `${url}/${made.scimToken.tokenId}/rotate`, headers: owner.page } as const
  const rotated = (await world.api.inject(rotate)).json()
  assert.deepEqual([await statusWith(made.token), await statusWith(rotated.token)], [401, 200])
  // The rights of its creator limit it.
  await world.api.inject({
    ...{ method: 'PATCH', url: `/api/admin/operators/${owner.identityId}`, headers: world.admin },
    payload: { role: 'people' },
  })
  assert.equal(await statusWith(rotated.token), 401)
  const again = (await world.api.inject({ ...rotate, headers: world.admin })).json()
  assert.equal(await statusWith(again.token), 200)
  world.pass(367 * 24 * 3600)
  assert.equal(await statusWith(again.token), 401)
  world.pass(-367 * 24 * 3600)
  const remove = { method: 'DELETE', url: `${url}/${made.scimToken.tokenId}`, headers: world.admin } as const
  assert.equal((await world.api.inject(remove)).statusCode, 204)
  assert.equal(await statusWith(again.token), 401)
  assert.equal((await world.api.inject(remove)).statusCode, 404)
})

test('SCM-10 tokens of other kinds and none are refused alike, in the format of SCIM', async () => {
  const admin = await createToken(world, ['people.read', 'people.edit'])
  const person = await world.person()
  const tokens = [admin.token, person.sessionToken, world.kernel.adminToken.reveal(), `${directory.token}x`, 'x', '']
  for (const token of tokens) {
    const answer = await world.api.inject({ url: '/scim/v2/Users', headers: { authorization: `Bearer ${token}` } })
    assert.match(String(answer.headers['content-type']), /^application\/scim\+json/)
    assert.equal(answer.headers['www-authenticate'], 'Bearer')
    const { schemas, status } = answer.json()
    assert.deepEqual([answer.statusCode, status], [401, '401'])
    assert.deepEqual(schemas, ['urn:ietf:params:scim:api:messages:2.0:Error'])
  }
  const asAdmin = { authorization: `Bearer ${directory.token}` }
  assert.equal((await world.api.inject({ url: '/api/admin/identities', headers: asAdmin })).statusCode, 401)
})

test('SCM-10 a token finds and changes only its own users, by every path', async () => {
  const other = await openDirectory(world)
  const foreign = await other.created({ externalId: 'foreign', emails: [{ value: 'foreign@example.org' }] })
  const [person, added] = [await world.person(), await invited.add()]
  const ids = [foreign.id, person.identityId, added.identityId, randomUUID(), 'not-an-id', `${foreign.id}/x`]
  for (const id of ids)
    for (const [method, body] of [
      ['GET', undefined],
      ['PUT', scimUser({ userName: newName() })],
      ['PATCH', off],
      ['DELETE', undefined],
    ] as const) {
      const answer = await directory.ask(method, `/Users/${id}`, body)
      assert.equal(answer.statusCode, id.includes('/') ? 401 : 404, `${method} ${id}: ${answer.body}`)
    }
  for (const filter of [`id eq "${foreign.id}"`, 'externalId eq "foreign"', 'emails eq "foreign@example.org"'])
    assert.deepEqual(await directory.found(filter), [], filter)
  assert.ok(!(await directory.ask('GET', '/Users?count=200')).body.includes(foreign.id))
  assert.deepEqual(await other.ask('GET', `/Users/${foreign.id}`).then((answer) => answer.json()), foreign)
  assert.equal(await statusOf(person.identityId), 'active')
})

test('SCM-12 an address that a directory claims is unverified, links no account, and shows no sibling', async () => {
  const ada = await world.person()
  const email = `${newHandle()}@example.org`
  await world.db
    .updateTable('identity')
    .set({ email, email_verified: true, email_verified_at: world.now() })
    .where('identity_id', '=', ada.identityId)
    .execute()
  const user = await directory.created({ emails: [{ value: email, primary: true }] })
  assert.notEqual(user.id, ada.identityId)
  assert.deepEqual([await statusOf(user.id), await statusOf(ada.identityId)], ['invited', 'active'])
  const further = await accepted(directory, ada)
  const answer = await directory.ask('PATCH', `/Users/${further.id}`, {
    ...scimPatch({ op: 'replace', path: 'emails', value: [{ value: email, primary: true }] }),
  })
  assert.equal(answer.statusCode, 200, answer.body)
  const entry = await invited.entryOf(further.id)
  assert.deepEqual([entry.email, entry.emailVerified], [email, false])
  const all = await directory.ask('GET', '/Users?count=200')
  for (const secret of [ada.userId, ada.identityId, 'userId', 'user_id']) assert.ok(!all.body.includes(secret), secret)
  await world.db
    .updateTable('identity')
    .set({ email: null, email_verified: false, email_verified_at: null })
    .where('identity_id', '=', ada.identityId)
    .execute()
})

test('SCM-13 a directory suspends the account that it has created, and of others its identity alone', async () => {
  const created = await accepted(directory)
  assert.equal(await activeOf(directory, created.id), true)
  assert.equal(
    (await directory.patched(`/Users/${created.id}`, { op: 'replace', value: { active: false } })).active,
    false,
  )
  assert.deepEqual([await statusOf(created.id), await sessionStatus(created)], ['suspended', 401])
  assert.equal((await directory.ask('PATCH', `/Users/${created.id}`, on)).json().active, true)
  assert.equal(await statusOf(created.id), 'active')

  const ada = await world.person()
  const further = await accepted(directory, ada)
  await directory.ask('PATCH', `/Users/${further.id}`, off)
  assert.deepEqual([await statusOf(further.id), await sessionStatus(ada)], ['suspended', 200])
  assert.equal(await statusOf(ada.identityId), 'active')
})

test('SCM-13 no source lifts the suspension of another one', async () => {
  const { id } = await accepted(directory)
  const identityId = id
  await suspend(world, { identityId }, { scope: 'identity' })
  assert.equal(await activeOf(directory, id), false)
  assert.equal((await directory.ask('PATCH', `/Users/${id}`, on)).json().active, false)
  assert.equal((await directory.ask('PATCH', `/Users/${id}`, off)).json().active, false)
  assert.equal((await directory.ask('PATCH', `/Users/${id}`, on)).json().active, false)
  assert.equal(await statusOf(id), 'suspended')
  await directory.ask('PATCH', `/Users/${id}`, off)
  await activate(world, { identityId })
  assert.equal(await statusOf(id), 'suspended')
  const refused = await invited.operate('DELETE', `identities/${id}/suspension`)
  assert.deepEqual([refused.status, refused.error], [409, 'managed_elsewhere'])
  assert.equal((await directory.ask('PATCH', `/Users/${id}`, on)).json().active, true)
  assert.equal(await statusOf(id), 'active')
})

test('SCM-13 no one accepts an identity while its directory has deactivated it', async () => {
  const user = await directory.created()
  const first = (await invited.operate('POST', `identities/${user.id}/invitation`, {})).answer.json()
  await directory.ask('PATCH', `/Users/${user.id}`, off)
  const names = { handle: user.userName, displayName: user.userName }
  assert.equal((await register(world, { invitation: first.token }, names)).error, 'invitation_expired')
  const again = await invited.operate('POST', `identities/${user.id}/invitation`, {})
  assert.deepEqual([again.status, again.error], [409, 'managed_elsewhere'])
  await directory.ask('PATCH', `/Users/${user.id}`, on)
  const second = (await invited.operate('POST', `identities/${user.id}/invitation`, {})).answer.json()
  assert.equal((await register(world, { invitation: second.token }, names)).status, 201)
})

test('SCM-14 a directory changes, suspends and deletes no operator', async () => {
  const { id, userName } = await accepted(directory)
  const added = await invited.operate('POST', 'operators', { handle: userName, role: 'auditor' })
  assert.equal(added.status, 201, added.answer.body)
  for (const [method, body] of [
    ['PATCH', scimPatch({ op: 'replace', path: 'displayName', value: 'Renamed' })],
    ['PATCH', off],
    ['DELETE', undefined],
  ] as const)
    assert.equal((await directory.ask(method, `/Users/${id}`, body)).statusCode, 403)
  assert.equal(await statusOf(id), 'active')
})

test('SCM-15 users and operators do not change what a directory manages', async () => {
  const { id, headers, userName } = await accepted(directory)
  const change = async (payload: object) => {
    const answer = await world.api.inject({ method: 'PATCH', url: `/api/identities/${id}`, headers, payload })
    return [answer.statusCode, answer.json().error, answer.json().managedBy]
  }
  const refused = [409, 'managed_elsewhere', directory.source]
  assert.deepEqual(await change({ displayName: 'My name' }), refused)
  assert.deepEqual(await change({ handle: newHandle() }), refused)
  assert.equal((await change({ avatarUrl: 'https://example.org/a.png' }))[0], 200)
  const started = await world.api.inject({
    ...{ method: 'POST', url: `/api/identities/${id}/email`, headers },
    payload: { email: 'own@example.org' },
  })
  assert.deepEqual([started.statusCode, started.json().error], [409, 'managed_elsewhere'], started.body)

  const { version } = await invited.entryOf(id)
  const edit = await world.api.inject({
    ...{ method: 'PATCH', url: `/api/admin/identities/${id}`, payload: { displayName: 'By an operator' } },
    headers: { ...world.admin, 'if-match': `"${version}"` },
  })
  assert.deepEqual([edit.statusCode, edit.json().error], [409, 'managed_elsewhere'])
  const changed = await directory.patched(`/Users/${id}`, { op: 'replace', path: 'displayName', value: 'By SCIM' })
  assert.equal(changed.displayName, 'By SCIM')
  assert.deepEqual([(await invited.entryOf(id)).displayName, (await invited.entryOf(id)).handle], ['By SCIM', userName])
})

test('a deleted user is kept for a week for operators, and unknown to the directory', async () => {
  const { id, userName } = await accepted(directory)
  await directory.ask('PATCH', `/Users/${id}`, off)
  assert.equal((await directory.ask('DELETE', `/Users/${id}`)).statusCode, 204)
  assert.equal((await directory.ask('GET', `/Users/${id}`)).statusCode, 404)
  const entry = await invited.entryOf(id)
  const week = new Date(world.now().getTime() + 7 * 86_400_000).toISOString()
  assert.deepEqual([entry.status, entry.deletionDueAt], ['deletion_scheduled', week])
  const again = await directory.created({ userName })
  assert.notEqual(again.id, id)
  assert.equal((await invited.operate('POST', `identities/${id}/restore`)).status, 204)
  await activate(world, { identityId: entry.identityId })
  assert.equal(await statusOf(id), 'active')
})

test('what a deleted token managed stays, and belongs to users and operators', async () => {
  const ended = await openDirectory(world)
  const [active, suspended, waiting] = [await accepted(ended), await accepted(ended), await ended.created()]
  await ended.ask('PATCH', `/Users/${suspended.id}`, off)
  assert.equal((await invited.operate('DELETE', `scim-tokens/${ended.tokenId}`)).status, 204)
  while ((await releaseDeleted(world.db, world.now(), 2)) > 0);
  assert.deepEqual(
    [await statusOf(active.id), await statusOf(suspended.id), await statusOf(waiting.id)],
    ['active', 'suspended', 'invited'],
  )
  const url = `/api/identities/${active.id}`
  const payload = { displayName: 'My own name' }
  const changed = await world.api.inject({ method: 'PATCH', url, headers: active.headers, payload })
  assert.equal(changed.statusCode, 200, changed.body)
  await activate(world, { identityId: (await invited.entryOf(suspended.id)).identityId })
  assert.equal(await statusOf(suspended.id), 'active')
})

test('a user who deletes their identity or account is unknown to the directory', async () => {
  const ada = await world.person()
  const further = await accepted(directory, ada)
  await reauthenticate(world, ada)
  const { headers } = ada
  assert.equal(
    (await world.api.inject({ method: 'DELETE', url: `/api/identities/${further.id}`, headers })).statusCode,
    204,
  )
  assert.equal((await directory.ask('GET', `/Users/${further.id}`)).statusCode, 404)
  assert.ok(await sibling(world, ada))
})
