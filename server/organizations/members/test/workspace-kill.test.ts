import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAuthenticator } from '#testing/authenticator.ts'
import { startService } from '#testing/service.ts'

const rounds = 4

test('ORG-16 a process killed while it creates workspaces leaves each complete or absent', async (t) => {
  const service = await startService({ environment: { RATE_LIMITS: 'off' } })
  t.after(() => service.close())
  const post = async (path: string, body: object, headers: Record<string, string> = {}) => {
    const type = { 'content-type': 'application/json' }
    const init = { method: 'POST', headers: { ...type, ...headers }, body: JSON.stringify(body) }
    return JSON.parse(await (await fetch(service.baseUrl + path, init)).text())
  }
  const authenticator = createAuthenticator({ origin: service.authUrl, rpId: 'localhost' })
  const started = await post('/api/auth/register/start', { handle: 'ada-founds', displayName: 'Ada' })
  const finish = { flowId: started.flowId, credential: authenticator.register(started.options) }
  const { sessionToken, identities } = await post('/api/auth/register/finish', finish)
  const redirectUri = 'https://app.example/callback'
  const settings = { name: 'An app', redirectUris: [redirectUri], organizationAccess: 'create' }
  const app = await post('/api/admin/apps', settings, service.admin)
  const requested = { clientId: app.clientId, redirectUri, identityId: identities[0].identityId, scope: 'openid' }
  const consent = { ...requested, organizationAccess: 'create' }
  const { redirectUrl } = await post('/api/oauth/authorize', consent, { authorization: `Bearer ${sessionToken}` })
  const tokens = await post('/api/oauth/token', {
    grant_type: 'authorization_code',
    code: new URL(redirectUrl).searchParams.get('code'),
    redirect_uri: redirectUri,
    client_id: app.clientId,
    client_secret: app.clientSecret,
  })
  const bearer = { authorization: `Bearer ${tokens.access_token}` }

  const acknowledged: string[] = []
  for (let round = 0; round < rounds; round += 1) {
    const some = Promise.withResolvers<void>()
    const before = acknowledged.length
    const creating = Array.from({ length: 4 }, async () => {
      const workspace = { name: 'Killed', client_id: app.clientId, userConfirmedServiceWorkspaceCreation: true }
      for (;;) {
        // A killed service sends no response, or part of one.
        const made = await post('/api/oauth/workspaces', workspace, bearer).catch(() => undefined)
        if (made === undefined) return
        assert.ok(made.organization, JSON.stringify(made))
        acknowledged.push(made.organization.id)
        if (acknowledged.length >= before + 3 + round) some.resolve()
      }
    })
    await Promise.race([some.promise, Promise.all(creating)])
    await service.end('SIGKILL')
    await Promise.all(creating)
    await service.restart()
    const answer = await fetch(`${service.baseUrl}/api/oauth/organizations`, { headers: bearer })
    const { organizations }: { organizations: { id: string; role: string; slug: string }[] } = JSON.parse(
      await answer.text(),
    )
    for (const { role } of organizations) assert.equal(role, 'owner')
    assert.equal(new Set(organizations.map(({ slug }) => slug)).size, organizations.length)
    const ids = new Set(organizations.map(({ id }) => id))
    assert.deepEqual(
      acknowledged.filter((id) => !ids.has(id)),
      [],
      'every acknowledged workspace exists',
    )
  }
  // Closing the service verifies in the database that every organization has an owner.
})
