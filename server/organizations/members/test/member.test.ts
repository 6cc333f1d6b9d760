import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import type { OrganizationRole } from '@countersign/protocol/formats/role'
import { signInByOrganization } from '#testing/enterprise-session.ts'
import { businessRequest, join, createOrganization, membersOf, reauthenticate } from '#testing/organization.ts'
import { createWorld, type Person, type TestWorld } from '#testing/world.ts'

let world: TestWorld
let owner: Person
before(async () => {
  world = await createWorld()
  owner = await world.person()
})
after(() => world.close())

const path = (id: string, memberId: string) => `/organizations/${id}/members/${memberId}`
const change = (person: Person, id: string, memberId: string, payload: object) =>
  businessRequest(world, person, `PATCH ${path(id, memberId)}`, payload)
const remove = (person: Person, id: string, memberId: string) =>
  businessRequest(world, person, `DELETE ${path(id, memberId)}`)

/** Creates an organization with its owner and a second member with this role. */
async function teamOf(role: OrganizationRole) {
  const { id, memberId } = await createOrganization(world, owner)
  const person = await world.person()
  return { id, ownerId: memberId, person, member: await join(world, { id, owner, role }, person) }
}

test('a role brings its scopes, and an owner can grant a member more or fewer', async () => {
  const { id, member, person } = await teamOf('member')
  assert.deepEqual([member.role, member.scopes, member.signingAuthority], ['member', ['read'], false])
  const changes: [object, unknown][] = [
    [{ role: 'signer' }, ['signer', ['read', 'sign', 'approve'], true]],
    [{ scopes: ['read', 'manage_sso'] }, ['signer', ['read', 'manage_sso'], true]],
    [{ signingAuthority: false }, ['signer', ['read', 'manage_sso'], false]],
    [{ role: 'member', scopes: ['read', 'manage_org'] }, ['member', ['read', 'manage_org'], false]],
    [{ role: 'viewer' }, ['viewer', ['read'], false]],
  ]
  for (const [requested, expected] of changes) {
    const answer = await change(owner, id, member.memberId, requested)
    assert.equal(answer.statusCode, 200, answer.body)
    const { role, scopes, signingAuthority } = answer.json().member
    assert.deepEqual([role, scopes, signingAuthority], expected)
    const own = await businessRequest(world, person, `GET /organizations/${id}`)
    assert.deepEqual([own.json().organization.role, own.json().organization.scopes], [role, scopes])
  }
})

test('members are listed all at once, or in pages on request', async () => {
  const { id, person } = await teamOf('viewer')
  await join(world, { id, owner, role: 'viewer' }, await world.person())
  const read = async (query = '') =>
    (await businessRequest(world, person, `GET /organizations/${id}/members${query}`)).json()
  const { members: all, nextCursor: none } = await read()
  assert.deepEqual([all.length, none], [3, undefined])
  const first = await read('?limit=2')
  assert.deepEqual([first.members, first.nextCursor], [all.slice(0, 2), all[1].memberId])
  const second = await read(`?limit=2&cursor=${first.nextCursor}`)
  assert.deepEqual([second.members, second.nextCursor], [all.slice(2), null])
  assert.deepEqual((await read('?limit=3')).nextCursor, null)
  assert.equal((await businessRequest(world, person, `GET /organizations/${id}/members?limit=0`)).statusCode, 400)
})

test('invalid combinations of role and permissions are rejected', async () => {
  const { id, member, ownerId } = await teamOf('member')
  const wrong: [string, object][] = [
    [member.memberId, { scopes: ['sign'] }],
    [member.memberId, { scopes: [] }],
    [member.memberId, { scopes: ['read', 'read'] }],
    [member.memberId, { scopes: ['everything'] }],
    [member.memberId, { role: 'king' }],
    [ownerId, { scopes: ['read'] }],
  ]
  for (const [memberId, requested] of wrong) {
    const answer = await change(owner, id, memberId, requested)
    assert.deepEqual([answer.statusCode, answer.json().error], [400, 'invalid_request'], JSON.stringify(requested))
  }
  const none = await change(owner, id, randomUUID(), { role: 'viewer' })
  assert.deepEqual([none.statusCode, none.json().error], [404, 'member_not_found'])
})

test('ORG-02 members cannot grant themselves or others permissions that they do not have', async () => {
  const { id, person, member, ownerId } = await teamOf('admin')
  const other = await join(world, { id, owner, role: 'member' }, await world.person())
  for (const memberId of [member.memberId, other.memberId])
    for (const requested of [{ role: 'owner' }, { scopes: ['read', 'manage_org'] }]) {
      const answer = await change(person, id, memberId, requested)
      assert.deepEqual([answer.statusCode, answer.json().error], [403, 'insufficient_scope'], JSON.stringify(requested))
    }
  assert.equal((await change(person, id, ownerId, { role: 'member' })).statusCode, 403)
  assert.equal((await remove(person, id, ownerId)).statusCode, 403)
  const invited = await businessRequest(world, person, `POST /organizations/${id}/invitations`, {
    handle: (await world.person()).handle,
    role: 'owner',
  })
  assert.deepEqual([invited.statusCode, invited.json().error], [403, 'insufficient_scope'])

  await change(owner, id, member.memberId, { signingAuthority: false, scopes: ['read', 'manage_identities'] })
  for (const requested of [{ role: 'signer' }, { signingAuthority: true }, { scopes: ['read', 'sign'] }])
    assert.equal((await change(person, id, other.memberId, requested)).statusCode, 403, JSON.stringify(requested))
  const unchanged = (await membersOf(world, id, owner)).find(({ memberId }) => memberId === other.memberId)
  assert.deepEqual(unchanged, other)
})

test('ORG-02 a member of one organization cannot change members of another', async () => {
  const [mine, theirs] = [await teamOf('member'), await teamOf('admin')]
  const stranger = await world.person()
  const own = await createOrganization(world, stranger, 'Elsewhere')
  for (const attempt of [
    change(stranger, mine.id, mine.member.memberId, { role: 'viewer' }),
    change(stranger, own.id, mine.member.memberId, { role: 'viewer' }),
    remove(theirs.person, mine.id, mine.member.memberId),
    remove(stranger, own.id, mine.member.memberId),
  ])
    assert.equal((await attempt).statusCode, 404)
  assert.equal((await membersOf(world, mine.id, owner)).length, 2)
})

test('ORG-02 granting a member more requires recent passkey use, and an SSO sign-in is not enough', async () => {
  const { id, member } = await teamOf('member')
  const admin = await join(world, { id, owner, role: 'admin' }, await world.person())
  const more: [string, object][] = [
    [admin.memberId, { scopes: [...admin.scopes, 'manage_org'] }],
    [member.memberId, { role: 'admin' }],
    [member.memberId, { role: 'signer' }],
    [member.memberId, { scopes: ['read', 'manage_sso'] }],
    [member.memberId, { signingAuthority: true }],
  ]
  const named = { ...owner, headers: await signInByOrganization(world, owner, { organizationId: id }) }
  world.pass(301)
  for (const [memberId, requested] of more)
    for (const [requester, code] of [
      [owner, 'reauthentication_required'],
      [named, 'passkey_required'],
    ] as const) {
      const answer = await change(requester, id, memberId, requested)
      assert.deepEqual([answer.statusCode, answer.json().error], [403, code], JSON.stringify(requested))
    }
  const less = { role: 'signer', scopes: ['read', 'sign'] }
  for (const requester of [owner, named])
    assert.equal((await change(requester, id, admin.memberId, less)).statusCode, 200)
  await reauthenticate(world, owner)
  for (const [memberId, requested] of more)
    assert.equal((await change(owner, id, memberId, requested)).statusCode, 200, JSON.stringify(requested))
})

test('changing an owner requires recent authentication', async () => {
  const { id, member } = await teamOf('admin')
  world.pass(301)
  const stale = await change(owner, id, member.memberId, { role: 'owner' })
  assert.deepEqual([stale.statusCode, stale.json().error], [403, 'reauthentication_required'])
  await reauthenticate(world, owner)
  assert.equal((await change(owner, id, member.memberId, { role: 'owner' })).statusCode, 200)
})

test('ORG-10 the last owner cannot be demoted or removed, or leave, until another member is an owner', async () => {
  const { id, ownerId, member } = await teamOf('admin')
  for (const attempt of [() => change(owner, id, ownerId, { role: 'admin' }), () => remove(owner, id, ownerId)]) {
    const answer = await attempt()
    assert.deepEqual([answer.statusCode, answer.json().error], [409, 'last_owner'])
  }
  const url = '/api/account'
  const deleted = await world.api.inject({ method: 'DELETE', url, headers: owner.headers })
  assert.deepEqual([deleted.statusCode, deleted.json().error], [409, 'last_owner'])
  assert.ok(deleted.json().organizations.includes('Acme'))
  assert.equal((await change(owner, id, member.memberId, { role: 'owner' })).statusCode, 200)
  assert.equal((await remove(owner, id, ownerId)).statusCode, 204)
  assert.equal((await businessRequest(world, owner, `GET /organizations/${id}`)).statusCode, 404)
})

test('ORG-10 when two owners demote each other or leave concurrently, one remains', async () => {
  for (const act of ['demote', 'leave'] as const) {
    const { id, ownerId, member, person } = await teamOf('admin')
    await change(owner, id, member.memberId, { role: 'owner' })
    const answers = await Promise.all(
      act === 'demote'
        ? [change(owner, id, member.memberId, { role: 'member' }), change(person, id, ownerId, { role: 'member' })]
        : [remove(owner, id, ownerId), remove(person, id, member.memberId)],
    )
    const went = answers.filter(({ statusCode }) => statusCode < 300)
    assert.equal(went.length, 1, answers.map(({ body }) => body).join())
    const [refused] = answers.filter(({ statusCode }) => statusCode >= 300)
    assert.ok([403, 409].includes(refused?.statusCode ?? 0), String(refused?.body))
    const rows = await world.db
      .selectFrom('organization_member')
      .select('role')
      .where('organization_id', '=', id)
      .where('role', '=', 'owner')
      .execute()
    assert.equal(rows.length, 1)
  }
})

test('a member can leave, and has no access afterwards', async () => {
  const { id, person, member } = await teamOf('viewer')
  assert.equal((await remove(person, id, member.memberId)).statusCode, 204)
  assert.equal((await businessRequest(world, person, `GET /organizations/${id}`)).statusCode, 404)
  assert.equal((await membersOf(world, id, owner)).length, 1)
})

test('a member who owns nothing can delete their account without the other members', async () => {
  const { id, person } = await teamOf('signer')
  const deleted = await world.api.inject({ method: 'DELETE', url: '/api/account', headers: person.headers })
  assert.equal(deleted.statusCode, 204, deleted.body)
  assert.equal((await membersOf(world, id, owner)).length, 1)
})
