import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createWorld, postForm, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const hostile = `"'></script><img src=x onerror=alert(1)><!--`
const html = { accept: 'text/html' }

/** Asserts that a body contains nothing that a browser would run or parse as markup. */
function assertInert(body: string, what: string): void {
  assert.doesNotMatch(body, /<img|<!--/, what)
  assert.equal(body.match(/<script/g)?.length, body.match(/<\/script>/g)?.length, what)
  for (const [script] of body.matchAll(/<script[^>]*>/g))
    assert.match(script, /src="\/|type="application\/json"/, `${what}: ${script}`)
}

test('INJ-06 values of a request, an app or a user appear in no page as markup', async () => {
  const app = await world.app({ name: `An app ${hostile.slice(0, 60)}` })
  const requested = { client_id: app.clientId, redirect_uri: app.redirectUri, response_type: 'code', scope: 'openid' }
  const at = (path: string, more: Record<string, string>) => `${path}?${new URLSearchParams({ ...requested, ...more })}`
  const names = ['state', 'nonce', 'login_hint', 'ui_locales', 'claims', 'display', 'identity_id', 'organization_id']
  const urls = [
    ...names.map((name) => at('/signin', { [name]: hostile })),
    ...['redirect_uri', 'client_id', 'scope', 'prompt', 'response_mode', 'response_type', 'id_token_hint'].map((name) =>
      at('/signin', { [name]: hostile }),
    ),
    at('/signin', { response_mode: 'form_post', scope: 'openid nonsense', state: hostile }),
    ...['resource', 'scope', 'state'].map((name) => at('/connect', { resource: 'none', [name]: hostile })),
    ...['state', 'post_logout_redirect_uri', 'id_token_hint', 'client_id'].map((name) =>
      at('/logout', { [name]: hostile }),
    ),
    `/login?${new URLSearchParams({ return_to: hostile, error: hostile })}`,
    `/sign?${new URLSearchParams({ requestId: hostile, embed: hostile })}`,
    `/${encodeURIComponent(hostile)}`,
  ]
  for (const url of urls) {
    const answer = await world.auth.inject({ url, headers: html })
    assertInert(answer.body, url)
    assert.match(String(answer.headers['content-security-policy']), /script-src 'self'|default-src 'none'/, url)
  }
  const bad = { ...requested, state: hostile, scope: 'openid nonsense', response_mode: 'form_post' }
  const posted = await postForm(world.auth, '/signin', bad, html)
  assertInert(posted.body, 'what is posted to the app')
  assert.match(posted.body, /onerror=alert\(1\)/, 'the state is present as text')
  const connection = '/api/sso/00000000-0000-4000-8000-000000000000'
  const fields = { SAMLResponse: hostile, RelayState: hostile }
  assertInert((await postForm(world.api, `${connection}/acs`, fields, html)).body, 'RelayState')
  const said = new URLSearchParams({ error: hostile, error_description: hostile, state: hostile })
  const failed = await world.api.inject({ url: `${connection}/callback?${said}`, headers: html })
  assertInert(failed.body, 'the error of a provider')
})

test('INJ-06 script and data URLs, and handles and addresses with markup, are rejected', async () => {
  const person = await world.person()
  const identity = `/api/identities/${person.identityId}`
  const send = (method: 'PATCH' | 'POST', url: string, payload: object, headers = person.headers) =>
    world.api.inject({ method, url, headers, payload })
  const urls = ['javascript:alert(1)', 'JaVaScRiPt:alert(1)', ' javascript:alert(1)', 'java\tscript:alert(1)']
  for (const url of [...urls, 'data:text/html,<script>alert(1)</script>', 'vbscript:x', 'blob:https://a.example/1']) {
    const avatar = await send('PATCH', identity, { avatarUrl: url })
    assert.deepEqual([avatar.statusCode, avatar.json().error], [400, 'invalid_request'], url)
    for (const name of ['iconUrl', 'websiteUrl', 'privacyUrl', 'termsUrl']) {
      const settings = { name: 'An app', redirectUris: ['https://app.example/'], [name]: url }
      const app = await send('POST', '/api/admin/apps', settings, world.admin)
      assert.equal(app.statusCode, 400, `${name} ${url}`)
    }
  }
  assert.equal((await send('PATCH', identity, { handle: '<b>ada</b>' })).statusCode, 400)
  for (const email of ['<img src=x>@a.example', '"<script>"@a.example', 'a@<b>.example', 'a@a.example<img>'])
    assert.ok((await send('POST', `${identity}/email`, { email })).statusCode >= 400, email)
  const read = (await world.api.inject({ url: identity, headers: person.headers })).json()
  assert.deepEqual([read.avatarUrl, read.handle], [null, person.handle])
})
