import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { tricks } from '#testing/address-tricks.ts'
import { createConnectors, delegationsOf, type Connectors } from '#testing/connectors.ts'
import { createWorld, newChallenge, type TestWorld } from '#testing/world.ts'

let world: TestWorld
let notes: Connectors
before(async () => {
  world = await createWorld()
  notes = await createConnectors(world)
})
after(() => world.close())

const viewIn = (body: string) => JSON.parse(/id="view">(.*)<\/script>/.exec(body)?.[1] ?? '{}')
const show = (parameters: Record<string, string> = {}) => {
  const { clientId: client_id, redirectUri: redirect_uri } = notes.source
  const input = { client_id, redirect_uri, resource: notes.resourceKey, scope: 'notes.read', state: 's1' }
  return world.auth.inject({ url: `/connect?${new URLSearchParams({ ...input, ...parameters })}` })
}
type Answered = { statusCode: number; json: () => { error: string } }
const refusedAs = (answer: Answered) => [answer.statusCode, answer.json().error]

test('the page gets the app, the resource, its owner, the scopes and the mode of a connector request', async () => {
  const scopeDescriptions = { 'notes.read': 'Read your notes' }
  await notes.changeResource({ scopeDescriptions, description: 'All that you wrote' })
  const { challenge } = newChallenge()
  const input = { scope: 'notes.write notes.read', mode: 'background', code_challenge: challenge }
  const view = viewIn((await show(input)).body)
  assert.deepEqual([view.page, view.app.name, view.scope, view.codeChallenge], ['signin', 'Assistant', [], challenge])
  const { withdrawn, resourceId, ...connector } = view.connector
  assert.match(resourceId, /^[0-9a-f-]{36}$/)
  assert.deepEqual(connector, {
    resourceKey: notes.resourceKey,
    displayName: 'Your notes',
    description: 'All that you wrote',
    audience: notes.audience,
    owner: { clientId: notes.target.clientId, name: 'Notes', iconUrl: null, websiteUrl: null },
    scopes: [
      { scope: 'notes.write', description: '' },
      { scope: 'notes.read', description: 'Read your notes' },
    ],
    mode: 'background',
  })
  for (const error of ['invalid_target', 'invalid_scope'] as const) {
    const received = new URL(withdrawn[error].url)
    assert.equal(received.origin + received.pathname, notes.source.redirectUri)
    assert.deepEqual([received.searchParams.get('error'), received.searchParams.get('state')], [error, 's1'])
  }
  assert.equal(viewIn((await show()).body).connector.mode, 'user_present')
  assert.equal(viewIn((await show({ resource: notes.audience })).body).connector.resourceKey, notes.resourceKey)
})

test('OID-11 the default mode is ignored without a connector, any other field requires connector=true', async () => {
  const person = await world.person()
  const { clientId, redirectUri } = notes.source
  const ask = (requested: object) =>
    world.api.inject({
      method: 'POST',
      url: '/api/oauth/authorize',
      headers: person.headers,
      payload: { clientId, redirectUri, identityId: person.identityId, scope: 'openid', ...requested },
    })
  assert.equal((await ask({ communicationMode: 'user_present' })).statusCode, 200)
  assert.equal((await ask({ connector: false, communicationMode: 'user_present' })).statusCode, 200)
  for (const requested of [{ communicationMode: 'background' }, { requestedScope: 'notes.read' }])
    assert.deepEqual(refusedAs(await ask({ communicationMode: 'user_present', ...requested })), [
      400,
      'invalid_request',
    ])
})

test('errors of a connector request are returned to the app with state and issuer', async () => {
  const wrong = [
    [{ resource: 'nothing' }, 'invalid_target'],
    [{ resource: '' }, 'invalid_request'],
    [{ scope: '' }, 'invalid_scope'],
    [{ scope: 'notes.read notes.all' }, 'invalid_scope'],
    [{ scope: 'openid' }, 'invalid_scope'],
    [{ mode: 'always' }, 'invalid_request'],
    [{ response_type: 'token' }, 'unsupported_response_type'],
  ] as const
  for (const [parameters, error] of wrong) {
    const { statusCode, headers } = await show(parameters)
    const answer = new URL(String(headers.location))
    assert.deepEqual([statusCode, answer.origin + answer.pathname], [303, notes.source.redirectUri])
    const received = ['error', 'state', 'iss'].map((name) => answer.searchParams.get(name))
    assert.deepEqual(received, [error, 's1', world.config.authUrl.origin])
  }
})

test('AUZ-03 AUZ-08 a connector request never redirects to an unregistered URI', async () => {
  const answers = await Promise.all([
    show({ client_id: 'app_unknown' }),
    ...tricks.slice(0, 40).map((redirect_uri) => show({ redirect_uri, resource: 'nothing' })),
  ])
  for (const { statusCode, headers, body } of answers) {
    assert.deepEqual([statusCode, headers.location], [400, undefined])
    assert.equal(viewIn(body).page, 'error')
  }
})

test('a consent to a connector issues a code without app scopes and connects the app', async () => {
  const person = await world.person()
  const agreed = await notes.consent(person, { state: 's2' })
  const answer = new URL(agreed.json().redirectUrl)
  assert.equal(answer.searchParams.get('state'), 's2')
  const tokens = (await notes.source.redeem(answer.searchParams.get('code') ?? '')).json()
  assert.deepEqual([tokens.scope, tokens.id_token, tokens.refresh_token], ['', undefined, undefined])
  assert.deepEqual(tokens.user, { id: person.identityId })
  assert.equal((await notes.exchange(tokens.access_token_jwt)).statusCode, 200)
  const list = await world.api.inject({ url: '/api/oauth/authorizations', headers: person.headers })
  assert.equal(list.json().authorizations[0].clientId, notes.source.clientId)
})

test('DEL-19 a consent to scopes that the resource does not define, or no longer, grants nothing', async () => {
  const person = await world.person()
  const plain = { connector: undefined, requestedResource: undefined, requestedScope: undefined }
  const wrong = [
    [{ requestedResource: 'nothing' }, 400, 'invalid_target'],
    [{ requestedResource: undefined }, 400, 'invalid_request'],
    [{ requestedScope: 'notes.read notes.gone' }, 400, 'invalid_scope'],
    [{ requestedScope: undefined }, 400, 'invalid_scope'],
    [{ requestedScope: ' ' }, 400, 'invalid_scope'],
    [{ communicationMode: 'always' }, 400, 'invalid_request'],
    [{ connector: false }, 400, 'invalid_request'],
    [{ connector: undefined }, 400, 'invalid_request'],
    [{ identityId: '00000000-0000-4000-8000-000000000000' }, 404, 'identity_not_found'],
    [{ ...plain, requestedResourceId: '00000000-0000-4000-8000-000000000000' }, 400, 'invalid_request'],
    [{ redirectUri: 'https://evil.example' }, 400, 'invalid_redirect_uri'],
    [{ scope: 'notes.read' }, 400, 'invalid_scope'],
  ] as const
  for (const [requested, status, error] of wrong)
    assert.deepEqual(refusedAs(await notes.consent(person, requested)), [status, error], JSON.stringify(requested))
  assert.deepEqual(await delegationsOf(world, person), [])
  const list = await world.api.inject({ url: '/api/oauth/authorizations', headers: person.headers })
  assert.deepEqual(list.json().authorizations, [])
})

test('DEL-19 a consent does not apply to a new resource with the key of the one that was shown', async () => {
  const person = await world.person()
  const shown = await createConnectors(world)
  const { clientId: client_id, redirectUri: redirect_uri } = shown.source
  const { resourceKey, audience } = shown
  const query = new URLSearchParams({ client_id, redirect_uri, resource: resourceKey, scope: 'notes.read' })
  const { connector } = viewIn((await world.auth.inject(`/connect?${query}`)).body)
  const seen = { requestedResourceId: connector.resourceId }
  assert.equal((await shown.consent(person, seen)).statusCode, 200)

  const { clientId } = shown.target
  await world.api.inject({ method: 'DELETE', url: `/api/admin/apps/${clientId}`, headers: world.admin })
  const url = `/api/admin/apps/${(await world.app()).clientId}/resources`
  const payload = { resourceKey, displayName: 'Another', scopes: ['notes.read'], audience }
  const made = await world.api.inject({ method: 'POST', url, headers: world.admin, payload })
  assert.equal(made.statusCode, 201, made.body)
  assert.deepEqual(refusedAs(await shown.consent(person, seen)), [400, 'invalid_target'])
})

test('a consent can include scopes of the app in addition to a connector', async () => {
  const person = await world.person()
  const agreed = await notes.consent(person, { scope: 'openid offline_access', communicationMode: 'background' })
  const code = new URL(agreed.json().redirectUrl).searchParams.get('code') ?? ''
  const tokens = (await notes.source.redeem(code)).json()
  assert.equal(tokens.scope, 'openid offline_access')
  assert.equal((await notes.exchange(tokens.access_token_jwt)).json().communication_mode, 'background')
})

test('a silent connector request issues a code only if everything was granted before', async () => {
  const { person } = await notes.connected({ requestedScope: 'notes.read' })
  const silently = (requested: object) => notes.consent(person, { prompt: 'none', ...requested })
  assert.equal((await silently({})).statusCode, 200)
  for (const requested of [{ requestedScope: 'notes.read notes.write' }, { communicationMode: 'background' }])
    assert.deepEqual(refusedAs(await silently(requested)), [403, 'consent_required'])
})

test('the page shows which scopes of a connector are new', async () => {
  const { person } = await notes.connected({ requestedScope: 'notes.read' })
  const read = async (parameters: Record<string, string>) => {
    const query = new URLSearchParams({ identity_id: person.identityId, ...parameters })
    const url = `/api/oauth/authorization/${notes.source.clientId}?${query}`
    return (await world.api.inject({ url, headers: person.headers })).json()
  }
  const input = { requested_resource: notes.resourceKey, requested_scope: 'notes.read notes.write' }
  const { connector } = await read(input)
  assert.deepEqual([connector.missingScopes, connector.covered], [['notes.write'], false])
  assert.equal(connector.delegation.scope, 'notes.read')
  assert.equal((await read({ ...input, requested_scope: 'notes.read' })).connector.covered, true)
  const away = await read({ ...input, requested_scope: 'notes.read', communication_mode: 'background' })
  assert.deepEqual([away.connector.missingScopes, away.connector.covered], [[], false])
  assert.equal((await read({ ...input, requested_resource: 'nothing' })).connector, undefined)
})

test('an app with end-to-end encryption gets no key from a connector request', async () => {
  const keyed = await world.app({ supportsE2ee: true })
  const person = await world.person()
  const { clientId, redirectUri } = keyed
  const agreed = await notes.consent(person, { clientId, redirectUri })
  assert.deepEqual([agreed.statusCode, agreed.json().appKey], [200, undefined])
  assert.equal(viewIn((await show({ client_id: clientId })).body).key, undefined)
})
