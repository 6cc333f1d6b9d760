import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import type { AppRoles } from '@countersign/protocol/clients/roles'
import { limits } from '@countersign/protocol/formats/limits'
import { type ClientId, asId } from '@countersign/protocol/ids'
import { makeOperator, sibling } from '#testing/operators.ts'
import { groupOf, putRoles } from '#testing/roles.ts'
import { createWorld, type TestApp, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const ask = (path: string, headers = world.admin) => world.api.inject({ url: `/api/admin/${path}`, headers })
const rolesOf = async ({ clientId }: TestApp) => (await ask(`apps/${clientId}/roles`)).json<AppRoles>()
const none = { roles: [], roleAssignments: [], identities: [] }
const withoutVersion = ({ version: _version, ...rest }: AppRoles) => rest

test('an operator defines the roles of an app and assigns them to groups and identities', async () => {
  const [ada, grace] = [await world.person(), await world.person()]
  await groupOf(world, 'zoo')
  await groupOf(world, 'eng')
  const app = await world.app()
  assert.deepEqual(withoutVersion(await rolesOf(app)), none)
  const answer = await putRoles(world, app, {
    roles: [{ key: 'viewer' }, { key: 'admin', displayName: 'Administrator' }],
    roleAssignments: [
      { role: 'viewer', groups: ['zoo', 'eng'] },
      { role: 'admin', identities: [ada.identityId, grace.identityId] },
    ],
  })
  assert.equal(answer.statusCode, 200, answer.body)
  const stored = await rolesOf(app)
  assert.deepEqual(answer.json(), stored)
  assert.deepEqual(stored.roles, [
    { key: 'viewer', displayName: 'viewer' },
    { key: 'admin', displayName: 'Administrator' },
  ])
  const [viewer, admin] = stored.roleAssignments
  assert.deepEqual(viewer, { role: 'viewer', groups: ['eng', 'zoo'], identities: [] })
  assert.deepEqual(admin?.identities.toSorted(), [ada.identityId, grace.identityId].toSorted())
  assert.ok(stored.identities.some(({ handle }) => handle === ada.handle))

  const fewer = { roles: [{ key: 'admin' }], roleAssignments: [{ role: 'admin', identities: [grace.identityId] }] }
  const kept = (await putRoles(world, app, fewer)).json<AppRoles>()
  assert.deepEqual(kept.roles, [{ key: 'admin', displayName: 'admin' }])
  assert.deepEqual(kept.roleAssignments, [{ role: 'admin', groups: [], identities: [grace.identityId] }])
  assert.deepEqual(withoutVersion((await putRoles(world, app, { roles: [] })).json()), none)
  assert.equal((await ask('apps/app_unknown/roles')).json().error, 'app_not_found')
  const unknown = { clientId: asId<ClientId>('app_unknown') }
  assert.equal((await putRoles(world, unknown, fewer)).json().error, 'app_not_found')
})

test('ROL-05 of two operators who have read the same roles of an app, the second one overwrites nothing', async () => {
  const [ada, app] = [await world.person(), await world.app()]
  await groupOf(world, 'crew')
  const putAt = (version: string, sent: Parameters<typeof putRoles>[2]) =>
    putRoles(world, app, sent, { ...world.admin, 'if-match': `"${version}"` })
  const read = await ask(`apps/${app.clientId}/roles`)
  const { version } = read.json<AppRoles>()
  assert.equal(read.headers['etag'], `"${version}"`)

  const viewer = { roles: [{ key: 'viewer' }], roleAssignments: [{ role: 'viewer', groups: ['crew'] }] }
  const first = await putAt(version, viewer)
  assert.equal(first.statusCode, 200, first.body)
  assert.equal(first.headers['etag'], `"${first.json<AppRoles>().version}"`)
  const second = await putAt(version, { roles: [{ key: 'editor' }] })
  assert.deepEqual([second.statusCode, second.json().error], [412, 'version_mismatch'])
  assert.deepEqual(await rolesOf(app), first.json())

  // Each way in which another operator changes them counts, also who has a role.
  let current = first.json<AppRoles>()
  for (const changed of [
    { ...viewer, roles: [{ key: 'viewer', displayName: 'Viewer' }] },
    { ...viewer, roles: [{ key: 'viewer' }, { key: 'editor' }] },
    { ...viewer, roles: [{ key: 'editor' }, { key: 'viewer' }] },
    { ...viewer, roleAssignments: [] },
    { ...viewer, roleAssignments: [{ role: 'viewer', identities: [ada.identityId] }] },
  ]) {
    const { version: replaced } = current
    current = (await putRoles(world, app, changed)).json()
    assert.equal((await putAt(replaced, viewer)).statusCode, 412)
  }
  await world.api.inject({ method: 'DELETE', url: '/api/account', headers: ada.headers })
  assert.equal((await putAt(current.version, viewer)).statusCode, 412, 'one who had a role is gone')
  assert.equal((await putAt((await rolesOf(app)).version, viewer)).statusCode, 200)
  const malformed = await putRoles(world, app, viewer, { ...world.admin, 'if-match': '"1"' })
  assert.deepEqual([malformed.statusCode, malformed.json().error], [400, 'invalid_request'])
})

test('ROL-05 of simultaneous replacements of one version, one is stored', async () => {
  const app = await world.app()
  const headers = { ...world.admin, 'if-match': `"${(await rolesOf(app)).version}"` }
  const sent = ['a', 'b', 'c', 'd'].map((key) => putRoles(world, app, { roles: [{ key }] }, headers))
  const answers = await Promise.all(sent)
  assert.deepEqual(answers.map(({ statusCode }) => statusCode).toSorted(), [200, 412, 412, 412])
})

test('ROL-01 a role has a key without look-alikes, is defined once, and is assigned once', async () => {
  const app = await world.app()
  const admin = { key: 'admin' }
  await putRoles(world, app, { roles: [admin] })
  const keys = [
    'аdmin',
    'Admin',
    'admin ',
    'admin\n',
    '',
    '-a',
    '__proto__',
    'a'.repeat(64),
    'system:masters',
    'org:a:b',
  ]
  const refused = [
    ...keys.map((key) => ({ roles: [{ key }] })),
    { roles: [admin, admin] },
    { roles: [{ key: 'admin', displayName: 'Ad\u202emin' }] },
    { roles: Array.from({ length: limits.rolesPerAppMax + 1 }, (_, nth) => ({ key: `r${nth}` })) },
    { roles: [admin], roleAssignments: [{ role: 'editor' }] },
    { roles: [admin], roleAssignments: [{ role: 'constructor' }] },
    { roles: [admin], roleAssignments: [{ role: 'admin' }, { role: 'admin' }] },
  ]
  for (const sent of refused) {
    const answer = await putRoles(world, app, sent)
    assert.deepEqual([answer.statusCode, answer.json().error], [400, 'invalid_request'], JSON.stringify(sent))
  }
  const unknown: [object, string][] = [
    [{ groups: ['nobody-here'] }, 'group_not_found'],
    [{ identities: [randomUUID()] }, 'identity_not_found'],
  ]
  for (const [to, error] of unknown) {
    const answer = await putRoles(world, app, {
      roles: [{ key: 'other' }],
      roleAssignments: [{ role: 'other', ...to }],
    })
    assert.deepEqual([answer.statusCode, answer.json().error], [404, error])
  }
  assert.deepEqual((await rolesOf(app)).roles, [{ key: 'admin', displayName: 'admin' }])
})

test('ROL-02 no operator changes a role of their own account, or of an operator with more rights', async () => {
  const app = await world.app()
  const person = await world.person()
  const [operator, owner] = [
    await makeOperator(world, person, 'apps'),
    await makeOperator(world, await world.person(), 'owner'),
  ]
  const other = await world.person()
  const give = (...identities: string[]) => ({
    roles: [{ key: 'admin' }],
    roleAssignments: [{ role: 'admin', identities }],
  })
  for (const { identityId } of [operator, await sibling(world, person), owner]) {
    const answer = await putRoles(world, app, give(identityId), operator.page)
    assert.deepEqual([answer.statusCode, answer.json().error], [403, 'operator_protected'])
  }
  assert.deepEqual(withoutVersion(await rolesOf(app)), none)
  assert.equal((await putRoles(world, app, give(owner.identityId, operator.identityId))).statusCode, 200)
  // Who keeps a role is not in question, and the definition can change.
  const kept = give(owner.identityId, operator.identityId, other.identityId)
  assert.equal((await putRoles(world, app, kept, operator.page)).statusCode, 200)
  const taken = [give(owner.identityId), give(operator.identityId), { roles: [] }]
  for (const sent of taken)
    assert.equal((await putRoles(world, app, sent, operator.page)).json().error, 'operator_protected')
  assert.equal((await rolesOf(app)).identities.length, 3)
})

test('ROL-03 a group that gets a role becomes protected, until an owner says otherwise', async () => {
  const app = await world.app()
  const { groupId } = await groupOf(world, 'on-call')
  const people = await makeOperator(world, await world.person(), 'people')
  const apps = await makeOperator(world, await world.person(), 'apps')
  const join = async () => {
    const { identityId } = await world.person()
    const url = `/api/admin/groups/${groupId}/members/${identityId}`
    return (await world.api.inject({ method: 'PUT', url, headers: people.page })).statusCode
  }
  assert.equal(await join(), 204)
  const given = { roles: [{ key: 'admin' }], roleAssignments: [{ role: 'admin', groups: ['on-call'] }] }
  assert.equal((await putRoles(world, app, given, apps.page)).statusCode, 200)
  assert.equal(await join(), 403)

  const url = `/api/admin/groups/${groupId}`
  const lifted = { method: 'PATCH', url, headers: world.admin, payload: { protected: false } } as const
  assert.equal((await world.api.inject(lifted)).json().protected, false)
  const again = { ...given, roles: [{ key: 'admin', displayName: 'Administrator' }] }
  assert.equal((await putRoles(world, app, again, apps.page)).statusCode, 200)
  assert.equal(await join(), 204)
  const more = { ...given, roles: [...given.roles, { key: 'owner' }] }
  more.roleAssignments = [...given.roleAssignments, { role: 'owner', groups: ['on-call'] }]
  assert.equal((await putRoles(world, app, more, apps.page)).statusCode, 200)
  assert.equal(await join(), 403)
})

test('a user sees in their activity which role they got and lost, and exports the one they have', async () => {
  const person = await world.person()
  const app = await world.app({ name: 'Ledger' })
  const give = (...keys: string[]) => ({
    roles: keys.map((key) => ({ key })),
    roleAssignments: keys.map((role) => ({ role, identities: [person.identityId] })),
  })
  await putRoles(world, app, give('clerk'))
  await putRoles(world, app, give('auditor'))
  const { headers } = person
  const activity = await world.api.inject({ url: '/api/account/activity?kind=apps', headers })
  const { entries } = activity.json<{ entries: { action: string; clientId: string; details: object }[] }>()
  const acts = entries.map(({ action, details }) => [action, details])
  assert.deepEqual(acts.slice(0, 3).toSorted(), [
    ['app.role.assigned', { role: 'auditor' }],
    ['app.role.assigned', { role: 'clerk' }],
    ['app.role.removed', { role: 'clerk' }],
  ])
  const exported = await world.api.inject({ url: '/api/account/export', headers })
  const [{ assignedAt, ...role }] = exported.json().identities[0].appRoles
  assert.deepEqual(role, { clientId: app.clientId, role: 'auditor', displayName: 'auditor' })
  assert.equal(assignedAt, world.now().toISOString())
})

test('ROL-04 a deleted account leaves no role behind, also if it gets one meanwhile', async () => {
  const [leaving, staying] = [await world.person(), await world.person()]
  const apps = [await world.app(), await world.app()]
  const give = (...identities: string[]) => ({
    roles: [{ key: 'admin' }],
    roleAssignments: [{ role: 'admin', identities }],
  })
  const [first] = apps
  assert.ok(first)
  await putRoles(world, first, give(leaving.identityId, staying.identityId))
  const deletion = world.api.inject({ method: 'DELETE', url: '/api/account', headers: leaving.headers })
  const answers = await Promise.all([...apps.map((app) => putRoles(world, app, give(leaving.identityId))), deletion])
  for (const { statusCode } of answers) assert.ok([200, 204, 404].includes(statusCode), String(statusCode))
  const left = await world.db
    .selectFrom('app_role_identity')
    .select('client_id')
    .where('identity_id', '=', leaving.identityId)
    .execute()
  assert.deepEqual(left, [])
})

test('a deleted app or group takes its assignments along', async () => {
  const person = await world.person()
  const app = await world.app()
  const { groupId } = await groupOf(world, 'leaving-group', person)
  await putRoles(world, app, {
    roles: [{ key: 'admin' }],
    roleAssignments: [{ role: 'admin', groups: ['leaving-group'], identities: [person.identityId] }],
  })
  await world.api.inject({ method: 'DELETE', url: `/api/admin/groups/${groupId}`, headers: world.admin })
  const [assignment] = (await rolesOf(app)).roleAssignments
  assert.deepEqual(assignment?.groups, [])
  await world.api.inject({ method: 'DELETE', url: `/api/admin/apps/${app.clientId}`, headers: world.admin })
  const { headers } = person
  const exported = await world.api.inject({ url: '/api/account/export', headers })
  assert.deepEqual(exported.json().identities[0].appRoles, [])
})
