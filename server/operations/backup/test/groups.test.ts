import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { after, before, test } from 'node:test'
import type { Group } from '@countersign/protocol/accounts/groups'
import { backupMediaType } from '@countersign/protocol/operations/backup'
import { putClaims, putRoles } from '#testing/roles.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

const options = { secretKey: 'a-secret-key-for-tests-of-32-characters', environment: { DATA_DIR: tmpdir() } }
let world: TestWorld
let restored: TestWorld
before(async () => {
  ;[world, restored] = [await createWorld(options), await createWorld(options)]
})
after(() => Promise.all([world.close(), restored.close()]))

test('a restored server keeps groups, their members, who may use an app, and its roles and claims', async () => {
  const admin = (to: TestWorld, method: 'GET' | 'POST' | 'PUT', path: string, payload?: object) =>
    to.api.inject({ method, url: `/api/admin/${path}`, headers: to.admin, ...(payload && { payload }) })
  const { identityId } = await world.person()
  const { groupId } = (await admin(world, 'POST', 'groups', { key: 'eng', displayName: 'Engineering' })).json<Group>()
  await admin(world, 'PUT', `groups/${groupId}/members/${identityId}`)
  const access = { mode: 'restricted' as const, groups: ['eng'], organizations: [], contact: 'it@example.com' }
  const app = await world.app({ access: { ...access, groups: [...access.groups] } })
  const { clientId } = app
  const roleAssignments = [{ role: 'admin', groups: ['eng'], identities: [identityId] }]
  await putRoles(world, app, { roles: [{ key: 'viewer' }, { key: 'admin' }], roleAssignments })
  await putClaims(world, app, [{ claim: 'level', source: 'roles', scope: 'roles', map: { admin: 'A' } }])

  const backup = await admin(world, 'GET', 'backup')
  const headers = { ...restored.admin, 'content-type': backupMediaType }
  const payload = backup.rawPayload
  const answer = await restored.api.inject({ method: 'POST', url: '/api/admin/restore', headers, payload })
  assert.equal(answer.statusCode, 200, answer.body)
  for (const path of ['groups', `groups/${groupId}/members`, `apps/${clientId}/roles`, `apps/${clientId}/claims`])
    assert.deepEqual((await admin(restored, 'GET', path)).json(), (await admin(world, 'GET', path)).json())
  assert.deepEqual((await admin(restored, 'GET', `apps/${clientId}`)).json().access, access)
})
