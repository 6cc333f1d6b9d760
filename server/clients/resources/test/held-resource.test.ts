import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openAgents, type Agents } from '#testing/agents.ts'
import { createConnectors } from '#testing/connectors.ts'
import type { Person } from '#testing/world.ts'

let agents: Agents
before(async () => {
  agents = await openAgents()
})
after(() => agents.close())

type Method = 'POST' | 'PATCH' | 'DELETE'
type Headers = Record<string, string>

async function send(method: Method, url: string, headers: Headers, payload?: object) {
  const answer = await agents.world.api.inject({ method, url, headers, ...(payload && { payload }) })
  return { status: answer.statusCode, body: answer.body === '' ? {} : answer.json() }
}
const admin = (method: Method, path: string, payload?: object) =>
  send(method, `/api/admin/apps/${path}`, agents.world.admin, payload)
const portal = ({ headers }: Pick<Person, 'headers'>, method: Method, path = '', payload?: object) =>
  send(method, `/api/developer/apps${path}`, headers, payload)
const refusalOf = ({ status, body }: Awaited<ReturnType<typeof send>>) => [status, body.error]

let made = 0
function anyResource(settings: object = {}) {
  made += 1
  const audience = `https://files-${made}.example/api`
  return { resourceKey: `files-${made}`, displayName: 'Files', scopes: ['files.read'], audience, ...settings }
}
async function newOwnApp(person: Pick<Person, 'headers'>): Promise<string> {
  const payload = { name: 'Files', redirectUris: ['https://files.example/callback'] }
  const { status, body } = await portal(person, 'POST', '', payload)
  assert.equal(status, 201, JSON.stringify(body))
  return body.clientId
}

test('DEL-27 a resource cannot have the client ID of another app as its audience', async () => {
  const eve = await agents.world.person()
  const victim = agents.agent()
  await victim.tokens()
  const [clientId, other] = [await newOwnApp(eve), await agents.world.app()]
  for (const audience of [victim.clientId, `${victim.clientId}/`]) {
    const sent = anyResource({ audience })
    assert.deepEqual(refusalOf(await portal(eve, 'POST', `/${clientId}/resources`, sent)), [409, 'audience_taken'])
    assert.deepEqual(refusalOf(await admin('POST', `${other.clientId}/resources`, sent)), [409, 'audience_taken'])
  }
  const honest = anyResource()
  const path = `/${clientId}/resources/${honest.resourceKey}`
  assert.equal((await portal(eve, 'POST', `/${clientId}/resources`, honest)).status, 201)
  const changed = await portal(eve, 'PATCH', path, { audience: victim.clientId })
  assert.deepEqual(refusalOf(changed), [409, 'audience_taken'])
})

test('DEL-27 no token is issued for a resource whose audience became the client ID of an app', async () => {
  const later = agents.agent()
  const notes = await createConnectors(agents.world)
  assert.equal((await notes.changeResource({ audience: later.clientId })).statusCode, 200)
  const { exchange } = await notes.connected()
  assert.equal((await exchange()).statusCode, 200)
  await later.tokens()
  const refused = await exchange()
  assert.deepEqual([refused.statusCode, refused.json().error], [400, 'invalid_target'])
  const audience = 'https://somewhere-else.example/api'
  assert.equal((await notes.changeResource({ audience })).statusCode, 200)
  assert.equal((await exchange()).statusCode, 200)
})

for (const what of ['the resource', 'its app'] as const)
  for (const how of ['the app', 'the account'] as const)
    test(`DEL-28 after the operator has disabled ${what}, deleting ${how} does not restore it`, async () => {
      const [eve, mate] = [await agents.world.person(), await agents.world.person()]
      const clientId = await newOwnApp(eve)
      const [held, free] = [anyResource(), anyResource()]
      for (const resource of [held, free])
        assert.equal((await portal(eve, 'POST', `/${clientId}/resources`, resource)).status, 201)
      const disabled = what === 'its app' ? clientId : `${clientId}/resources/${held.resourceKey}`
      assert.equal((await admin('PATCH', disabled, { status: 'disabled' })).status, 200)
      const gone = await (how === 'the app'
        ? portal(eve, 'DELETE', `/${clientId}`)
        : send('DELETE', '/api/account?apps=delete', eve.headers))
      assert.ok(gone.status < 300, JSON.stringify(gone.body))

      const resources = `/${await newOwnApp(mate)}/resources`
      const byKey = anyResource({ resourceKey: held.resourceKey })
      const byAudience = anyResource({ audience: `${held.audience}/` })
      for (const sent of [held, byKey, byAudience])
        assert.deepEqual(refusalOf(await portal(mate, 'POST', resources, sent)), [403, 'disabled_by_operator'])
      const own = anyResource()
      assert.equal((await portal(mate, 'POST', resources, own)).status, 201)
      const change = { audience: held.audience }
      const changed = await portal(mate, 'PATCH', `${resources}/${own.resourceKey}`, change)
      assert.deepEqual(refusalOf(changed), [403, 'disabled_by_operator'])
      const other = await portal(mate, 'POST', resources, free)
      assert.equal(other.status, what === 'its app' ? 403 : 201)

      const { clientId: operated } = await agents.world.app()
      assert.equal((await admin('POST', `${operated}/resources`, held)).status, 201)
      assert.equal((await admin('DELETE', operated)).status, 204)
      assert.equal((await portal(mate, 'POST', resources, held)).status, 201, 'the operator has assigned it again')
    })

test('DEL-28 names that only the owner disabled, or that the operator deletes, are available', async () => {
  const eve = await agents.world.person()
  for (const end of ['owner', 'operator'] as const) {
    const [clientId, resource] = [await newOwnApp(eve), anyResource()]
    await portal(eve, 'POST', `/${clientId}/resources`, resource)
    const path = `${clientId}/resources/${resource.resourceKey}`
    const disable = { status: 'disabled' }
    const disabled = await (end === 'owner' ? portal(eve, 'PATCH', `/${path}`, disable) : admin('PATCH', path, disable))
    assert.equal(disabled.status, 200)
    const gone = await (end === 'owner' ? portal(eve, 'DELETE', `/${clientId}`) : admin('DELETE', clientId))
    assert.equal(gone.status, 204)
    const again = await portal(eve, 'POST', `/${await newOwnApp(eve)}/resources`, resource)
    assert.equal(again.status, 201)
  }
})
