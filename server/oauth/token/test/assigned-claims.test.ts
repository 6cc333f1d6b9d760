import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Group } from '@countersign/protocol/accounts/groups'
import { limits } from '@countersign/protocol/formats/limits'
import { decodeJwt } from 'jose'
import { sibling } from '#testing/operators.ts'
import { putRoles } from '#testing/roles.ts'
import { createWorld, postForm, type Person, type TestApp, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const admin = (method: 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, payload?: object) =>
  world.api.inject({ method, url: `/api/admin/${path}`, headers: world.admin, ...(payload && { payload }) })

async function join(key: string, ...people: Pick<Person, 'identityId'>[]): Promise<string> {
  const made = await admin('POST', 'groups', { key, displayName: key })
  assert.equal(made.statusCode, 201, made.body)
  const { groupId } = made.json<Group>()
  for (const { identityId } of people) await admin('PUT', `groups/${groupId}/members/${identityId}`)
  return groupId
}

const withGroups = { allowedScopes: ['openid', 'profile', 'offline_access', 'groups'] as const }
const newApp = () => world.app({ allowedScopes: [...withGroups.allowedScopes] })
const set = (app: TestApp, payload: object) => admin('PATCH', `apps/${app.clientId}`, payload)
const scope = 'openid offline_access groups'

async function userinfo(token: string) {
  const answer = await world.api.inject({ url: '/api/oauth/userinfo', headers: { authorization: `Bearer ${token}` } })
  return answer.json<Record<string, unknown>>()
}

const introspect = async (app: TestApp, token: string) =>
  (await postForm(world.api, '/api/oauth/introspect', { token, ...app.credentials })).json<Record<string, unknown>>()

/** The groups that a sign-in gives, where each answer names them. */
async function groupsIn(app: TestApp, tokens: { access_token: string; access_token_jwt: string; id_token?: string }) {
  assert.ok(!('groups' in decodeJwt(tokens.access_token_jwt)))
  const found = [
    decodeJwt(tokens.id_token ?? '')['groups'],
    (await userinfo(tokens.access_token))['groups'],
    (await introspect(app, tokens.access_token))['groups'],
  ]
  for (const groups of found) assert.deepEqual(groups, found[0])
  return found[0]
}

test('an app learns the groups that its access names, sorted by key, and all if the operator says so', async () => {
  const person = await world.person()
  for (const key of ['zoo', 'eng', 'eng-10', 'secret']) await join(key, person)
  await join('other')
  const app = await newApp()
  assert.deepEqual(await groupsIn(app, await app.tokens(person, { scope })), [])
  await set(app, { access: { groups: ['zoo', 'eng-10', 'eng', 'other'] } })
  assert.deepEqual(await groupsIn(app, await app.tokens(person, { scope })), ['eng', 'eng-10', 'zoo'])
  await set(app, { groupsClaim: { include: 'all' } })
  assert.deepEqual(await groupsIn(app, await app.tokens(person, { scope })), ['eng', 'eng-10', 'secret', 'zoo'])
})

test('without the scope, or with one that the app lost, no answer names groups', async () => {
  const person = await world.person()
  await join('quiet', person)
  const app = await newApp()
  await set(app, { groupsClaim: { include: 'all' } })
  assert.equal(await groupsIn(app, await app.tokens(person, { scope: 'openid profile offline_access' })), undefined)
  const tokens = await app.tokens(person, { scope })
  assert.deepEqual(await groupsIn(app, tokens), ['quiet'])
  await set(app, { allowedScopes: ['openid', 'offline_access'] })
  assert.equal((await userinfo(tokens.access_token))['groups'], undefined)
  assert.equal((await introspect(app, tokens.refresh_token))['groups'], undefined)
  const refused = await world.app()
  await assert.rejects(refused.tokens(person, { scope }), /invalid_scope/)
})

test('CLM-05 userinfo, introspection and the next refresh show a removed member, however old the token', async () => {
  const person = await world.person()
  const groupId = await join('leavers', person)
  const app = await newApp()
  await set(app, { access: { groups: ['leavers'] } })
  const tokens = await app.tokens(person, { scope })
  assert.deepEqual(await groupsIn(app, tokens), ['leavers'])
  await admin('DELETE', `groups/${groupId}/members/${person.identityId}`)
  assert.deepEqual((await userinfo(tokens.access_token))['groups'], [])
  assert.deepEqual((await userinfo(tokens.access_token_jwt))['groups'], [])
  assert.deepEqual((await introspect(app, tokens.refresh_token))['groups'], [])
  const refreshed = (await app.refresh(tokens.refresh_token)).json()
  assert.deepEqual(decodeJwt(refreshed.id_token)['groups'], [])
})

test('a group with the key of a deleted one is not the one that the app names', async () => {
  const person = await world.person()
  const groupId = await join('reborn', person)
  const app = await newApp()
  await set(app, { access: { groups: ['reborn'] } })
  await admin('DELETE', `groups/${groupId}`)
  await join('reborn', person)
  assert.deepEqual(await groupsIn(app, await app.tokens(person, { scope })), [])
})

test('CLM-04 groups of 4,096 bytes are in the ID token, and of one more in none of it', async () => {
  const person = await world.person()
  const app = await newApp()
  await set(app, { groupsClaim: { include: 'all' } })
  const keys = Array.from({ length: 61 }, (_, nth) => `b${String(nth).padStart(2, '0')}`.padEnd(63, 'x'))
  keys.push('c1'.padEnd(31, 'x'), 'c2'.padEnd(32, 'x'))
  assert.equal(JSON.stringify(keys).length, limits.assignedClaimsBytesMax)
  const groupIds: string[] = []
  for (const key of keys) groupIds.push(await join(key, person))

  const fitting = decodeJwt((await app.tokens(person, { scope })).id_token ?? '')
  assert.deepEqual(fitting['groups'], keys)
  assert.equal(fitting['claims_omitted'], undefined)

  await admin('DELETE', `groups/${groupIds.at(-1)}`)
  await join(`${keys.at(-1)}x`, person)
  const tokens = await app.tokens(person, { scope })
  const larger = decodeJwt(tokens.id_token ?? '')
  assert.equal(larger['groups'], undefined)
  assert.deepEqual(larger['claims_omitted'], ['groups'])
  assert.deepEqual((await userinfo(tokens.access_token))['groups'], [...keys.slice(0, -1), `${keys.at(-1)}x`])
})

test('an app without claims in its ID tokens gets the groups from userinfo', async () => {
  const person = await world.person()
  await join('userinfo-only', person)
  const app = await newApp()
  await set(app, { access: { groups: ['userinfo-only'] }, idTokenClaims: false })
  const tokens = await app.tokens(person, { scope })
  assert.equal(decodeJwt(tokens.id_token ?? '')['groups'], undefined)
  assert.deepEqual((await userinfo(tokens.access_token))['groups'], ['userinfo-only'])
})

const rolesScope = 'openid offline_access roles'
const newRolesApp = () => world.app({ allowedScopes: ['openid', 'profile', 'offline_access', 'groups', 'roles'] })

/** The roles that a sign-in gives, where each answer names them. */
async function rolesIn(app: TestApp, tokens: { access_token: string; access_token_jwt: string; id_token?: string }) {
  assert.ok(!('roles' in decodeJwt(tokens.access_token_jwt)))
  const found = [
    decodeJwt(tokens.id_token ?? '')['roles'],
    (await userinfo(tokens.access_token))['roles'],
    (await introspect(app, tokens.access_token))['roles'],
  ]
  for (const roles of found) assert.deepEqual(roles, found[0])
  return found[0]
}

test('an app learns the roles of an identity, by its groups and by itself, each once', async () => {
  const person = await world.person()
  const [app, other] = [await newRolesApp(), await newRolesApp()]
  for (const key of ['role-givers', 'role-strangers']) await join(key, ...(key === 'role-givers' ? [person] : []))
  const sent = {
    roles: ['viewer', 'admin', 'editor', 'auditor'].map((key) => ({ key })),
    roleAssignments: [
      { role: 'viewer', groups: ['role-givers'], identities: [person.identityId] },
      { role: 'editor', groups: ['role-givers', 'role-strangers'] },
      { role: 'auditor', groups: ['role-strangers'] },
      { role: 'admin', identities: [person.identityId] },
    ],
  }
  assert.equal((await putRoles(world, app, sent)).statusCode, 200)
  assert.deepEqual(await rolesIn(app, await app.tokens(person, { scope: rolesScope })), ['admin', 'editor', 'viewer'])
  assert.deepEqual(await rolesIn(other, await other.tokens(person, { scope: rolesScope })), [])
  assert.equal(await rolesIn(app, await app.tokens(person, { scope: 'openid profile' })), undefined)
  const own = await sibling(world, person)
  assert.deepEqual(await rolesIn(app, await app.tokens(own, { scope: rolesScope })), [])
  // A group that gives a role concerns the app.
  assert.deepEqual(await groupsIn(app, await app.tokens(person, { scope })), ['role-givers'])
})

test('without the scope, or with one that the app lost, no answer names roles', async () => {
  const person = await world.person()
  const app = await newRolesApp()
  const assigned = { role: 'admin', identities: [person.identityId] }
  await putRoles(world, app, { roles: [{ key: 'admin' }], roleAssignments: [assigned] })
  const tokens = await app.tokens(person, { scope: rolesScope })
  assert.deepEqual(await rolesIn(app, tokens), ['admin'])
  await set(app, { allowedScopes: ['openid', 'offline_access'] })
  assert.equal((await userinfo(tokens.access_token))['roles'], undefined)
  assert.equal((await introspect(app, tokens.refresh_token))['roles'], undefined)
  const refused = await world.app()
  await assert.rejects(refused.tokens(person, { scope: rolesScope }), /invalid_scope/)
})

test('CLM-05 userinfo, introspection and the next refresh show a lost role, however old the token', async () => {
  const person = await world.person()
  const groupId = await join('role-leavers', person)
  const app = await newRolesApp()
  const roles = [{ key: 'admin' }, { key: 'viewer' }]
  const byGroup = { role: 'viewer', groups: ['role-leavers'] }
  const byItself = { role: 'admin', identities: [person.identityId] }
  await putRoles(world, app, { roles, roleAssignments: [byGroup, byItself] })
  const tokens = await app.tokens(person, { scope: rolesScope })
  assert.deepEqual(await rolesIn(app, tokens), ['admin', 'viewer'])
  await putRoles(world, app, { roles, roleAssignments: [byGroup] })
  assert.deepEqual((await userinfo(tokens.access_token_jwt))['roles'], ['viewer'])
  await admin('DELETE', `groups/${groupId}/members/${person.identityId}`)
  assert.deepEqual((await userinfo(tokens.access_token))['roles'], [])
  assert.deepEqual((await introspect(app, tokens.refresh_token))['roles'], [])
  const refreshed = (await app.refresh(tokens.refresh_token)).json()
  assert.deepEqual(decodeJwt(refreshed.id_token)['roles'], [])
})

test('CLM-04 groups that leave no room for the roles are left out before them', async () => {
  const person = await world.person()
  const app = await newRolesApp()
  await set(app, { groupsClaim: { include: 'all' } })
  for (let nth = 0; nth < 61; nth += 1) await join(`r${String(nth).padStart(2, '0')}`.padEnd(63, 'x'), person)
  const give = (...keys: string[]) =>
    putRoles(world, app, {
      roles: keys.map((key) => ({ key })),
      roleAssignments: keys.map((role) => ({ role, identities: [person.identityId] })),
    })
  const claims = async () => decodeJwt((await app.tokens(person, { scope: 'openid groups roles' })).id_token ?? '')
  const groups = JSON.stringify((await claims())['groups']).length
  const room = limits.assignedClaimsBytesMax - groups - '["",""]'.length
  const [long, rest] = ['a', 'b'.repeat(room - 1)]
  await give(long, rest)
  const fitting = await claims()
  assert.deepEqual([fitting['roles'], fitting['claims_omitted']], [[long, rest], undefined])
  await give(long, `${rest}x`)
  const larger = await claims()
  assert.deepEqual(larger['roles'], [long, `${rest}x`])
  assert.deepEqual([larger['groups'], larger['claims_omitted']], [undefined, ['groups']])
})
