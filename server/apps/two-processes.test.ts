import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startBeside, startService, type Service } from '#testing/service.ts'

const isShared = process.env['TEST_DATABASE_URL'] !== undefined
const kept = 'https://app.example/callback'
const removed = 'https://app.example/former'

/** Asks the admin API of a host. */
async function ask(service: Service, method: string, path: string, body?: object): Promise<{ clientId: string }> {
  const headers = { ...service.admin, ...(body && { 'content-type': 'application/json' }) }
  const answer = await fetch(`${service.baseUrl}/api/admin/apps${path}`, {
    method,
    headers,
    ...(body && { body: JSON.stringify(body) }),
  })
  assert.ok(answer.ok, `${method} ${path}: ${answer.status}`)
  return JSON.parse(await answer.text())
}

test('BLK-18 what is taken away from an app is gone in every process when that is acknowledged', async (t) => {
  const service = await startService()
  t.after(() => service.close())
  // The embedded database has one process; it asks itself.
  const there = isShared ? await startBeside(t, service) : service
  const { clientId } = await ask(service, 'POST', '', {
    name: 'An app',
    redirectUris: [kept, removed],
    allowedScopes: ['openid', 'profile'],
  })
  const resourceKey = 'notes-of-two'
  const settings = { displayName: 'Notes', scopes: ['notes.read', 'notes.write'], audience: 'https://notes.example' }
  await ask(service, 'POST', `/${clientId}/resources`, { resourceKey, ...settings })

  const signIn = async (wanted: Record<string, string>) => {
    const query = new URLSearchParams({ client_id: clientId, response_type: 'code', scope: 'openid', ...wanted })
    const answer = await fetch(`${there.authUrl}/signin?${query}`, { redirect: 'manual' })
    return answer.status === 200
  }
  const scopes = async () => {
    const answer = await fetch(`${there.baseUrl}/api/oauth/resource/${resourceKey}`)
    return JSON.parse(await answer.text()).resource?.scopes
  }
  const view = () =>
    Promise.all([
      signIn({ redirect_uri: removed }),
      signIn({ redirect_uri: kept, scope: 'openid profile' }),
      signIn({ redirect_uri: kept }),
    ])

  assert.deepEqual([await view(), await scopes()], [[true, true, true], settings.scopes])
  await ask(service, 'PATCH', `/${clientId}`, {
    redirectUris: [kept],
    allowedScopes: ['openid'],
  })
  assert.deepEqual(await view(), [false, false, true])
  await scopes()
  await ask(service, 'PATCH', `/${clientId}/resources/${resourceKey}`, { scopes: ['notes.read'] })
  assert.deepEqual(await scopes(), ['notes.read'])
})
