import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { ClientId } from '@countersign/protocol/ids'
import { codeIn, openAgents, redirectUri, type Agents } from '#testing/agents.ts'
import { signInByOrganization } from '#testing/enterprise-session.ts'
import { createOrganization } from '#testing/organization.ts'
import { createWorld, postForm, type Person, type TestWorld } from '#testing/world.ts'
import { createAppDirectory } from '#clients/registration/directory.ts'
import { pruneMetadataDocumentClients } from '#clients/registration/metadata-documents/metadata-document-client.ts'

let world: TestWorld
let host: Agents['host']
let person: Agents['person']
let agent: Agents['agent']
let close: Agents['close']
before(async () => {
  ;({ world, host, person, agent, close } = await openAgents())
})
after(() => close())

const rowsOfApps = async () => (await world.db.selectFrom('app').select('client_id').execute()).length
const act = (clientId: ClientId, change: Record<string, unknown>) =>
  world.api.inject({
    method: 'PATCH',
    url: `/api/admin/apps/${encodeURIComponent(clientId)}`,
    headers: world.admin,
    payload: change,
  })

test('CID-02 a user signs in to an unregistered app with a metadata document', async () => {
  const app = agent()
  const rows = await rowsOfApps()
  const { status, view } = await app.signIn({ state: 's1' })
  assert.equal(status, 200)
  assert.deepEqual(view.unverified, { host: `localhost:${host.port}`, onDevice: false })
  assert.deepEqual([view.app.name, view.app.clientId], ['The agent', app.clientId])
  assert.equal(await rowsOfApps(), rows, 'a request alone stores nothing')

  const tokens = await app.tokens()
  assert.equal(await rowsOfApps(), rows + 1)
  const refreshed = await app.refresh(tokens.refresh_token)
  assert.equal(refreshed.statusCode, 200)
  assert.equal(app.fetches(), 1, 'neither consent nor the token endpoint fetches it again')

  const listed = await world.api.inject({ url: '/api/oauth/authorizations', headers: person.headers })
  const [authorization] = listed
    .json<{ authorizations: { id: string; clientId: ClientId; appName: string; appWebsiteUrl: string }[] }>()
    .authorizations.filter(({ clientId }) => clientId === app.clientId)
  assert.deepEqual(
    [authorization?.appName, authorization?.appWebsiteUrl],
    ['The agent', `http://localhost:${host.port}`],
  )
  const disconnected = await world.api.inject({
    method: 'DELETE',
    url: `/api/oauth/authorizations/${authorization?.id}`,
    headers: person.headers,
  })
  assert.equal(disconnected.statusCode, 204)
  assert.equal((await app.refresh(refreshed.json().refresh_token)).json().error, 'invalid_grant')
})

test('with CLIENT_ID_METADATA_DOCUMENTS off no document is fetched, advertised or accepted', async (t) => {
  const quiet = await createWorld()
  t.after(() => quiet.close())
  const app = agent()
  const { status, view } = await app.signIn({}, quiet)
  assert.deepEqual([status, view.error, app.fetches()], [400, 'invalid_client', 0])
  for (const at of [world, quiet]) {
    const metadata = (await at.auth.inject({ url: '/.well-known/oauth-authorization-server' })).json()
    assert.equal(metadata.client_id_metadata_document_supported, at === world ? true : undefined)
  }
})

test('CID-03 the consent page shows the host, and whether a program on the device receives the response', async () => {
  const app = agent({
    client_name: undefined,
    redirect_uris: ['http://127.0.0.1/callback', 'com.example.agent:/callback'],
  })
  for (const onDevice of ['http://127.0.0.1:49152/callback', 'com.example.agent:/callback']) {
    const { view } = await app.signIn({ redirect_uri: onDevice })
    assert.deepEqual(view.unverified, { host: `localhost:${host.port}`, onDevice: true }, onDevice)
    assert.equal(view.app.name, `localhost:${host.port}`)
  }
  const disguised = agent({
    client_name: 'Your\u202ebank',
    logo_uri: host.at('/logo.png'),
    policy_uri: host.at('/policy'),
  })
  const { view } = await disguised.signIn()
  assert.deepEqual([view.app.name, view.app.iconUrl, view.app.privacyUrl], [view.unverified.host, null, null])
  assert.ok(!host.requested.some(({ url }) => url === '/logo.png'), 'URLs in a document are not fetched')
  const registered = await world.app({ public: true })
  const shown = await app.signIn({ client_id: registered.clientId, redirect_uri: registered.redirectUri })
  assert.equal(shown.view.unverified, undefined)
})

test('AUZ-06 only the port of a loopback URI may differ from the document', async () => {
  const app = agent({
    redirect_uris: ['http://127.0.0.1:8080/callback?a=1', 'http://[::1]/', 'http://localhost:3000/cb'],
  })
  for (const uri of [
    'http://127.0.0.1:8080/callback?a=1',
    'http://127.0.0.1:1/callback?a=1',
    'http://127.0.0.1/callback?a=1',
    'http://[::1]:65535/',
    'http://localhost:3000/cb',
  ])
    assert.equal((await app.signIn({ redirect_uri: uri })).status, 200, uri)
  const others =
    'http://127.0.0.1:1/callback http://127.0.0.1:1/callback?a=2 http://127.0.0.1:1/Callback?a=1 ' +
    'http://127.0.0.1:1/x/../callback?a=1 http://127.0.0.1:65536/callback?a=1 ' +
    'http://127.0.0.1:0/callback?a=1 http://127.0.0.1:01/callback?a=1 http://127.0.0.2/callback?a=1 ' +
    'http://127.1:8080/callback?a=1 https://127.0.0.1:1/callback?a=1 http://localhost:3001/cb ' +
    'http://localhost/cb http://localhost.evil.example:3000/cb http://127.0.0.1.evil.example/callback?a=1 ' +
    'http://127.0.0.1:1@evil.example/callback?a=1 http://127.0.0.1:1/callback?a=1#b http://[::1]:1 ' +
    'http://[::1]:1/x'
  for (const uri of others.split(' ')) {
    const { status, location, view } = await app.signIn({ redirect_uri: uri })
    assert.deepEqual([status, location, view.error], [400, undefined, 'invalid_redirect_uri'], uri)
  }
})

test('CID-04 a program on the device needs consent each time, and is never authorized silently', async () => {
  const onDevice = 'http://127.0.0.1:4000/callback'
  const app = agent({ redirect_uris: [redirectUri, onDevice] })
  assert.equal((await app.consent({ redirectUri: onDevice })).statusCode, 200)
  const silently = await app.consent({ redirectUri: onDevice, prompt: 'none' })
  assert.deepEqual([silently.statusCode, silently.json().error], [403, 'consent_required'])
  assert.equal((await app.consent({ prompt: 'none' })).statusCode, 200, 'its own host received the consent')
})

test('a metadata document client may have what any unknown app may have', async () => {
  const app = agent()
  for (const scope of ['openid user_id', 'openid e2ee:symmetric', 'openid everything']) {
    const { view } = await app.signIn({ scope })
    assert.equal(view.unverified.error, 'invalid_scope', scope)
    assert.equal((await app.consent({ scope })).json().error, 'invalid_scope', scope)
  }
  const { view } = await app.signIn({ code_challenge: '', code_challenge_method: '' })
  assert.equal(view.unverified.error, 'invalid_request', 'without code_challenge')
  assert.equal(await app.row(), undefined)
})

test('CID-07 an error never redirects to an unverified app automatically, in any response mode', async () => {
  const phish = 'https://phish.example/login'
  const device = 'com.example.agent:/callback'
  const app = agent({ redirect_uris: [phish, device] })
  assert.equal((await app.consent({ redirectUri: phish })).statusCode, 200, 'nor after a user has connected it')
  const wrong: Record<string, Record<string, string>> = {
    'a scope that is none': { scope: 'no-such' },
    'another response type': { response_type: 'token' },
    'another way to answer': { response_mode: 'fragment' },
    'an answer by a form': { scope: 'no-such', response_mode: 'form_post' },
    'no question allowed': { scope: 'no-such', prompt: 'none' },
    'a resource that is none': { resource: 'https://nothing.example' },
    'a URI on the device': { scope: 'no-such', redirect_uri: device },
  }
  for (const [what, parameters] of Object.entries(wrong)) {
    const { status, location, view } = await app.signIn({ redirect_uri: phish, state: 's1', ...parameters })
    assert.deepEqual([status, location, view.page], [400, undefined, 'return'], what)
    assert.equal(view.unverified.host, `localhost:${host.port}`, what)
    const { url, fields } = view.leaving
    const answered = fields ?? Object.fromEntries(new URL(url).searchParams)
    assert.ok(url.startsWith(parameters['redirect_uri'] ?? phish), what)
    assert.deepEqual([answered.error, answered.state], [view.unverified.error, 's1'], what)
  }

  const byForm = { client_id: app.clientId, redirect_uri: phish, scope: 'no-such' }
  for (const path of ['/signin', '/connect']) {
    const answer = await postForm(world.auth, path, byForm)
    assert.deepEqual([answer.statusCode, answer.headers.location], [400, undefined], path)
  }
  const pushed = await app.push({ redirect_uri: phish, scope: 'no-such' })
  assert.deepEqual([pushed.statusCode, pushed.json().error], [400, 'invalid_scope'])
  const { clientId, redirectUri: registered } = await world.app({ public: true })
  const known = { client_id: clientId, redirect_uri: registered, scope: 'no-such' }
  assert.equal((await app.signIn(known)).status, 303, 'the URI of a registered app receives the redirect')
})

test('a request can be pushed', async () => {
  const app = agent()
  const pushed = await app.push()
  assert.equal(pushed.statusCode, 201, pushed.body)
  const requestUri = pushed.json().request_uri
  assert.equal((await app.signIn({ request_uri: requestUri })).view.unverified.host, `localhost:${host.port}`)
  assert.equal((await app.redeem(codeIn(await app.consent({ requestUri })))).statusCode, 200)
  const introspected = await postForm(world.api, '/api/oauth/introspect', { client_id: app.clientId, token: 'x' })
  assert.equal(introspected.json().error, 'invalid_client')
})

test('the next consent applies the current document, and the audit log records the change', async () => {
  const app = agent()
  await app.tokens()
  app.serve({ client_name: 'Renamed', redirect_uris: [redirectUri, 'https://agent.example/other'] })
  world.pass(60)
  assert.equal((await app.row())?.name, 'The agent')
  await app.tokens()
  const row = await app.row()
  assert.deepEqual([row?.name, row?.redirect_uris.length], ['Renamed', 2])
  await app.tokens()
  const trail = await world.db
    .selectFrom('audit_event')
    .select(['action', 'actor'])
    .where('client_id', '=', app.clientId)
    .orderBy('event_id')
    .execute()
  const ofApp = trail.filter(({ actor }) => actor === 'system').map(({ action }) => action)
  assert.deepEqual(ofApp, ['app.created', 'app.updated'])
  assert.equal((await app.consent({ redirectUri: 'https://agent.example/gone' })).json().error, 'invalid_redirect_uri')
})

test('another process that has just found no such app finds it after the first consent', async () => {
  const app = agent()
  const elsewhere = createAppDirectory(world.kernel)
  assert.equal(await elsewhere.find(app.clientId), undefined)
  await app.tokens()
  assert.equal((await elsewhere.find(app.clientId))?.name, 'The agent')
})

test('CID-02 concurrent consents leave one row, and each gets tokens', async () => {
  const app = agent()
  const others = await Promise.all([world.person(), world.person(), world.person()])
  const answers = await Promise.all(others.map((other) => app.consent({}, other)))
  for (const code of answers.map(codeIn)) assert.equal((await app.redeem(code)).statusCode, 200)
  const created = await world.db
    .selectFrom('audit_event')
    .select('action')
    .where('client_id', '=', app.clientId)
    .where('action', '=', 'app.created')
    .execute()
  assert.equal(created.length, 1)
})

test('CID-02 storing metadata document clients is rate-limited', async (t) => {
  const environment = { RATE_LIMIT_NUMBERS: 'unregistered-client-consents-per-user=2' }
  const limited = await openAgents({ environment, rateLimits: true })
  t.after(limited.close)
  const statuses: number[] = []
  for (let nth = 0; nth < 3; nth += 1) statuses.push((await limited.agent().consent()).statusCode)
  assert.deepEqual(statuses, [200, 200, 429])
})

test('CID-08 consents to such apps count per user, over all sessions that SSO opens', async (t) => {
  const environment = { RATE_LIMIT_NUMBERS: 'unregistered-client-consents-per-user=4' }
  const limited = await openAgents({ environment, rateLimits: true })
  t.after(limited.close)
  const { id: organizationId } = await createOrganization(limited.world, limited.person)
  const statuses: number[] = []
  for (let nth = 0; nth < 3; nth += 1) {
    const headers = await signInByOrganization(limited.world, limited.person, { organizationId })
    for (let again = 0; again < 2; again += 1) {
      const answer = await limited.agent().consent({ organizationId }, { ...limited.person, headers })
      statuses.push(answer.statusCode)
    }
  }
  assert.deepEqual(statuses, [200, 200, 200, 200, 429, 429])
  const other = await limited.world.person()
  assert.equal((await limited.agent().consent({}, other)).statusCode, 200, 'for that user only')
})

test('CID-05 the operator disables such an app at once, whatever its document says', async () => {
  const app = agent()
  const { refresh_token: refreshToken } = await app.tokens()
  const stranger = agent()
  assert.equal((await act(stranger.clientId, { status: 'disabled' })).statusCode, 404)
  assert.equal((await act(app.clientId, { status: 'disabled' })).statusCode, 200)

  world.pass(3600)
  const fetches = app.fetches()
  const { status, view } = await app.signIn()
  assert.deepEqual([status, view.error], [400, 'invalid_client'])
  assert.equal((await app.consent()).json().error, 'invalid_client')
  assert.equal((await app.refresh(refreshToken)).json().error, 'invalid_client')
  assert.equal(app.fetches(), fetches, 'the document of a disabled app is not read')
  world.pass(3 * 24 * 3600)
  await pruneMetadataDocumentClients(world.db, world.now(), 500)
  assert.equal((await app.row())?.status, 'disabled', 'it stays disabled')

  assert.equal((await act(app.clientId, { status: 'active' })).statusCode, 200)
  assert.equal((await app.signIn()).status, 200)
})

test('CID-06 the operator can neither change the document’s settings nor delete the app', async () => {
  const app = agent()
  await app.tokens()
  for (const change of [{ name: 'Mine' }, { redirectUris: ['https://evil.example/'] }])
    assert.deepEqual((await act(app.clientId, change)).json().error, 'client_metadata_immutable')
  const path = `/api/admin/apps/${encodeURIComponent(app.clientId)}`
  const deleted = await world.api.inject({ method: 'DELETE', url: path, headers: world.admin })
  assert.deepEqual([deleted.statusCode, deleted.json().error], [409, 'client_metadata_immutable'])
  const rotated = await world.api.inject({ method: 'POST', url: `${path}/rotate-secret`, headers: world.admin })
  assert.notEqual(rotated.statusCode, 201)

  assert.equal((await act(app.clientId, { allowedScopes: ['openid'] })).statusCode, 200)
  const { view } = await app.signIn()
  assert.equal(view.unverified.error, 'invalid_scope', 'a scope that the operator removed stays removed')
  const shown = await world.api.inject({ url: path, headers: world.admin })
  assert.equal(typeof shown.json().metadataFetchedAt, 'string')
  assert.equal(shown.json().ownerIdentityId, null)
})

test('a metadata document client is deleted only when no user has connected it', async () => {
  const app = agent()
  const leaving = await world.person()
  assert.equal((await app.consent({}, leaving)).statusCode, 200)
  assert.equal((await app.consent()).statusCode, 200)
  const disconnect = async (who: Person) => {
    const listed = await world.api.inject({ url: '/api/oauth/authorizations', headers: who.headers })
    const { authorizations } = listed.json<{ authorizations: { id: string; clientId: ClientId }[] }>()
    const id = authorizations.find(({ clientId }) => clientId === app.clientId)?.id
    await world.api.inject({ method: 'DELETE', url: `/api/oauth/authorizations/${id}`, headers: who.headers })
  }
  await disconnect(leaving)
  world.pass(3 * 24 * 3600)
  await pruneMetadataDocumentClients(world.db, world.now(), 500)
  assert.notEqual(await app.row(), undefined)
  const registered = await world.app({ public: true })

  assert.equal((await app.consent({}, { ...person, headers: await person.signIn() })).statusCode, 200)
  await disconnect(person)
  await pruneMetadataDocumentClients(world.db, world.now(), 500)
  assert.notEqual(await app.row(), undefined, 'a user who has just disconnected may return')
  world.pass(3 * 24 * 3600)
  await pruneMetadataDocumentClients(world.db, world.now(), 500)
  assert.equal(await app.row(), undefined)
  assert.equal((await app.signIn({ client_id: registered.clientId, redirect_uri: registered.redirectUri })).status, 200)
})

test('CID-06 a deleted metadata document client that returns has none of its earlier tokens', async () => {
  const app = agent()
  const had = await app.tokens()
  const disconnect = async () => {
    const listed = await world.api.inject({ url: '/api/oauth/authorizations', headers: person.headers })
    const { authorizations } = listed.json<{ authorizations: { id: string; clientId: ClientId }[] }>()
    const id = authorizations.find(({ clientId }) => clientId === app.clientId)?.id
    const url = `/api/oauth/authorizations/${id}`
    return world.api.inject({ method: 'DELETE', url, headers: person.headers })
  }
  const userinfo = async (token: string) => {
    const headers = { authorization: `Bearer ${token}` }
    return (await world.api.inject({ url: '/api/oauth/userinfo', headers })).statusCode
  }
  assert.equal(await userinfo(had.access_token), 200)
  assert.equal((await disconnect()).statusCode, 204)
  world.pass(3 * 24 * 3600)
  await pruneMetadataDocumentClients(world.db, world.now(), 500)
  assert.equal(await app.row(), undefined)

  const now = await app.tokens()
  assert.equal(await userinfo(now.access_token), 200)
  assert.equal(await userinfo(had.access_token), 401)
  assert.equal((await app.refresh(had.refresh_token)).json().error, 'invalid_grant')
})

test('a consent concurrent with the cleanup of the app yields a valid code', async () => {
  const apps = Array.from({ length: 8 }, () => agent())
  for (const app of apps) assert.equal((await app.consent()).statusCode, 200)
  const listed = await world.api.inject({ url: '/api/oauth/authorizations', headers: person.headers })
  for (const { id } of listed.json<{ authorizations: { id: string }[] }>().authorizations)
    await world.api.inject({ method: 'DELETE', url: `/api/oauth/authorizations/${id}`, headers: person.headers })
  world.pass(3 * 24 * 3600)
  const [consents] = await Promise.all([
    Promise.all(apps.map((app) => app.consent())),
    ...apps.map(() => pruneMetadataDocumentClients(world.db, world.now(), 2)),
  ])
  for (const [nth, app] of apps.entries()) {
    const consent = consents[nth]
    assert.ok(consent)
    assert.equal((await app.redeem(codeIn(consent))).statusCode, 200)
    assert.notEqual(await app.row(), undefined)
  }
})

test('a metadata document client cannot offer resources', async () => {
  const app = agent()
  await app.tokens()
  const answer = await world.api.inject({
    method: 'POST',
    url: `/api/admin/apps/${encodeURIComponent(app.clientId)}/resources`,
    headers: world.admin,
    payload: { resourceKey: 'agent', displayName: 'The agent', scopes: ['act'], audience: 'https://agent.example' },
  })
  assert.deepEqual([answer.statusCode, answer.json().error], [409, 'client_metadata_immutable'])
})
