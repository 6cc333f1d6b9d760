import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { AppRoles } from '@countersign/protocol/clients/roles'
import type { ConfigurationChange, DeclaredApp } from '@countersign/protocol/operations/configuration'
import { clientIdOf, declaredAppsOf, pathsOf } from '#testing/declared-apps.ts'
import { createToken } from '#testing/operators.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
let apps: ReturnType<typeof declaredAppsOf>
before(async () => {
  world = await createWorld()
  apps = declaredAppsOf(world)
  const groups = ['staff', 'eng'].map((key) => ({ key, displayName: key }))
  const document = { apiVersion: 'countersign/v1', source: 'platform', groups }
  const payload = { document, dryRun: false }
  const made = await world.api.inject({ method: 'POST', url: '/api/admin/apply', headers: world.admin, payload })
  assert.equal(made.statusCode, 200, made.body)
})
after(() => world.close())

const redirectUris = ['https://app.example.com/callback']

test('CNF-02 roles, who has them, and mapped claims are applied, exported, and not changed again', async () => {
  const { identityId } = await world.person()
  const app = {
    ...{ key: 'grafana', name: 'Grafana', redirectUris },
    roles: [{ key: 'viewer' }, { key: 'admin', displayName: 'Administrator' }],
    roleAssignments: [
      { role: 'viewer', groups: ['staff', 'eng'] },
      { role: 'admin', identities: [identityId] },
    ],
    claims: [{ claim: 'grafana_role', source: 'roles', scope: 'roles', map: { admin: 'Admin' } } as const],
  }
  const created = await apps.apply(app)
  assert.equal(created.action, 'create')
  assert.equal((await apps.apply(app)).action, 'none')
  const declared = await apps.exported('grafana')
  assert.ok(declared)
  assert.deepEqual(declared.roleAssignments, [
    { role: 'viewer', groups: ['eng', 'staff'], identities: [] },
    { role: 'admin', groups: [], identities: [identityId] },
  ])
  assert.equal((await apps.apply(declared)).action, 'none')

  const url = `/api/admin/apps/${clientIdOf(created)}/roles`
  const roles = async () => (await world.api.inject({ url, headers: world.admin })).json<AppRoles>()
  assert.deepEqual((await roles()).roles, [
    { key: 'viewer', displayName: 'viewer' },
    { key: 'admin', displayName: 'Administrator' },
  ])
  const changed = await apps.apply({ key: 'grafana', roleAssignments: [{ role: 'viewer', groups: ['eng'] }] })
  assert.deepEqual([changed.action, pathsOf(changed)], ['update', ['roleAssignments']])
  const now = await roles()
  assert.deepEqual(now.roleAssignments, [{ role: 'viewer', groups: ['eng'], identities: [] }])
  assert.equal(now.roles.length, 2)

  const renamed = await apps.apply({ key: 'grafana', name: 'Graphs' })
  assert.deepEqual(pathsOf(renamed), ['name'])
  assert.equal((await apps.exported('grafana'))?.claims?.length, 1)
  const emptied = await apps.apply({ key: 'grafana', roles: [], roleAssignments: [], claims: [] })
  assert.deepEqual(pathsOf(emptied), ['roles', 'roleAssignments', 'claims'])
  assert.deepEqual([(await roles()).roles, (await apps.exported('grafana'))?.claims], [[], undefined])
})

test('CNF-02 a group with a role is as protected as its document says, also when it is applied again', async () => {
  const document = (isProtected?: boolean) => ({
    ...{ apiVersion: 'countersign/v1', source: 'roles' },
    groups: [{ key: 'readers', displayName: 'Readers', ...(isProtected !== undefined && { protected: isProtected }) }],
    apps: [{ key: 'shelf', name: 'Shelf', redirectUris, roles: [{ key: 'reader' }], roleAssignments }],
  })
  const roleAssignments = [{ role: 'reader', groups: ['readers'] }]
  const apply = async (isProtected?: boolean, headers = world.admin) => {
    const payload = { document: document(isProtected), dryRun: false }
    const answer = await world.api.inject({ method: 'POST', url: '/api/admin/apply', headers, payload })
    const group = await world.api.inject({ url: '/api/admin/groups?key=readers', headers: world.admin })
    const { changes = [], error } = answer.json<{ changes?: { action: string }[]; error?: string }>()
    return { error, actions: changes.map(({ action }) => action), isProtected: group.json().groups[0]?.protected }
  }
  const token = await createToken(world, ['groups.manage', 'apps.manage'])
  assert.equal((await apply(false, token.headers)).error, 'permission_denied')
  assert.deepEqual(await apply(false), { error: undefined, actions: ['create', 'create'], isProtected: false })
  assert.deepEqual(await apply(false), { error: undefined, actions: ['none', 'none'], isProtected: false })
  assert.deepEqual(await apply(true), { error: undefined, actions: ['update', 'none'], isProtected: true })
  assert.deepEqual(await apply(), { error: undefined, actions: ['none', 'none'], isProtected: true })
})

test('CLM-07 a plan shows that a new group is protected by claims, and a document keeps it open', async () => {
  const keys = ['named-one', 'named-two']
  const map = Object.fromEntries(keys.map((key) => [key, 'Admin']))
  const { clientId } = await world.app()
  const claims = [{ claim: 'level', source: 'groups', scope: 'groups', as: 'string', map }]
  const url = `/api/admin/apps/${clientId}/claims`
  const put = await world.api.inject({ method: 'PUT', url, headers: world.admin, payload: { claims } })
  assert.equal(put.statusCode, 200, put.body)
  const groups = [
    { key: 'named-one', displayName: 'One' },
    { key: 'named-two', displayName: 'Two', protected: false },
  ]
  const apply = async () => {
    const payload = { document: { apiVersion: 'countersign/v1', source: 'named', groups }, dryRun: false }
    const answer = await world.api.inject({ method: 'POST', url: '/api/admin/apply', headers: world.admin, payload })
    const { changes } = answer.json<{ changes: ConfigurationChange[] }>()
    return changes.map(({ action, fields }) => [action, fields.find(({ path }) => path === 'protected')?.to])
  }
  assert.deepEqual(await apply(), [
    ['create', true],
    ['create', false],
  ])
  assert.deepEqual(await apply(), [
    ['none', undefined],
    ['none', undefined],
  ])
})

test('CNF-06 parts of an app need what the single endpoints need, and a refused one changes nothing', async () => {
  const base = { key: 'wiki', name: 'Wiki', redirectUris }
  const assigned = { roles: [{ key: 'admin' }], roleAssignments: [{ role: 'admin', groups: ['no-such'] }] }
  const refusals: [Partial<DeclaredApp>, number, string][] = [
    [assigned, 404, 'group_not_found'],
    [{ roleAssignments: [{ role: 'admin', groups: ['eng'] }] }, 400, 'invalid_request'],
    [{ claims: [{ claim: 'sub', source: 'groups', scope: 'groups' }] }, 400, 'reserved_claim'],
  ]
  for (const [parts, status, error] of refusals) {
    const refused = await apps.send({ ...base, ...parts })
    assert.deepEqual([refused.statusCode, refused.json().error, refused.json().object], [status, error, 'apps/wiki'])
  }
  assert.equal(await apps.exported('wiki'), undefined)
  const { headers } = await createToken(world, ['configuration.apply'])
  const denied = await apps.send({ ...base, roles: [{ key: 'admin' }] }, { headers })
  assert.deepEqual([denied.statusCode, denied.json().error], [403, 'permission_denied'])
})

test('a plan shows which groups become protected', async () => {
  const role = (groups: string[]) => ({ roles: [{ key: 'chief' }], roleAssignments: [{ role: 'chief', groups }] })
  const app = (groups: string[]) => ({ key: 'chiefs', name: 'Chiefs', redirectUris, ...role(groups) })
  const apply = (groups: object[], named: string[], dryRun: boolean) => {
    const document = { apiVersion: 'countersign/v1', source: 'chiefs', groups, apps: [app(named)] }
    return world.api.inject({
      method: 'POST',
      url: '/api/admin/apply',
      headers: world.admin,
      payload: { document, dryRun },
    })
  }
  const byHand = await world.api.inject({
    method: 'POST',
    url: '/api/admin/groups',
    headers: world.admin,
    payload: { key: 'made', displayName: 'Made' },
  })
  assert.equal(byHand.statusCode, 201)
  const fresh = { key: 'fresh', displayName: 'Fresh' }
  const planned = await apply([fresh], ['fresh', 'made'], true)
  const made = await apply([fresh], ['fresh', 'made'], false)
  assert.deepEqual(made.json(), planned.json())
  const changes = made.json<{ changes: ConfigurationChange[] }>().changes
  const changeOf = (object: string) => changes.find((each) => each.object === object)
  assert.deepEqual(changeOf('groups/fresh')?.fields.at(-1), { path: 'protected', from: null, to: true })
  assert.deepEqual(changeOf('groups/made'), {
    ...{ object: 'groups/made', action: 'update' },
    fields: [{ path: 'protected', from: false, to: true }],
  })
  const again = await apply([fresh], ['fresh', 'made'], false)
  assert.deepEqual(
    new Set(again.json<{ changes: ConfigurationChange[] }>().changes.map(({ action }) => action)),
    new Set(['none']),
  )
})
