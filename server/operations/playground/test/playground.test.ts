import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { App } from '@countersign/protocol/clients/apps'
import { createWorld, postToken, type Person, type TestWorld } from '#testing/world.ts'
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
      devMail: true,
      registration: 'open',
      brand: { name: 'Countersign', links: {} },
    },
    clientId: 'app_playground',
    redirectUri: 'http://localhost:4401/playground',
    issuer: 'http://localhost:4401',
    calendar: {
      resourceKey: 'playground-calendar',
      audience: 'https://calendar.playground.invalid',
      scope: 'calendar.read',
    },
    notes: { clientId: 'app_playground_notes' },
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

test('only the app of the encrypted note gets a key of each user', async () => {
  for (const [clientId, supportsE2ee] of Object.entries({ app_playground: false, app_playground_notes: true })) {
    const answer = await world.api.inject({ url: `/api/admin/apps/${clientId}`, headers: world.admin })
    const app = answer.json<App>()
    const redirectUris = ['http://localhost:4401/playground']
    assert.deepEqual([app.supportsE2ee, app.public, app.redirectUris], [supportsE2ee, true, redirectUris])
  }
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

const calendarUrl = '/api/playground/calendar'
const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'
const redirectUri = 'http://localhost:4401/playground'

/** Lets the playground act at the calendar for a person; returns the token response. */
async function allowCalendar({ headers, identityId }: Person) {
  const resource = 'https://calendar.playground.invalid'
  const payload = {
    clientId: 'app_playground',
    redirectUri,
    identityId,
    scope: 'openid',
    codeChallenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    codeChallengeMethod: 'S256',
    connector: true,
    requestedResource: resource,
    requestedScope: 'calendar.read',
  }
  const allowed = await world.api.inject({ method: 'POST', url: '/api/oauth/authorize', headers, payload })
  assert.equal(allowed.statusCode, 200, allowed.body)
  const code = new URL(allowed.json<{ redirectUrl: string }>().redirectUrl).searchParams.get('code') ?? ''
  const grant = { grant_type: 'authorization_code', client_id: 'app_playground', redirect_uri: redirectUri }
  return postToken(world.api, { ...grant, code, code_verifier: verifier, resource })
}

const readCalendar = (token: string) =>
  world.api.inject({ url: calendarUrl, headers: { authorization: `Bearer ${token}` } })

test('the playground reads the demonstration calendar for a user who allowed it, until they revoke it', async () => {
  await ensurePlayground(world.kernel)
  const ada = await world.person()
  const redeemed = await allowCalendar(ada)
  assert.equal(redeemed.statusCode, 200, redeemed.body)
  const token = redeemed.json<{ access_token: string }>().access_token
  const answer = await readCalendar(token)
  assert.equal(answer.statusCode, 200, answer.body)
  const { events, verified } = answer.json()
  assert.deepEqual(
    [events.length, verified.audience, verified.scope],
    [2, 'https://calendar.playground.invalid', 'calendar.read'],
  )
  const [, claims = ''] = token.split('.')
  const { grant_id: delegationId } = JSON.parse(Buffer.from(claims, 'base64url').toString())
  const url = `/api/oauth/delegations/${delegationId}`
  const revoked = await world.api.inject({ method: 'DELETE', url, headers: ada.headers })
  assert.ok(revoked.statusCode < 300, revoked.body)
  assert.equal((await readCalendar(token)).statusCode, 401)
})

test('DEV-63 the demonstration calendar accepts no other token', async () => {
  const ada = await world.person()
  const app = await world.app()
  const { access_token: opaque, access_token_jwt: jwt } = await app.tokens(ada)
  for (const token of ['', 'x', opaque, jwt, ada.sessionToken]) {
    const refused = await readCalendar(token)
    assert.equal(refused.statusCode, 401, token)
    assert.match(String(refused.headers['www-authenticate']), /^Bearer realm="countersign"/)
  }
  const earnest = await createWorld({ environment: { DEMO: 'off' } })
  try {
    assert.equal((await earnest.api.inject({ url: calendarUrl })).statusCode, 404)
  } finally {
    await earnest.close()
  }
})
