import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { registered, tricks } from '#testing/address-tricks.ts'
import { createWorld, type Person, type TestApp, type TestWorld } from '#testing/world.ts'

let world: TestWorld
let app: TestApp
let person: Person
before(async () => {
  world = await createWorld()
  app = await world.app({ redirectUris: [registered, 'http://127.0.0.1:4711/native'] })
  person = await world.person()
})
after(() => world.close())

/** Flows in which a URL of the app could become a redirect of the browser. */
const ways: Record<string, Record<string, string>> = {
  'a valid request': { scope: 'openid' },
  'a rejected request': { scope: 'openid nonsense' },
  'a form post': { scope: 'openid', response_mode: 'form_post' },
  'a rejected form post': { scope: 'nonsense', response_mode: 'form_post' },
  'a silent request': { scope: 'openid', prompt: 'none' },
}

test('AUZ-04 AUZ-05 AUZ-06 variations of a registered redirect URI are rejected in every flow', () => {
  assert.ok(tricks.length >= 200, String(tricks.length))
  assert.ok(!tricks.includes(registered))
})

for (const [way, parameters] of Object.entries(ways))
  test(`AUZ-04 AUZ-05 AUZ-06 AUZ-08 HDR-09 ${way} redirects only to the registered URI`, async () => {
    for (const redirect_uri of tricks) {
      const query = new URLSearchParams({ client_id: app.clientId, response_type: 'code', redirect_uri, ...parameters })
      const { statusCode, headers, body } = await world.auth.inject({ url: `/signin?${query}` })
      assert.equal(statusCode, 400, redirect_uri)
      assert.equal(headers.location, undefined, redirect_uri)
      const view = JSON.parse(/id="view">(.*)<\/script>/.exec(body)?.[1] ?? '{}')
      assert.equal(view.page, 'error', redirect_uri)
    }
  })

test('OID-07 the page for an unregistered redirect URI shows the received value as text', async () => {
  const sentBy = async (parameters: Record<string, string>) => {
    const query = new URLSearchParams({
      client_id: app.clientId,
      response_type: 'code',
      scope: 'openid',
      ...parameters,
    })
    const { statusCode, body } = await world.auth.inject({ url: `/signin?${query}`, headers: { accept: 'text/html' } })
    assert.equal(statusCode, 400)
    return { body, sent: JSON.parse(/id="view">(.*)<\/script>/.exec(body)?.[1] ?? '{}').sent }
  }
  const wrong = await sentBy({ redirect_uri: `${registered}/` })
  assert.deepEqual(wrong.sent, { clientId: app.clientId, redirectUri: `${registered}/` })
  const dressed = await sentBy({ redirect_uri: 'https://a.example/<script>\u202e\u0430' })
  assert.doesNotMatch(dressed.body, /<script>\\u\{|<script>\u202e/)
  assert.equal(dressed.sent.redirectUri, 'https://a.example/<script>\\u{202e}\\u{430}')
  const unknown = await sentBy({ client_id: 'app_nobody', redirect_uri: `https://a.example/${'x'.repeat(9000)}` })
  assert.deepEqual([unknown.sent.clientId, unknown.sent.redirectUri.length], ['app_nobody', 500])
})

test('OID-08 a rejected scope is named to the app only', async () => {
  const query = {
    client_id: app.clientId,
    redirect_uri: registered,
    response_type: 'code',
    scope: 'openid calendar.read',
  }
  const { headers } = await world.auth.inject({ url: `/signin?${new URLSearchParams(query)}` })
  const { searchParams } = new URL(String(headers.location))
  assert.equal(searchParams.get('error'), 'invalid_scope')
  assert.equal(
    searchParams.get('error_description'),
    "scope contains 'calendar.read', which this app is not allowed to request.",
  )
})

test('AUZ-04 AUZ-05 AUZ-06 AUZ-08 a consent for an unregistered redirect URI issues no code', async () => {
  const { headers, identityId } = person
  for (const redirectUri of tricks) {
    const payload = { clientId: app.clientId, redirectUri, identityId, scope: 'openid' }
    const answer = await world.api.inject({ method: 'POST', url: '/api/oauth/authorize', headers, payload })
    const refusal = redirectUri === '' ? 'invalid_request' : 'invalid_redirect_uri'
    assert.deepEqual([answer.statusCode, answer.json().error], [400, refusal], redirectUri)
  }
  const list = await world.api.inject({ url: '/api/oauth/authorizations', headers })
  assert.deepEqual(list.json(), { authorizations: [] })
})
