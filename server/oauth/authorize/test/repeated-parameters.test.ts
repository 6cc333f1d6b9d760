import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createWorld, type TestApp, type TestWorld } from '#testing/world.ts'

let world: TestWorld
let app: TestApp
before(async () => {
  world = await createWorld()
  app = await world.app()
})
after(() => world.close())

type Page = '/signin' | '/connect'

/** Sends a request with further parameters, as a query and as a form. */
function send(page: Page, further: string) {
  const fields = { client_id: app.clientId, redirect_uri: app.redirectUri, response_type: 'code', scope: 'openid' }
  const payload = `${new URLSearchParams(fields)}&${further}`
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  return Promise.all([
    world.auth.inject({ url: `${page}?${payload}` }),
    world.auth.inject({ method: 'POST', url: page, headers, payload }),
  ])
}

for (const [further, name, state] of [
  ['state=s1&scope=profile', 'scope', 's1'],
  ['state=s1&foo=1&foo=2&foo=3', 'foo', 's1'],
  ['state=s1&response_type=code', 'response_type', 's1'],
  ['state=s1&state=s2', 'state', null],
  ['state=s1&%3Cb%3E%22=1&%3Cb%3E%22=1', '<b>?', 's1'],
] as const)
  test(`OID-14 a repeated ${name} is reported to the app`, async () => {
    for (const page of ['/signin', '/connect'] as const)
      for (const { statusCode, headers } of await send(page, further)) {
        assert.equal(statusCode, 303)
        const answer = new URL(String(headers.location))
        assert.equal(answer.origin + answer.pathname, app.redirectUri)
        const { searchParams: parameters } = answer
        assert.deepEqual(
          [parameters.get('error'), parameters.getAll('state')],
          ['invalid_request', state ? [state] : []],
        )
        assert.equal(parameters.get('error_description'), `The parameter '${name}' is repeated.`)
      }
  })

test('OID-14 a repeated parameter that directs errors, or beside a stored request, redirects nowhere', async () => {
  const { clientId, redirectUri } = app
  const stored = 'request_uri=urn%3Aietf%3Aparams%3Aoauth%3Arequest_uri%3Ax'
  for (const further of [
    `client_id=${clientId}`,
    `redirect_uri=${encodeURIComponent(redirectUri)}`,
    'redirect_uri=https%3A%2F%2Fevil.example',
    `${stored}&${stored}`,
    `${stored}&foo=1&foo=2`,
  ])
    for (const { statusCode, headers } of await send('/signin', further))
      assert.deepEqual([statusCode, headers.location], [400, undefined], further)
})

test('a parameter of a JSON body that is not a string is reported as such, and redirects nowhere', async () => {
  const fields = { client_id: app.clientId, redirect_uri: app.redirectUri, response_type: 'code', scope: 'openid' }
  for (const url of ['/signin', '/connect'])
    for (const further of [{ state: 5 }, { other: { a: 1 } }, { state: null }, { client_id: true }]) {
      const answer = await world.auth.inject({
        method: 'POST',
        url,
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        payload: JSON.stringify({ ...fields, ...further }),
      })
      assert.deepEqual([answer.statusCode, answer.headers.location], [400, undefined])
      assert.match(answer.body, /Each parameter must be a string\./)
    }
})
