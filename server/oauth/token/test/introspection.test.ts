import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createConnectors, delegationsOf, revoke } from '#testing/connectors.ts'
import { createWorld, postForm, type TestApp, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const introspect = async (app: Pick<TestApp, 'credentials'>, token: string) =>
  postForm(world.api, '/api/oauth/introspect', { ...app.credentials, token })

const nothing = '{"active":false}'
const seconds = (instant: Date) => Math.floor(instant.getTime() / 1000)

async function signedIn(scope = 'openid profile offline_access') {
  const person = await world.person()
  const app = await world.app()
  return { person, app, tokens: await app.tokens(person, { scope }) }
}

test('both forms of an access token are described alike, and a refresh token with its own expiry', async () => {
  const { person, app, tokens } = await signedIn()
  const issuer = 'http://localhost:4401'
  const common = {
    active: true,
    scope: 'openid profile offline_access',
    client_id: app.clientId,
    username: person.handle,
    iat: seconds(world.now()),
    sub: person.identityId,
    aud: issuer,
    iss: issuer,
  }
  const access = { ...common, token_type: 'Bearer', exp: seconds(world.now()) + 3600 }
  world.pass(60)
  for (const token of [tokens.access_token, tokens.access_token_jwt]) {
    const answer = await introspect(app, token)
    assert.equal(answer.headers['cache-control'], 'no-store')
    assert.deepEqual(answer.json(), access)
  }
  assert.deepEqual((await introspect(app, tokens.refresh_token)).json(), {
    ...common,
    token_type: 'refresh_token',
    exp: common.iat + 30 * 24 * 3600,
  })
})

test('introspection names no user without the profile scope, and omits a scope that the app lost', async () => {
  const { app, tokens } = await signedIn('openid offline_access')
  assert.equal((await introspect(app, tokens.access_token)).json().username, undefined)

  const other = await signedIn()
  await world.api.inject({
    method: 'PATCH',
    url: `/api/admin/apps/${other.app.clientId}`,
    headers: world.admin,
    payload: { allowedScopes: ['openid', 'offline_access'] },
  })
  for (const token of [other.tokens.access_token, other.tokens.refresh_token]) {
    const { scope, username } = (await introspect(other.app, token)).json()
    assert.deepEqual([scope, username], ['openid offline_access', undefined])
  }
})

test('introspection reports other tokens as inactive and nothing else', async () => {
  const { person, app, tokens } = await signedIn()
  const stranger = await world.app()
  for (const token of [tokens.access_token, tokens.access_token_jwt, tokens.refresh_token])
    assert.equal((await introspect(stranger, token)).body, nothing)

  const code = await app.code(person)
  const { id_token = '', access_token, refresh_token } = tokens
  for (const token of [id_token, code, 'nonsense', `${access_token}=`, refresh_token.slice(0, -1), person.sessionToken])
    assert.equal((await introspect(app, token)).body, nothing)
})

test('expired, used and revoked tokens are inactive', async () => {
  const { app, tokens } = await signedIn()
  const rotated = (await app.refresh(tokens.refresh_token)).json()
  world.pass(10)
  assert.equal((await introspect(app, tokens.refresh_token)).body, nothing, 'spent')
  assert.equal((await introspect(app, rotated.refresh_token)).json().active, true, 'introspection consumes nothing')

  world.pass(3600)
  assert.equal((await introspect(app, rotated.access_token)).body, nothing)
  assert.equal((await introspect(app, rotated.access_token_jwt)).body, nothing)
  world.pass(30 * 24 * 3600 - 3610)
  assert.equal((await introspect(app, rotated.refresh_token)).body, nothing)

  const ended = await signedIn()
  await postForm(world.api, '/api/oauth/revoke', { ...ended.app.credentials, token: ended.tokens.refresh_token })
  for (const token of [ended.tokens.access_token, ended.tokens.access_token_jwt, ended.tokens.refresh_token])
    assert.equal((await introspect(ended.app, token)).body, nothing)
})

test('introspection requires authentication with a client secret', async () => {
  const { app, tokens } = await signedIn()
  const { access_token: token } = tokens
  const open = await world.app({ public: true })
  const bare = [
    await postForm(world.api, '/api/oauth/introspect', { token, client_id: app.clientId }),
    await postForm(world.api, '/api/oauth/introspect', { token, client_id: app.clientId, client_secret: 'cs_wrong' }),
    await introspect(open, token),
  ]
  for (const answer of bare) assert.deepEqual([answer.statusCode, answer.json().error], [401, 'invalid_client'])
  assert.equal((await introspect(app, '')).json().error, 'invalid_request')
})

test('discovery lists both endpoints and their client authentication methods', async () => {
  const document = (await world.auth.inject({ url: '/.well-known/openid-configuration' })).json()
  assert.equal(document.revocation_endpoint, 'http://localhost:4400/api/oauth/revoke')
  assert.ok(document.revocation_endpoint_auth_methods_supported.includes('none'))
  assert.equal(document.introspection_endpoint, 'http://localhost:4400/api/oauth/introspect')
  assert.deepEqual(document.introspection_endpoint_auth_methods_supported, [
    'client_secret_post',
    'client_secret_basic',
  ])
})

test('the owner of a resource, and the app that holds the token, can introspect a delegated token', async () => {
  const notes = await createConnectors(world)
  const { person, subjectToken } = await notes.connected({ requestedScope: 'notes.read notes.write' })
  const { access_token: token } = await notes.delegated(subjectToken, { scope: 'notes.read' })
  const [{ id }] = await delegationsOf(world, person)
  const iat = seconds(world.now())
  for (const app of [notes.target, notes.source])
    assert.deepEqual((await introspect(app, token)).json(), {
      active: true,
      scope: 'notes.read',
      client_id: notes.source.clientId,
      token_type: 'Bearer',
      exp: iat + 600,
      iat,
      sub: person.identityId,
      aud: notes.audience,
      iss: 'http://localhost:4401',
      act: { sub: notes.source.clientId },
      grant_id: id,
      target_resource: notes.resourceKey,
      com_mode: 'user_present',
    })
  assert.equal((await introspect(await world.app(), token)).body, nothing)
  world.pass(600)
  assert.equal((await introspect(notes.target, token)).body, nothing)
})

test('a delegated token is inactive once its delegation is revoked, also after a new consent', async () => {
  const notes = await createConnectors(world)
  const { person, subjectToken, exchange } = await notes.connected()
  const { access_token: token } = await notes.delegated(subjectToken)
  const [{ id }] = await delegationsOf(world, person)
  await revoke(world, person, id)
  assert.equal((await introspect(notes.target, token)).body, nothing)
  await notes.consent(person)
  assert.equal((await introspect(notes.target, token)).body, nothing)
  assert.equal((await introspect(notes.target, (await exchange()).json().access_token)).json().active, true)
})

test('a delegated token is inactive while its resource or its source app is disabled', async () => {
  const notes = await createConnectors(world)
  const { access_token: token } = await notes.delegated((await notes.connected()).subjectToken)
  const isActive = async () => (await introspect(notes.target, token)).json().active
  const changeSource = (status: string) =>
    world.api.inject({
      method: 'PATCH',
      url: `/api/admin/apps/${notes.source.clientId}`,
      headers: world.admin,
      payload: { status },
    })
  await notes.changeResource({ status: 'disabled' })
  assert.equal(await isActive(), false)
  await notes.changeResource({ status: 'active' })
  assert.equal(await isActive(), true)
  await changeSource('disabled')
  assert.equal(await isActive(), false)
})

test('DEL-15 a delegated token is rejected by our own endpoints', async () => {
  const notes = await createConnectors(world)
  const { access_token: token } = await notes.delegated((await notes.connected()).subjectToken)
  const headers = { authorization: `Bearer ${token}` }
  const userinfo = await world.api.inject({ url: '/api/oauth/userinfo', headers })
  assert.deepEqual([userinfo.statusCode, userinfo.json().error], [401, 'invalid_token'])
  const delegations = await world.api.inject({ url: '/api/oauth/delegations', headers })
  assert.equal(delegations.statusCode, 401)
})
