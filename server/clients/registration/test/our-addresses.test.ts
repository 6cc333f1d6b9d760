import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openAgents, type Agents } from '#testing/agents.ts'
import { createWorld, postForm, type Person, type TestWorld } from '#testing/world.ts'

const origin = 'http://localhost:4400'
const start = `${origin}/api/sso/0198c0de-0000-7000-8000-000000000000/start`
const hosts = { BASE_URL: origin, AUTH_URL: origin, BUSINESS_URL: origin }

let world: TestWorld
let agents: Agents
let person: Person
before(async () => {
  world = await createWorld()
  agents = await openAgents()
  person = await world.person()
})
after(async () => {
  await world.close()
  await agents.close()
})

const ours = ({ config }: TestWorld) =>
  [config.baseUrl, config.authUrl, config.businessUrl].flatMap(({ protocol, hostname, port, origin: own }) => [
    `${own}/api/sso/0198c0de-0000-7000-8000-000000000000/start`,
    `${own}/signin?client_id=app_1`,
    `${protocol}//${hostname.toUpperCase()}:${port}/`,
    `${own.replace(hostname, `${hostname}.`)}/`,
  ])

test('SIN-08 a URI of the service cannot be registered as a redirect URI', async () => {
  const managers = [
    { path: '/api/admin/apps', headers: world.admin },
    { path: '/api/developer/apps', headers: person.headers },
  ]
  const send = (method: 'POST' | 'PATCH', url: string, headers: Record<string, string>, payload: object) =>
    world.api.inject({ method, url, headers, payload })
  for (const { path, headers } of managers) {
    const redirectUris = ['https://app.example/callback']
    const made = await send('POST', path, headers, { name: 'A game', redirectUris })
    assert.equal(made.statusCode, 201, made.body)
    for (const uri of ours(world))
      for (const answer of [
        await send('POST', path, headers, { name: 'A game', redirectUris: [...redirectUris, uri] }),
        await send('POST', path, headers, { name: 'A game', redirectUris, postLogoutRedirectUris: [uri] }),
        await send('PATCH', `${path}/${made.json().clientId}`, headers, { redirectUris: [uri] }),
        await send('PATCH', `${path}/${made.json().clientId}`, headers, { postLogoutRedirectUris: [uri] }),
      ])
        assert.deepEqual([answer.statusCode, answer.json().error], [400, 'invalid_redirect_uri'], `${path} ${uri}`)
  }
})

test('SIN-08 a metadata document client cannot redirect to the service', async () => {
  const uri = ours(agents.world)[0] ?? ''
  const other = 'https://agent.example/callback'
  const { view } = await agents.agent({ redirect_uris: [uri, other] }).signIn({ redirect_uri: uri, prompt: 'none' })
  assert.equal(view.error, 'invalid_redirect_uri')
  const alone = await agents.agent({ redirect_uris: [uri] }).signIn({ redirect_uri: uri })
  assert.equal(alone.view.error, 'invalid_client')
})

test('SIN-08 a URI registered earlier causes no redirect to the service where all hosts are one', async () => {
  const shared = await createWorld({ environment: hosts })
  const app = await shared.app({ postLogoutRedirectUris: ['https://app.example/'] })
  const input = { client_id: app.clientId, response_type: 'code', scope: 'openid', prompt: 'none' }
  const pkce = { code_challenge: 'a'.repeat(43), code_challenge_method: 'S256' }
  const ask = async (uri: string) => {
    const query = new URLSearchParams({ ...input, ...pkce, redirect_uri: uri })
    const answer = await shared.auth.inject({ url: `/signin?${query}`, headers: { accept: 'text/html' } })
    return [answer.statusCode, answer.headers.location, /"error":"(\w+)"/.exec(answer.body)?.[1]]
  }
  assert.equal((await ask('https://app.example/callback'))[0], 200)
  const holder = await shared.person()
  const { id_token: hint = '' } = await app.tokens(holder)
  const signOut = async (uri: string) => {
    const answer = await postForm(shared.auth, '/logout', { id_token_hint: hint, post_logout_redirect_uri: uri })
    return JSON.parse(/id="view">(.*)<\/script>/.exec(answer.body)?.[1] ?? '{}').after
  }
  assert.equal((await signOut('https://app.example/')).at, 'app')
  await shared.db
    .updateTable('app')
    .set({ redirect_uris: [start], post_logout_redirect_uris: [start] })
    .where('client_id', '=', app.clientId)
    .execute()
  shared.pass(3600)
  assert.deepEqual(await ask(start), [400, undefined, 'invalid_redirect_uri'])
  assert.deepEqual(await signOut(start), { at: 'here', refused: true })
  const consent = await shared.api.inject({
    method: 'POST',
    url: '/api/oauth/authorize',
    headers: holder.headers,
    payload: { clientId: app.clientId, identityId: holder.identityId, redirectUri: start, scope: 'openid' },
  })
  assert.deepEqual([consent.statusCode, consent.json().error], [400, 'invalid_redirect_uri'])
  await shared.close()
})

test('only the apps of the playground redirect to a page of the service', async () => {
  const { authUrl } = world.config
  const redirectUri = `${authUrl.origin}/playground`
  const pkce = { response_type: 'code', code_challenge: 'a'.repeat(43), code_challenge_method: 'S256' }
  for (const clientId of ['app_playground', 'app_playground_notes']) {
    const query = new URLSearchParams({ client_id: clientId, redirect_uri: redirectUri, scope: 'openid', ...pkce })
    const answer = await world.auth.inject({ url: `/signin?${query}`, headers: { accept: 'text/html' } })
    assert.equal(answer.statusCode, 200, answer.body)
  }
})

test('a registered URI on a host that became one of the service stops no change of other settings', async () => {
  const [redirectUris, headers] = [['https://app.example/callback'], person.headers]
  const path = '/api/developer/apps'
  const made = await world.api.inject({ method: 'POST', url: path, headers, payload: { name: 'A game', redirectUris } })
  const { clientId } = made.json()
  const [moved = ''] = ours(world)
  const uris = { redirect_uris: [moved], post_logout_redirect_uris: [moved] }
  await world.db.updateTable('app').set(uris).where('client_id', '=', clientId).execute()
  const change = (payload: object) =>
    world.api.inject({ method: 'PATCH', url: `${path}/${clientId}`, headers, payload })
  const changed = await change({ description: 'Play it.' })
  assert.equal(changed.statusCode, 200, changed.body)
  assert.deepEqual([changed.json().description, changed.json().redirectUris], ['Play it.', [moved]])
  const kept = await change({ redirectUris: [moved, ...redirectUris] })
  assert.deepEqual([kept.statusCode, kept.json().error], [400, 'invalid_redirect_uri'])
  assert.equal((await change({ redirectUris })).statusCode, 200)
})
