import assert from 'node:assert/strict'
import { test } from 'node:test'
import { updateApp } from '@countersign/protocol/clients/apps'
import { newChallenge } from '#testing/world.ts'
import { startBeside, startService, type Service } from '#testing/service.ts'

const isShared = process.env['TEST_DATABASE_URL'] !== undefined
const kept = 'https://app.example/callback'
const pkce = { code_challenge: newChallenge().challenge, code_challenge_method: 'S256' }
const removed = 'https://app.example/former'

/** Calls the admin API of a host. */
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

test('BLK-18 a removed setting of an app is gone in every process when the change is acknowledged', async (t) => {
  const service = await startService()
  t.after(() => service.close())
  // The embedded database has one process, which calls itself.
  const there = isShared ? await startBeside(t, service) : service
  const { clientId } = await ask(service, 'POST', '', {
    name: 'An app',
    redirectUris: [kept, removed],
    allowedScopes: ['openid', 'profile'],
  })
  const resourceKey = 'notes-of-two'
  const settings = { displayName: 'Notes', scopes: ['notes.read', 'notes.write'], audience: 'https://notes.example' }
  await ask(service, 'POST', `/${clientId}/resources`, { resourceKey, ...settings })

  const signIn = async (requested: Record<string, string>) => {
    const query = new URLSearchParams({ client_id: clientId, response_type: 'code', scope: 'openid', ...requested })
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

test('APS-21 a change of any setting that could allow too much waits for all processes', async (t) => {
  const service = await startService()
  t.after(() => service.close())
  const there = isShared ? await startBeside(t, service) : service
  const registered = {
    public: true,
    redirectUris: ['http://127.0.0.1/callback'],
    allowAnyLoopbackPort: true,
    requiredClaims: ['email'],
    appKeyRecipientJwk:
      'eyJrdHkiOiJPS1AiLCJjcnYiOiJYMjU1MTkiLCJ4IjoiM3A3YmZYdDl3YlRUVzJIQzdPUTFOei1EUThoYmVHZE5yZngtRkctSUswOCJ9',
    backchannelLogoutUri: 'http://127.0.0.1:9/out',
    backchannelLogoutSessionRequired: true,
  }
  const changes = {
    status: 'disabled',
    idTokenSignedResponseAlg: 'ES256',
    requireAuthTime: true,
    idTokenClaims: false,
    requiredClaims: [],
    appKeyRecipientJwk: null,
    organizationAccess: 'none',
    backchannelLogoutUri: null,
    backchannelLogoutSessionRequired: false,
    allowAnyLoopbackPort: false,
    supportsE2ee: false,
    allowedScopes: ['openid'],
    accessTokenTtlSeconds: 60,
    refreshTokenTtlSeconds: 3600,
    postLogoutRedirectUris: [],
    access: { mode: 'none' },
    groupsClaim: { include: 'all' },
  }
  const harmless = ['name', 'description', 'iconUrl', 'color', 'websiteUrl', 'privacyUrl', 'termsUrl']
  const settings = Object.keys(updateApp.schema.body.properties)
  assert.deepEqual(new Set(settings), new Set([...harmless, ...Object.keys(changes), 'redirectUris']))

  const more = { supportsE2ee: true, postLogoutRedirectUris: ['http://127.0.0.1/out'] }
  const took = async ([name, value]: [string, unknown]) => {
    const { clientId } = await ask(service, 'POST', '', { name: 'An app', ...registered, ...more })
    const signIn = async () => {
      const input = { client_id: clientId, response_type: 'code', redirect_uri: 'http://127.0.0.1:6666/callback' }
      const query = new URLSearchParams({ ...input, ...pkce })
      return (await fetch(`${there.authUrl}/signin?${query}`, { redirect: 'manual' })).status
    }
    assert.equal(await signIn(), 200)
    const began = performance.now()
    await ask(service, 'PATCH', `/${clientId}`, { [name]: value })
    if (name === 'allowAnyLoopbackPort') assert.equal(await signIn(), 400)
    return { name, hasWaited: performance.now() - began > 4900 }
  }
  const all = await Promise.all(Object.entries(changes).map(took))
  assert.deepEqual(
    all.filter(({ hasWaited }) => hasWaited !== isShared),
    [],
  )
})
