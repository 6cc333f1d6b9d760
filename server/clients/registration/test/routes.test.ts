import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { App, PublicApp } from '@countersign/protocol/clients/apps'
import { createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

/** All fields of responses; each test reads those of its call. */
type Body = App & { clientSecret: string; apps: App[]; error: string }

/** Calls the admin API and returns status and body. */
async function admin(method: Method, path: string, payload?: Record<string, unknown>) {
  const sent = payload === undefined ? {} : { payload }
  const answer = await world.api.inject({ method, url: `/api/admin${path}`, headers: world.admin, ...sent })
  return { status: answer.statusCode, body: answer.json<Body>() }
}

const deleteApp = (clientId: string) =>
  world.api.inject({ method: 'DELETE', url: `/api/admin/apps/${clientId}`, headers: world.admin })

const readPublicly = (clientId: string) => world.api.inject({ url: `/api/oauth/app/${encodeURIComponent(clientId)}` })

const plain = { name: 'Ledger', redirectUris: ['https://ledger.example/callback'] }
const full = {
  ...plain,
  postLogoutRedirectUris: ['https://ledger.example/signed-out', 'http://localhost:3000/'],
  description: 'Keeps the books.',
  iconUrl: 'https://ledger.example/icon.png',
  color: '#2841ae',
  websiteUrl: 'https://ledger.example/',
  privacyUrl: 'https://ledger.example/privacy',
  termsUrl: 'http://localhost:3000/terms',
  allowedScopes: ['openid', 'user_id'],
  idTokenSignedResponseAlg: 'EdDSA',
  accessTokenTtlSeconds: 600,
  refreshTokenTtlSeconds: 86_400,
  requireAuthTime: true,
  idTokenClaims: false,
  requiredClaims: ['email'],
  appKeyRecipientJwk:
    'eyJrdHkiOiJPS1AiLCJjcnYiOiJYMjU1MTkiLCJ4IjoiM3A3YmZYdDl3YlRUVzJIQzdPUTFOei1EUThoYmVHZE5yZngtRkctSUswOCJ9',
  organizationAccess: 'read',
  backchannelLogoutUri: 'https://ledger.example/logged-out?by=us',
  backchannelLogoutSessionRequired: true,
}

describe('the life cycle of an app', () => {
  test('an app is registered, read, changed and deleted', async () => {
    const created = await admin('POST', '/apps', full)
    assert.equal(created.status, 201)
    const { clientId, clientSecret, version, ...settings } = created.body
    assert.match(clientId, /^app_[0-9a-f]{32}$/)
    assert.match(clientSecret, /^cs_[\w-]{40,}$/)
    const dates = { createdAt: world.now().toISOString(), updatedAt: world.now().toISOString() }
    assert.deepEqual(settings, {
      ...full,
      supportsE2ee: false,
      public: false,
      status: 'active',
      ownerIdentityId: null,
      allowAnyLoopbackPort: false,
      access: { mode: 'everyone', groups: [], organizations: [], contact: null },
      groupsClaim: { include: 'assigned' },
      metadataFetchedAt: null,
      ...dates,
    })
    assert.deepEqual((await admin('GET', `/apps/${clientId}`)).body, { clientId, version, ...settings })

    world.pass(60)
    const changed = await admin('PATCH', `/apps/${clientId}`, { name: 'Cash book', description: null })
    const expected = {
      clientId,
      ...settings,
      name: 'Cash book',
      description: null,
      updatedAt: world.now().toISOString(),
    }
    const { version: next, ...body } = changed.body
    assert.deepEqual([changed.status, body], [200, expected])
    assert.deepEqual((await admin('GET', `/apps/${clientId}`)).body, { version: next, ...expected })
    assert.notEqual(next, version)
    assert.ok((await admin('GET', '/apps')).body.apps.some(({ name }) => name === 'Cash book'))

    const deleted = await deleteApp(clientId)
    assert.deepEqual([deleted.statusCode, deleted.body], [204, ''])
    for (const method of ['GET', 'DELETE'] as const) {
      const gone = await admin(method, `/apps/${clientId}`)
      assert.deepEqual([gone.status, gone.body.error], [404, 'app_not_found'])
    }
    assert.equal((await admin('PATCH', `/apps/${clientId}`, { name: 'Again' })).status, 404)
    assert.equal((await readPublicly(clientId)).statusCode, 404)
  })

  test('settings that are not sent have their defaults', async () => {
    const { body } = await admin('POST', '/apps', plain)
    assert.deepEqual(body.allowedScopes, ['openid', 'profile', 'email', 'offline_access'])
    assert.equal(body.idTokenSignedResponseAlg, 'RS256')
    assert.equal(body.accessTokenTtlSeconds, 3600)
    assert.equal(body.refreshTokenTtlSeconds, 30 * 24 * 3600)
    assert.equal(body.iconUrl, null)
    assert.deepEqual(body.postLogoutRedirectUris, [])
  })

  test('a public app has no secret', async () => {
    const { status, body } = await admin('POST', '/apps', { ...plain, public: true })
    assert.equal(status, 201)
    assert.equal(body.public, true)
    assert.ok(!('clientSecret' in body))
  })

  test('a secret is returned once, and the database has only its hash', async () => {
    const { body } = await admin('POST', '/apps', plain)
    const again = [
      await admin('GET', '/apps'),
      await admin('GET', `/apps/${body.clientId}`),
      await admin('GET', '/audit'),
    ]
    assert.doesNotMatch(JSON.stringify(again), new RegExp(body.clientSecret))
    const rows = await world.db.selectFrom('app_secret').selectAll().where('client_id', '=', body.clientId).execute()
    assert.deepEqual(
      rows.map((row) => row.secret_sha256.length),
      [32],
    )
  })

  test('two concurrent changes both apply', async () => {
    const { clientId } = (await admin('POST', '/apps', plain)).body
    const changes = [{ name: 'Renamed' }, { description: 'Described' }, { allowedScopes: ['openid'] }]
    const answers = await Promise.all(changes.map((change) => admin('PATCH', `/apps/${clientId}`, change)))
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200],
    )
    const { name, description, allowedScopes } = (await admin('GET', `/apps/${clientId}`)).body
    assert.deepEqual({ name, description, allowedScopes }, Object.assign({}, ...changes))
  })

  test('the audit log records every change', async () => {
    const { clientId } = (await admin('POST', '/apps', plain)).body
    await admin('PATCH', `/apps/${clientId}`, { name: 'Renamed' })
    await deleteApp(clientId)
    const rows = await world.db
      .selectFrom('audit_event')
      .select(['action', 'actor', 'details'])
      .where('client_id', '=', clientId)
      .execute()
    assert.deepEqual(
      rows.toSorted((a, b) => a.action.localeCompare(b.action)),
      [
        { action: 'app.created', actor: 'operator', details: {} },
        { action: 'app.deleted', actor: 'operator', details: {} },
        { action: 'app.updated', actor: 'operator', details: { changed: ['name'] } },
      ],
    )
  })
})

describe('an app is not registered', () => {
  const refusals: [what: string, settings: Record<string, unknown>, error: string][] = [
    ['AUZ-07: with a script as redirect URI', { redirectUris: ['javascript:alert(1)'] }, 'invalid_redirect_uri'],
    [
      'AUZ-07: with one bad redirect URI among good ones',
      { redirectUris: ['https://a.example/', 'http://a.example/'] },
      'invalid_redirect_uri',
    ],
    [
      'AUZ-07: with a scheme of its own though it is confidential',
      { redirectUris: ['com.example:/cb'] },
      'invalid_redirect_uri',
    ],
    [
      'AUZ-07: with a script as post-logout redirect URI',
      { postLogoutRedirectUris: ['javascript:alert(1)'] },
      'invalid_redirect_uri',
    ],
    ['with a fragment in it', { postLogoutRedirectUris: ['https://a.example/#bye'] }, 'invalid_redirect_uri'],
    [
      'with the same one twice',
      { postLogoutRedirectUris: ['https://a.example/', 'https://a.example/'] },
      'invalid_request',
    ],
    [
      'APS-05 BCL-01: with a logout URI without TLS',
      { backchannelLogoutUri: 'http://a.example/out' },
      'invalid_request',
    ],
    [
      'APS-05 BCL-01: with a fragment in its logout URI',
      { backchannelLogoutUri: 'https://a.example/out#x' },
      'invalid_request',
    ],
    [
      'APS-05 BCL-01: with a password in its logout URI',
      { backchannelLogoutUri: 'https://u:p@a.example/' },
      'invalid_request',
    ],
    ['APK-10: with a key of its server that is none', { appKeyRecipientJwk: 'e30' }, 'invalid_request'],
    ['APS-05: with a required claim that every identity has', { requiredClaims: ['sub'] }, 'invalid_request'],
    ['APS-05: with a claim required twice', { requiredClaims: ['email', 'email'] }, 'invalid_request'],
    ['APS-05: with an unknown organizationAccess', { organizationAccess: 'admin' }, 'invalid_request'],
    ['APS-05: with allowAnyLoopbackPort though it is confidential', { allowAnyLoopbackPort: true }, 'invalid_request'],
    ['without a redirect URI', { redirectUris: [] }, 'invalid_request'],
    ['with a script as its icon', { iconUrl: 'javascript:alert(1)' }, 'invalid_request'],
    ['with an icon without TLS', { iconUrl: 'http://app.example/icon.png' }, 'invalid_request'],
    ['with a website that names another', { websiteUrl: 'https://good.example@evil.example/' }, 'invalid_request'],
    ['AUZ-24: with a name that runs from right to left', { name: 'Bank\u202egro.live' }, 'invalid_request'],
    ['AUZ-24: with a name of two lines', { name: 'Bank\nSigned in' }, 'invalid_request'],
    ['AUZ-24: with a name of 81 characters', { name: 'x'.repeat(81) }, 'invalid_request'],
    ['AUZ-24: with a name of 10 kB', { name: 'x'.repeat(10_000) }, 'invalid_request'],
    ['AUZ-24: with a name of spaces', { name: '   ' }, 'invalid_request'],
    ['AUZ-24: with a description that runs from right to left', { description: 'a\u202eb' }, 'invalid_request'],
    ['with an unknown scope', { allowedScopes: ['openid', 'everything'] }, 'invalid_request'],
    ['with access tokens that live too long', { accessTokenTtlSeconds: 3601 }, 'invalid_request'],
    ['with an algorithm that signs nothing', { idTokenSignedResponseAlg: 'none' }, 'invalid_request'],
    ['with a client id of its own choice', { clientId: 'app_playground' }, 'invalid_request'],
    ['with an unknown field', { supportsE2EE: true }, 'invalid_request'],
  ]
  for (const [what, settings, error] of refusals)
    test(what, async () => {
      const registered = (await admin('GET', '/apps')).body.apps
      const { status, body } = await admin('POST', '/apps', { ...plain, ...settings })
      assert.deepEqual([status, body.error], [400, error])
      assert.deepEqual((await admin('GET', '/apps')).body.apps, registered)
    })

  test('APS-05 and not changed to such settings', async () => {
    const { clientId, clientSecret: _told, ...unchanged } = (await admin('POST', '/apps', plain)).body
    for (const change of [
      { redirectUris: ['data:,x'] },
      { postLogoutRedirectUris: ['http://a.example/'] },
      { name: '\u200e' },
      { termsUrl: 'ftp://a' },
      { public: true },
      { requiredClaims: ['sub'] },
      { requiredClaims: ['email', 'email'] },
      { organizationAccess: 'admin' },
      { allowAnyLoopbackPort: true },
      { backchannelLogoutUri: 'http://a.example/out' },
      { backchannelLogoutUri: 'https://a.example/out#x' },
      {},
    ])
      assert.equal((await admin('PATCH', `/apps/${clientId}`, change)).status, 400, JSON.stringify(change))
    assert.deepEqual((await admin('GET', `/apps/${clientId}`)).body, { clientId, ...unchanged })
  })
})

describe('the public fields of an app', () => {
  test('are those that users see, and not its configuration', async () => {
    const { clientId } = (await admin('POST', '/apps', full)).body
    const answer = await readPublicly(clientId)
    const { name, description, iconUrl, color, websiteUrl, privacyUrl, termsUrl, allowedScopes, appKeyRecipientJwk } =
      full
    const app = {
      clientId,
      name,
      description,
      iconUrl,
      color,
      websiteUrl,
      privacyUrl,
      termsUrl,
      supportsE2ee: false,
      appKeyRecipientJwk,
      allowedScopes,
    }
    assert.equal(answer.statusCode, 200)
    assert.deepEqual(answer.json(), { app, resources: [] })
    assert.equal(answer.headers['access-control-allow-origin'], '*')
  })

  test('change at once', async () => {
    const { clientId } = (await admin('POST', '/apps', plain)).body
    await readPublicly(clientId)
    await admin('PATCH', `/apps/${clientId}`, { name: 'Renamed' })
    assert.equal((await readPublicly(clientId)).json<{ app: PublicApp }>().app.name, 'Renamed')
  })

  test('AUZ-24: are text, even if they look like markup', async () => {
    const name = '<img src=x onerror=alert(1)>'
    const { clientId } = (await admin('POST', '/apps', { ...plain, name })).body
    const answer = await readPublicly(clientId)
    assert.equal(answer.json<{ app: PublicApp }>().app.name, name)
    assert.match(String(answer.headers['content-type']), /^application\/json/)
    assert.equal(answer.headers['x-content-type-options'], 'nosniff')
  })

  test('is nothing, of an app that does not exist', async () => {
    for (const clientId of ['app_0123', 'app\u00e9', ' ', "'--"]) {
      const answer = await readPublicly(clientId)
      assert.deepEqual([answer.statusCode, answer.json<Body>().error], [404, 'app_not_found'], clientId)
    }
  })
})
