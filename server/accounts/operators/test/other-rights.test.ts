import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { operatorRoles, permissions } from '@countersign/protocol/formats/registries/permissions'
import { asPage } from '#testing/operators.ts'
import { acceptedUser, openDirectory } from '#testing/scim.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

/** Names that could pass for rights: those of roles and permissions. */
const names = [...operatorRoles, ...permissions, 'admin', 'admins', 'operator', 'operators']

async function send(method: 'POST' | 'PUT', path: string, payload: object) {
  const answer = await world.api.inject({ method, url: `/api/admin/${path}`, headers: world.admin, payload })
  assert.ok(answer.statusCode < 300, `${method} ${path}: ${answer.body}`)
  return answer.json()
}

/** Checks that a session and an access token open no endpoint of operators. */
async function requireNoRights(sessionToken: string, accessToken?: string): Promise<void> {
  const page = asPage(world, sessionToken)
  for (const path of ['identities', 'groups', 'operators', 'settings', 'audit', 'apps', 'health']) {
    const answer = await world.api.inject({ url: `/api/admin/${path}`, headers: page })
    assert.deepEqual([answer.statusCode, answer.json().error], [403, 'permission_denied'], path)
    if (accessToken === undefined) continue
    const headers = { authorization: `Bearer ${accessToken}` }
    assert.equal((await world.api.inject({ url: `/api/admin/${path}`, headers })).statusCode, 401, path)
  }
  const headers = { authorization: `Bearer ${sessionToken}` }
  const own = await world.api.inject({ url: '/api/account/operators', headers })
  assert.deepEqual(own.json().operators, [])
}

test('OPR-12 no group, role or claim of an app gives rights of an operator', async () => {
  const person = await world.person()
  const app = await world.app({ allowedScopes: ['openid', 'groups', 'roles'], groupsClaim: { include: 'all' } })
  for (const key of names) {
    const { groupId } = await send('POST', 'groups', { key, displayName: key })
    await send('POST', `groups/${groupId}/members/batch`, { add: [person.identityId] })
  }
  const keys = operatorRoles.map((key) => ({ key }))
  const roleAssignments = operatorRoles.map((role) => ({ role, groups: [role], identities: [] }))
  await send('PUT', `apps/${app.clientId}/roles`, { roles: keys, roleAssignments })
  const claim = { claim: 'operator_role', source: 'roles', scope: 'roles', as: 'string', first: ['owner'] }
  await send('PUT', `apps/${app.clientId}/claims`, { claims: [claim] })
  const tokens = await app.tokens(person, { scope: 'openid groups roles' })
  const claims = JSON.parse(Buffer.from(tokens.id_token?.split('.')[1] ?? '', 'base64url').toString())
  assert.deepEqual([claims.operator_role, claims.roles.includes('owner')], ['owner', true])
  await requireNoRights(person.sessionToken, tokens.access_token_jwt)
})

test('OPR-12 no directory gives rights of an operator to its users', async () => {
  const directory = await openDirectory(world)
  const user = await acceptedUser(world, directory)
  const roles = names.map((value) => ({ value, primary: value === 'owner' }))
  await directory.ask('PATCH', `/Users/${user.id}`, {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
    Operations: [{ op: 'add', value: { roles, entitlements: roles, userType: 'owner' } }],
  })
  const group = { schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'], displayName: 'Owners of the service' }
  const made = await directory.ask('POST', '/Groups', { ...group, members: [{ value: user.id }] })
  assert.equal(made.statusCode, 201, made.body)
  await requireNoRights(user.headers.authorization?.replace('Bearer ', '') ?? '')
})
