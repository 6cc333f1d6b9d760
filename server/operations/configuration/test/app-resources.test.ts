import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { DeclaredResource, Resource } from '@countersign/protocol/clients/resources'
import { createConnectors } from '#testing/connectors.ts'
import { clientIdOf, declaredAppsOf, pathsOf } from '#testing/declared-apps.ts'
import { createToken } from '#testing/operators.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
let apps: ReturnType<typeof declaredAppsOf>
before(async () => {
  world = await createWorld()
  apps = declaredAppsOf(world)
})
after(() => world.close())

const redirectUris = ['https://app.example.com/callback']

async function resourcesOf(clientId: string): Promise<Resource[]> {
  const url = `/api/admin/apps/${clientId}/resources`
  const answer = await world.api.inject({ url, headers: world.admin })
  return answer.json<{ resources: Resource[] }>().resources
}

const served = async (key: string) => (await world.api.inject(`/api/oauth/resource/${key}`)).statusCode

const metrics: DeclaredResource = {
  resourceKey: 'metrics.read',
  displayName: 'Metrics',
  scopes: ['series', 'annotations'],
  audience: 'https://metrics.example.com',
}
const logs: DeclaredResource = {
  resourceKey: 'logs.read',
  displayName: 'Logs',
  description: 'What was written',
  scopes: ['lines'],
  scopeDescriptions: { lines: 'Read lines' },
  audience: 'https://logs.example.com',
  status: 'disabled',
}

test('CNF-02 resources of an app are applied, exported, and not changed again', async () => {
  const app = { key: 'grafana', name: 'Grafana', redirectUris, resources: [metrics, logs] }
  const created = await apps.apply(app)
  assert.deepEqual([created.action, pathsOf(created).at(-1)], ['create', 'resources'])
  assert.deepEqual([await served('metrics.read'), await served('logs.read')], [200, 404])
  assert.equal((await apps.apply(app)).action, 'none')
  const declared = await apps.exported('grafana')
  assert.deepEqual(declared?.resources, [logs, metrics])
  assert.equal((await apps.apply(declared)).action, 'none')

  const enabled: DeclaredResource = { ...logs, status: 'active', description: null, scopes: ['lines', 'files'] }
  const changed = await apps.apply({ key: 'grafana', resources: [{ ...metrics, displayName: 'Series' }, enabled] })
  assert.deepEqual([changed.action, pathsOf(changed)], ['update', ['resources']])
  const [other, one] = await resourcesOf(clientIdOf(created))
  assert.deepEqual([one?.displayName, one?.scopes], ['Series', metrics.scopes])
  const { description, scopes, status } = other ?? {}
  assert.deepEqual([description, scopes, status], [null, ['lines', 'files'], 'active'])
  const reordered = { ...metrics, displayName: 'Series', scopes: metrics.scopes.toReversed() }
  assert.equal((await apps.apply({ key: 'grafana', resources: [reordered, enabled] })).action, 'update')
  assert.equal((await apps.apply({ key: 'grafana', resources: [reordered, enabled] })).action, 'none')
})

test('CNF-11 a resource that a document no longer names is disabled: its delegations give no token', async () => {
  const connectors = await createConnectors(world)
  const { exchange } = await connectors.connected()
  assert.equal((await exchange()).statusCode, 200)
  const key = connectors.target.clientId
  const emptied = await apps.apply({ key, resources: [] }, { adopt: true })
  assert.deepEqual([emptied.action, pathsOf(emptied)], ['adopt', ['resources']])
  const refused = await exchange()
  assert.deepEqual([refused.statusCode, refused.json().error], [400, 'invalid_target'])
  assert.equal((await apps.apply({ key, resources: [] })).action, 'none')

  const { audience } = connectors
  const taken = await apps.send({
    ...{ key: 'thief', name: 'Thief', redirectUris },
    resources: [{ ...metrics, resourceKey: 'stolen.read', audience }],
  })
  assert.deepEqual([taken.statusCode, taken.json().error, taken.json().object], [409, 'audience_taken', 'apps/thief'])
  const declared = (await apps.exported(key))?.resources?.map(({ status: _status, ...rest }) => rest) ?? []
  assert.equal((await apps.apply({ key, resources: declared })).action, 'update')
  assert.equal((await exchange()).statusCode, 200)
})

test('CNF-06 resources need what the single endpoint needs, and a refused one changes nothing', async () => {
  const base = { key: 'wiki', name: 'Wiki', redirectUris }
  const refusals: [DeclaredResource, number, string][] = [
    [metrics, 409, 'resource_key_taken'],
    [{ ...metrics, resourceKey: 'wiki.read', scopes: ['openid'] }, 400, 'invalid_request'],
    [{ ...metrics, resourceKey: 'wiki.read', audience: world.config.authUrl.origin }, 400, 'invalid_request'],
  ]
  for (const [resource, status, error] of refusals) {
    const refused = await apps.send({ ...base, resources: [resource] })
    assert.deepEqual([refused.statusCode, refused.json().error, refused.json().object], [status, error, 'apps/wiki'])
  }
  const twice = await apps.send({ ...base, resources: [metrics, metrics] })
  assert.deepEqual([twice.statusCode, twice.json().error], [400, 'invalid_request'])
  assert.equal(await apps.exported('wiki'), undefined)
  const { headers } = await createToken(world, ['configuration.apply'])
  const denied = await apps.send({ key: 'grafana', resources: [] }, { headers })
  assert.deepEqual([denied.statusCode, denied.json().permission], [403, 'apps.manage'])
})
