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

const viewIn = (body: string) => JSON.parse(/id="view">(.*)<\/script>/.exec(body)?.[1] ?? '{}')
const show = (parameters: Record<string, string>) => {
  const query = {
    client_id: app.clientId,
    response_type: 'code',
    redirect_uri: app.redirectUri,
    scope: 'openid',
    response_mode: 'form_post',
  }
  return world.auth.inject({ url: `/signin?${new URLSearchParams({ ...query, ...parameters })}` })
}

test('a form post answer carries the code in the form and nothing in the URL', async () => {
  const person = await world.person()
  const answer = await world.api.inject({
    method: 'POST',
    url: '/api/oauth/authorize',
    headers: person.headers,
    payload: {
      clientId: app.clientId,
      redirectUri: app.redirectUri,
      identityId: person.identityId,
      scope: 'openid',
      state: 's1',
      responseMode: 'form_post',
    },
  })
  const { redirectUrl, formFields } = answer.json()
  assert.equal(redirectUrl, app.redirectUri)
  assert.deepEqual(Object.keys(formFields), ['code', 'state', 'iss'])
  assert.equal((await app.redeem(formFields.code)).statusCode, 200)
})

test('OID-13 the registered query of a redirect URI is retained in answers and errors', async () => {
  const [registered, person] = ['https://app.example/cb?flag&x=a%20b&y=1+2', await world.person()]
  const own = await world.app({ redirectUris: [registered, 'https://app.example/empty?'] })
  const requested = { client_id: own.clientId, redirect_uri: registered, response_mode: 'query', state: 'a b' }
  const { denied } = viewIn((await show(requested)).body)
  const added = `state=a+b&iss=${encodeURIComponent('http://localhost:4401')}`
  const error = 'error=access_denied&error_description=The+user+denied+the+request.'
  assert.equal(denied.url, `${registered}&${error}&${added}`)
  const rejected = await show({ ...requested, scope: 'nonsense' })
  assert.ok(String(rejected.headers.location).startsWith(`${registered}&error=invalid_scope&`))
  const posted = viewIn((await show({ ...requested, response_mode: 'form_post' })).body)
  assert.equal(posted.denied.url, registered)

  const consent = async (redirectUri: string) => {
    const { clientId } = own
    const payload = { clientId, redirectUri, identityId: person.identityId, scope: 'openid', state: 'a b' }
    const url = '/api/oauth/authorize'
    const answer = await world.api.inject({ method: 'POST', url, headers: person.headers, payload })
    return String(answer.json().redirectUrl).replace(/code=[\w-]+/, 'code')
  }
  assert.equal(await consent(registered), `${registered}&code&${added}`)
  assert.equal(await consent('https://app.example/empty?'), `https://app.example/empty?code&${added}`)
})

test('a denial by the user is posted too', async () => {
  const answer = await show({ state: 's1' })
  const { denied } = viewIn(answer.body)
  assert.equal(denied.url, app.redirectUri)
  assert.deepEqual(
    [denied.fields.error, denied.fields.state, denied.fields.iss],
    [...['access_denied', 's1', 'http://localhost:4401']],
  )
  assert.match(String(answer.headers['content-security-policy']), /form-action https: http:/)
})

test('an error found by the server is posted by a page, not redirected', async () => {
  const answer = await show({ scope: 'nonsense', state: 's1' })
  assert.equal(answer.statusCode, 200)
  assert.equal(answer.headers.location, undefined)
  assert.equal(answer.headers['cache-control'], 'no-store')
  const { page, leaving } = viewIn(answer.body)
  assert.deepEqual([page, leaving.url, leaving.fields.error], ['return', app.redirectUri, 'invalid_scope'])
})

test('every other page may post forms only to this service', async () => {
  const answer = await show({ response_mode: 'query' })
  assert.match(String(answer.headers['content-security-policy']), /form-action 'self'/)
})

test('an installed app has no redirect URI that a form could be posted to', async () => {
  const native = await world.app({ redirectUris: ['com.example.app:/callback'], public: true })
  const query = {
    client_id: native.clientId,
    response_type: 'code',
    redirect_uri: native.redirectUri,
    response_mode: 'form_post',
  }
  const { headers } = await world.auth.inject({ url: `/signin?${new URLSearchParams(query)}` })
  assert.match(String(headers.location), /^com\.example\.app:\/callback\?error=invalid_request/)
})
