import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

type Change = { method: 'PATCH' | 'POST' | 'PUT'; url: string; payload?: object; headers: Record<string, string> }

const send = ({ headers, ...change }: Change, ifMatch: string) =>
  world.api.inject({ ...change, headers: { ...headers, 'if-match': ifMatch } })

/** Returns a person and an app that they have registered. */
async function developer() {
  const { headers, identityId } = await world.person()
  const payload = { name: 'Ledger', redirectUris: ['https://ledger.example/callback'], identityId }
  const answer = await world.api.inject({ method: 'POST', url: '/api/developer/apps', headers, payload })
  assert.equal(answer.statusCode, 201, answer.body)
  return { headers, identityId, clientId: answer.json<{ clientId: string }>().clientId }
}

type Named = { clientId: string; identityId: string; headers: Record<string, string> }

/** Returns a change at each endpoint of apps and identities that takes `If-Match`. */
function changesOf({ clientId, identityId, headers }: Named): Change[] {
  const { admin } = world
  const payload = { description: 'Keeps the books' }
  const roles = { roles: [{ key: 'viewer' }], roleAssignments: [] }
  const identity = `/api/admin/identities/${identityId}`
  return [
    { method: 'PATCH', url: `/api/developer/apps/${clientId}`, headers, payload },
    { method: 'PATCH', url: `/api/admin/apps/${clientId}`, headers: admin, payload },
    {
      method: 'PUT',
      url: `/api/admin/apps/${clientId}/roles`,
      headers: admin,
      payload: roles,
    },
    { method: 'PATCH', url: identity, headers: admin, payload: { displayName: 'Ada' } },
    { method: 'POST', url: `${identity}/suspension`, headers: admin, payload: { reason: 'Spam' } },
  ]
}

/** Returns the changes of the settings, of which there is always a version. */
function changesOfSettings(): Change[] {
  const url = '/api/admin/settings'
  const payload = { settings: { 'branding.name': 'Example ID' } }
  return [
    { method: 'PATCH', url, headers: world.admin, payload },
    { method: 'POST', url: `${url}/revisions/0/restore`, headers: world.admin },
  ]
}

test('If-Match: * changes any version of what exists, and nothing that does not', async () => {
  const ada = await developer()
  for (const change of [...changesOf(ada), ...changesOfSettings()]) {
    const answer = await send(change, '*')
    assert.equal(answer.statusCode, 200, `${change.method} ${change.url}: ${answer.body}`)
  }
  const { headers } = await world.person()
  for (const change of changesOf({ headers, clientId: 'app_unknown', identityId: randomUUID() })) {
    const answer = await send(change, '*')
    assert.equal(answer.statusCode, 404, `${change.method} ${change.url}: ${answer.body}`)
  }
})

test('If-Match that names neither one version nor any is refused, and changes nothing', async () => {
  for (const change of [...changesOf(await developer()), ...changesOfSettings()])
    for (const malformed of ['""', '**', '"*"', '*, *', 'W/"1"']) {
      const answer = await send(change, malformed)
      const refusal = [answer.statusCode, answer.json().error]
      assert.deepEqual(refusal, [400, 'invalid_request'], `${change.method} ${change.url}: ${malformed}`)
    }
})
