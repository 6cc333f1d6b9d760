import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { tricks } from '#testing/address-tricks.ts'
import { createConnectors, delegationsOf, type Connectors } from '#testing/connectors.ts'
import { createWorld, newChallenge, type World } from '#testing/world.ts'

let world: World
let notes: Connectors
before(async () => {
  world = await createWorld()
  notes = await createConnectors(world)
})
after(() => world.close())

const viewIn = (body: string) => JSON.parse(/id="view">(.*)<\/script>/.exec(body)?.[1] ?? '{}')
const show = (parameters: Record<string, string> = {}) => {
  const { clientId: client_id, redirectUri: redirect_uri } = notes.source
  const asked = { client_id, redirect_uri, resource: notes.resourceKey, scope: 'notes.read', state: 's1' }
  return world.auth.inject({ url: `/connect?${new URLSearchParams({ ...asked, ...parameters })}` })
}
type Answered = { statusCode: number; json: () => { error: string } }
const refusedAs = (answer: Answered) => [answer.statusCode, answer.json().error]

test('the page is told which app wants what of which resource of whom, and when', async () => {
  const scopeDescriptions = { 'notes.read': 'Read your notes' }
  await notes.changeResource({ scopeDescriptions, description: 'All that you wrote' })
  const { challenge } = newChallenge()
  const asked = { scope: 'notes.write notes.read', mode: 'background', code_challenge: challenge }
  const view = viewIn((await show(asked)).body)
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
    const told = new URL(withdrawn[error].url)
    assert.equal(told.origin + told.pathname, notes.source.redirectUri)
    assert.deepEqual([told.searchParams.get('error'), told.searchParams.get('state')], [error, 's1'])
  }
  assert.equal(viewIn((await show()).body).connector.mode, 'user_present')
  assert.equal(viewIn((await show({ resource: notes.audience })).body).connector.resourceKey, notes.resourceKey)
})

test('OID-11 the usual mode says nothing without a connector, anything else needs its mark', async () => {
  const person = await world.person()
  const { clientId, redirectUri } = notes.source
  const ask = (wanted: object) =>
    world.api.inject({
      method: 'POST',
      url: '/api/oauth/authorize',
      headers: person.headers,
      payload: { clientId, redirectUri, identityId: person.identityId, scope: 'openid', ...wanted },
    })
  assert.equal((await ask({ communicationMode: 'user_present' })).statusCode, 200)
  assert.equal((await ask({ connector: false, communicationMode: 'user_present' })).statusCode, 200)
  for (const wanted of [{ communicationMode: 'background' }, { requestedScope: 'notes.read' }])
    assert.deepEqual(refusedAs(await ask({ communicationMode: 'user_present', ...wanted })), [400, 'invalid_request'])
})

test('what is wrong with a connector is told to the app, with its state and our name', async () => {
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
    const told = ['error', 'state', 'iss'].map((name) => answer.searchParams.get(name))
    assert.deepEqual(told, [error, 's1', world.config.authUrl.origin])
  }
})

test('AUZ-03 AUZ-08 no connector leads to an address that the app has not registered', async () => {
  const answers = await Promise.all([
    show({ client_id: 'app_unknown' }),
    ...tricks.slice(0, 40).map((redirect_uri) => show({ redirect_uri, resource: 'nothing' })),
  ])
  for (const { statusCode, headers, body } of answers) {
    assert.deepEqual([statusCode, headers.location], [400, undefined])
    assert.equal(viewIn(body).page, 'error')
  }
})

test('a consent to a connector gives a code whose tokens have no scope of the app, and connects it', async () => {
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

test('DEL-19 a consent to what the resource has not, or has no longer, grants nothing at all', async () => {
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
  for (const [wanted, status, error] of wrong)
    assert.deepEqual(refusedAs(await notes.consent(person, wanted)), [status, error], JSON.stringify(wanted))
  assert.deepEqual(await delegationsOf(world, person), [])
  const list = await world.api.inject({ url: '/api/oauth/authorizations', headers: person.headers })
  assert.deepEqual(list.json().authorizations, [])
})

test('DEL-19 a consent does not go to a resource that has taken the name of the one that was shown', async () => {
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

test('the scopes of the app itself may be agreed to with a connector', async () => {
  const person = await world.person()
  const agreed = await notes.consent(person, { scope: 'openid offline_access', communicationMode: 'background' })
  const code = new URL(agreed.json().redirectUrl).searchParams.get('code') ?? ''
  const tokens = (await notes.source.redeem(code)).json()
  assert.equal(tokens.scope, 'openid offline_access')
  assert.equal((await notes.exchange(tokens.access_token_jwt)).json().communication_mode, 'background')
})

test('a connector that may ask nothing gives a code only where all of it was granted before', async () => {
  const { person } = await notes.connected({ requestedScope: 'notes.read' })
  const silently = (wanted: object) => notes.consent(person, { prompt: 'none', ...wanted })
  assert.equal((await silently({})).statusCode, 200)
  for (const wanted of [{ requestedScope: 'notes.read notes.write' }, { communicationMode: 'background' }])
    assert.deepEqual(refusedAs(await silently(wanted)), [403, 'consent_required'])
})

test('the page learns what of a connector is new', async () => {
  const { person } = await notes.connected({ requestedScope: 'notes.read' })
  const read = async (parameters: Record<string, string>) => {
    const query = new URLSearchParams({ identity_id: person.identityId, ...parameters })
    const url = `/api/oauth/authorization/${notes.source.clientId}?${query}`
    return (await world.api.inject({ url, headers: person.headers })).json()
  }
  const asked = { requested_resource: notes.resourceKey, requested_scope: 'notes.read notes.write' }
  const { connector } = await read(asked)
  assert.deepEqual([connector.missingScopes, connector.covered], [['notes.write'], false])
  assert.equal(connector.delegation.scope, 'notes.read')
  assert.equal((await read({ ...asked, requested_scope: 'notes.read' })).connector.covered, true)
  const away = await read({ ...asked, requested_scope: 'notes.read', communication_mode: 'background' })
  assert.deepEqual([away.connector.missingScopes, away.connector.covered], [[], false])
  assert.equal((await read({ ...asked, requested_resource: 'nothing' })).connector, undefined)
})

test('an app with end-to-end encryption takes no key along from a connector', async () => {
  const keyed = await world.app({ supportsE2ee: true })
  const person = await world.person()
  const { clientId, redirectUri } = keyed
  const agreed = await notes.consent(person, { clientId, redirectUri })
  assert.deepEqual([agreed.statusCode, agreed.json().appKey], [200, undefined])
  assert.equal(viewIn((await show({ client_id: clientId })).body).key, undefined)
})
