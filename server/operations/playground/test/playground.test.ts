import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { App } from '@countersign/protocol/clients/apps'
import { createWorld, type TestWorld } from '#testing/world.ts'
import { ensurePlayground } from '#operations/playground/playground.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const url = '/api/admin/apps/app_playground'
const findApp = () => world.api.inject({ url, headers: world.admin })
const readApp = async () => (await findApp()).json<App>()

test('the page contains what it needs for its own sign-in', async () => {
  const answer = await world.auth.inject({ url: '/playground' })
  assert.equal(answer.statusCode, 200)
  assert.match(String(answer.headers['content-type']), /^text\/html/)
  assert.match(String(answer.headers['content-security-policy']), /script-src 'self'/)
  const [, view = ''] = /<script type="application\/json" id="view">(.*?)<\/script>/s.exec(answer.body) ?? []
  assert.deepEqual(JSON.parse(view), {
    page: 'playground',
    site: {
      baseUrl: 'http://localhost:4400',
      authUrl: 'http://localhost:4401',
      businessUrl: 'http://localhost:4402',
      relyingPartyId: 'localhost',
      demo: true,
      developers: true,
      mail: true,
      brand: { name: 'Countersign', links: {} },
    },
    clientId: 'app_playground',
    redirectUri: 'http://localhost:4401/playground',
    issuer: 'http://localhost:4401',
  })
})

test('its app is public, redirects to the page, and needs only default permissions', async () => {
  const { name, public: isPublic, redirectUris, allowedScopes, idTokenSignedResponseAlg } = await readApp()
  assert.deepEqual(
    { name, isPublic, redirectUris, allowedScopes, idTokenSignedResponseAlg },
    {
      name: 'Playground',
      isPublic: true,
      redirectUris: ['http://localhost:4401/playground'],
      allowedScopes: ['openid', 'profile', 'email', 'offline_access'],
      idTokenSignedResponseAlg: 'ES256',
    },
  )
})

test('each start writes its app again, also if several processes start together', async () => {
  const startTogether = () => Promise.all(Array.from({ length: 4 }, () => ensurePlayground(world.kernel)))
  const settings = { name: 'Something else', redirectUris: ['https://elsewhere.example/'] }
  await world.api.inject({ method: 'PATCH', url, headers: world.admin, payload: settings })
  await startTogether()
  assert.equal((await readApp()).name, 'Playground')

  await world.api.inject({ method: 'DELETE', url, headers: world.admin })
  await startTogether()
  assert.deepEqual((await readApp()).redirectUris, ['http://localhost:4401/playground'])
})

test('a start without DEMO removes the app and the page', async () => {
  await ensurePlayground({ ...world.kernel, config: { ...world.config, demo: false } })
  assert.equal((await findApp()).statusCode, 404)

  const earnest = await createWorld({ environment: { DEMO: 'off' } })
  try {
    assert.equal((await earnest.auth.inject({ url: '/playground' })).statusCode, 404)
    const answer = await earnest.api.inject({ url: '/api/oauth/app/app_playground' })
    assert.deepEqual([answer.statusCode, answer.json<{ error: string }>().error], [404, 'app_not_found'])
  } finally {
    await earnest.close()
  }
})
