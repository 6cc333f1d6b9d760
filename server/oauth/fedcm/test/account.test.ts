import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { IdentityId } from '@countersign/protocol/ids'
import { signInByOrganization } from '#testing/enterprise-session.ts'
import { fedcmHeaders, cookieIn, openBrowser } from '#testing/federated-browser.ts'
import { codeIn, openMailbox, type Mailbox } from '#testing/mailbox.ts'
import { createWorld, type Person, type TestWorld } from '#testing/world.ts'
import { generateToken, parseToken } from '#platform/crypto/token-format.ts'
import { endpoints } from '#platform/process/openapi.ts'

let mailbox: Mailbox
let world: TestWorld
before(async () => {
  mailbox = await openMailbox()
  world = await createWorld({ environment: { SMTP_URL: mailbox.url, MAIL_FROM: 'Countersign <id@example.com>' } })
})
after(async () => {
  await world.close()
  await mailbox.close()
})

async function proveEmail({ headers, identityId }: Person, email: string): Promise<void> {
  const url = `/api/identities/${identityId}/email`
  await world.api.inject({ method: 'POST', url, headers, payload: { email } })
  const payload = { code: codeIn(await mailbox.take()) }
  const verified = await world.api.inject({ method: 'POST', url: `${url}/verify`, headers, payload })
  assert.equal(verified.statusCode, 200, verified.body)
}

async function addIdentity({ headers }: Person, payload: { handle: string; displayName: string }): Promise<IdentityId> {
  const made = await world.api.inject({ method: 'POST', url: '/api/identities', headers, payload })
  assert.equal(made.statusCode, 201, made.body)
  return made.json<{ identityId: IdentityId }>().identityId
}

const signOut = (headers: Record<string, string>) =>
  world.api.inject({ method: 'DELETE', url: '/api/auth/session', headers })

test('a browser gets every identity, its account hints, and the apps that it has connected', async () => {
  const [person, app] = [await world.person('ada'), await world.app()]
  const countess = await addIdentity(person, { handle: 'countess', displayName: 'Countess of Lovelace' })
  await proveEmail(person, 'ada@example.com')
  await app.tokens(person)
  const browser = await openBrowser(world, person)
  assert.deepEqual((await browser.accounts()).json(), {
    accounts: [
      {
        id: person.identityId,
        name: 'The ada',
        given_name: 'The ada',
        username: 'ada',
        email: 'ada@example.com',
        approved_clients: [app.clientId],
        login_hints: ['ada', 'ada@example.com'],
        domain_hints: ['example.com'],
      },
      {
        id: countess,
        name: 'Countess of Lovelace',
        given_name: 'Countess of Lovelace',
        username: 'countess',
        approved_clients: [],
        login_hints: ['countess'],
        domain_hints: [],
      },
    ],
  })
})

test('a browser gets no accounts while its user has no active identity, and no app is disconnected', async () => {
  const [person, app] = [await world.person(), await world.app()]
  const browser = await openBrowser(world, person)
  const suspend = (at: Date | null) =>
    world.db
      .updateTable('identity')
      .set({ suspended_at: at })
      .where('identity_id', '=', person.identityId)
      .executeTakeFirst()
  await suspend(world.now())
  const accounts = await browser.accounts()
  assert.deepEqual([accounts.statusCode, accounts.headers['set-login']], [401, 'logged-out'])
  assert.equal((await browser.disconnect(app, person.identityId)).statusCode, 403)
  await suspend(null)
  assert.equal((await browser.accounts()).statusCode, 200)
})

test('FED-01 FED-02 only the browser itself gets the accounts, and no page can read them', async () => {
  const [person, app] = [await world.person(), await world.app()]
  const browser = await openBrowser(world, person)
  for (const dest of ['empty', 'image', 'document', 'iframe', 'script', ''])
    for (const origin of [new URL(app.redirectUri).origin, 'http://localhost:4401']) {
      const answer = await browser.accounts({ 'sec-fetch-dest': dest, origin })
      assert.equal(answer.statusCode, 400)
      assert.doesNotMatch(answer.body, new RegExp(person.handle))
      assert.equal(answer.headers['access-control-allow-origin'], undefined)
    }
  for (const origin of [new URL(app.redirectUri).origin, 'http://localhost:4401', 'null']) {
    const answer = await browser.accounts({ origin })
    assert.equal(answer.statusCode, 200)
    assert.equal(answer.headers['access-control-allow-origin'], undefined)
  }
})

test('FED-15 SES-07 a browser learns of a sign-in, and of the end of the last session', async () => {
  const person = await world.person()
  const nobody = await world.api.inject({ url: '/api/oauth/fedcm/accounts', headers: fedcmHeaders })
  assert.deepEqual([nobody.statusCode, nobody.headers['set-login']], [401, 'logged-out'])
  const browser = await openBrowser(world, person)
  assert.equal((await browser.accounts()).statusCode, 200)
  const left = await signOut(browser.ofPages)
  assert.deepEqual([left.statusCode, left.headers['set-login']], [204, 'logged-out'])
  assert.equal(cookieIn(left, '__Host-countersign-fedcm'), '')
  const after = await browser.accounts()
  assert.deepEqual([after.statusCode, after.headers['set-login']], [401, 'logged-out'])

  const [here, there] = [await openBrowser(world, person), await openBrowser(world, person)]
  const ended = await world.api.inject({ method: 'DELETE', url: '/api/auth/sessions', headers: here.ofPages })
  assert.equal(ended.statusCode, 204, ended.body)
  assert.equal((await there.accounts()).statusCode, 401, 'a session that was revoked elsewhere')
  assert.equal((await here.accounts()).statusCode, 200)
})

test('SES-03 FED-17 each of the two cookies works for its own purpose only', async () => {
  const person = await world.person()
  const browser = await openBrowser(world, person)
  const { main, federated } = browser.cookies
  assert.notEqual(main, federated)
  const asMain = await browser.accounts({ cookie: `__Host-countersign-fedcm=${main}` })
  assert.equal(asMain.statusCode, 401)
  assert.equal(
    (await browser.accounts({ cookie: `__Host-countersign=${federated}; countersign=${main}` })).statusCode,
    401,
  )
  const { origin } = browser.ofPages
  const guarded = endpoints.filter(({ endpoint }) => endpoint.config.security === 'session')
  assert.ok(guarded.length > 40)
  for (const { endpoint } of guarded) {
    const { method, config } = endpoint
    const url = endpoint.url.replaceAll(/:\w+/g, '00000000-0000-4000-8000-000000000000')
    const host = config.host === 'business' ? world.business : world.api
    const payload = method !== 'GET' && { payload: {} }
    for (const headers of [
      { cookie: `__Host-countersign-fedcm=${federated}`, origin },
      { cookie: `__Host-countersign=${federated}; countersign=${federated}`, origin },
      { authorization: `Bearer ${federated}` },
    ])
      assert.equal((await host.inject({ method, url, headers, ...payload })).statusCode, 401, endpoint.name)
  }
})

test('SES-03 a FedCM cookie that names a session without its secret is refused by each endpoint', async () => {
  const [person, app] = [await world.person(), await world.app()]
  await app.tokens(person, { scope: 'openid' })
  const browser = await openBrowser(world, person)
  const route = parseToken('federated', browser.cookies.federated, 16)
  assert.ok(route)
  const headers = { cookie: `__Host-countersign-fedcm=${generateToken('federated', route)}` }
  for (const answer of [
    await browser.accounts(headers),
    await browser.assertion(app, { scope: 'openid' }, { headers }),
    await browser.disconnect(app, person.identityId, headers),
  ])
    assert.equal(answer.statusCode, 401, answer.body)
  assert.equal((await browser.assertion(app, { scope: 'openid' })).statusCode, 200, 'the app is still connected')
})

test('SES-03 the FedCM cookie is sent cross-site, over TLS only, and is hidden from scripts', async () => {
  const person = await world.person()
  const started = await world.api.inject({ method: 'POST', url: '/api/auth/login/start', payload: {} })
  const { flowId, options } = started.json()
  const payload = { flowId, credential: person.authenticator.authenticate(options) }
  const answer = await world.api.inject({ method: 'POST', url: '/api/auth/login/finish', payload })
  const set = [answer.headers['set-cookie']].flat().map(String)
  const [cookie = ''] = set.filter((each) => each.startsWith('__Host-countersign-fedcm='))
  assert.match(cookie, /=cs_fedcm_[\w-]+; Path=\/; Max-Age=7776000; HttpOnly; SameSite=None; Secure$/)
  assert.equal(answer.headers['set-login'], 'logged-in')
  assert.doesNotMatch(answer.body, /cs_fedcm_/)
  const kept = await world.db
    .selectFrom('session')
    .select('fedcm_token_sha256')
    .where('user_id', '=', person.userId)
    .execute()
  assert.ok(kept.every(({ fedcm_token_sha256: hash }) => hash?.length === 32))
})

test('an account signed in by SSO alone is not offered to apps', async () => {
  const person = await world.person()
  await signInByOrganization(world, person)
  const kept = await world.db
    .selectFrom('session')
    .select(['fedcm_token_sha256', 'identity_id'])
    .where('user_id', '=', person.userId)
    .execute()
  for (const { fedcm_token_sha256: hash, identity_id: only } of kept) assert.equal(hash === null, only !== null)
})

test('FED-19 an app that disconnects is no longer known to the browser, and its tokens are revoked', async () => {
  const [person, app, other] = [await world.person(), await world.app(), await world.app()]
  const tokens = await app.tokens(person)
  await other.tokens(person)
  const browser = await openBrowser(world, person)
  const approved = async () => (await browser.accounts()).json().accounts[0].approved_clients
  assert.deepEqual((await approved()).toSorted(), [app.clientId, other.clientId].toSorted())
  for (const origin of ['https://evil.example', 'null']) {
    const answer = await browser.disconnect(app, person.identityId, { origin })
    assert.deepEqual([answer.statusCode, answer.headers['access-control-allow-origin']], [403, undefined])
  }
  assert.equal((await browser.disconnect(app, 'nobody')).statusCode, 403)
  assert.equal((await browser.disconnect(app, person.identityId, { 'sec-fetch-dest': 'empty' })).statusCode, 400)
  const gone = await browser.disconnect(app, person.handle)
  assert.deepEqual([gone.statusCode, gone.json()], [200, { account_id: person.identityId }])
  assert.equal(gone.headers['access-control-allow-origin'], 'https://app.example')
  assert.deepEqual(await approved(), [other.clientId])
  assert.equal((await app.refresh(tokens.refresh_token)).json().error, 'invalid_grant')
  assert.equal((await browser.disconnect(app, person.handle)).statusCode, 403, 'a second disconnection changes nothing')
  const acts = await world.db
    .selectFrom('audit_event')
    .select(['actor', 'client_id'])
    .where('user_id', '=', person.userId)
    .where('action', '=', 'app.disconnected')
    .execute()
  assert.deepEqual(acts, [{ actor: 'app', client_id: app.clientId }])
})

test('LOG-05 FED-21 an app that disconnects can probe only for identities that have connected it', async () => {
  const [person, app, other] = [await world.person(), await world.app(), await world.app()]
  const hidden = await addIdentity(person, { handle: 'nobody-knows', displayName: 'Nobody Knows' })
  const address = 'nobody-knows@example.com'
  await proveEmail({ ...person, identityId: hidden }, address)
  await app.tokens(person)
  const elsewhere = await other.tokens({ ...person, identityId: hidden })
  const browser = await openBrowser(world, person)
  const unknown = await browser.disconnect(app, 'nobody-at-all')
  assert.equal(unknown.statusCode, 403)
  for (const hint of [hidden, 'nobody-knows', address]) {
    const answer = await browser.disconnect(app, hint)
    assert.deepEqual([answer.statusCode, answer.body], [403, unknown.body], hint)
  }
  assert.equal((await other.refresh(elsewhere.refresh_token)).statusCode, 200, 'its tokens stay valid')
  assert.equal((await browser.disconnect(app, person.handle)).json().account_id, person.identityId)
  assert.equal((await browser.disconnect(other, address)).json().account_id, hidden)
})

test('an app with an empty consent can disconnect too', async () => {
  const [person, app] = [await world.person(), await world.app()]
  await app.tokens(person, { scope: '' })
  const browser = await openBrowser(world, person)
  assert.equal((await browser.disconnect(app, person.handle)).statusCode, 200)
})

test('the configuration lists all endpoints on its own origin, and the metadata of the app', async () => {
  const config = (await world.api.inject({ url: '/api/oauth/fedcm/config' })).json()
  const addresses = [
    config.accounts_endpoint,
    config.id_assertion_endpoint,
    config.disconnect_endpoint,
    config.login_url,
  ]
  for (const address of [...addresses, config.client_metadata_endpoint])
    assert.equal(new URL(address).origin, 'http://localhost:4400')
  const icon = await world.api.inject({ url: new URL(config.branding.icons[0].url).pathname })
  assert.deepEqual([icon.statusCode, icon.headers['content-type']], [200, 'image/png'])
  for (const host of [world.api, world.auth, world.business]) {
    const { provider_urls: urls, ...rest } = (await host.inject({ url: '/.well-known/web-identity' })).json()
    assert.deepEqual(urls, ['http://localhost:4400/api/oauth/fedcm/config'])
    assert.deepEqual(rest, { accounts_endpoint: config.accounts_endpoint, login_url: config.login_url })
  }
  const app = await world.app({ privacyUrl: 'https://app.example/privacy', termsUrl: 'https://app.example/terms' })
  const received = await world.api.inject({ url: `/api/oauth/fedcm/client-metadata?client_id=${app.clientId}` })
  assert.deepEqual(received.json(), {
    privacy_policy_url: 'https://app.example/privacy',
    terms_of_service_url: 'https://app.example/terms',
  })
  assert.deepEqual((await world.api.inject({ url: '/api/oauth/fedcm/client-metadata?client_id=nobody' })).json(), {})
})

test('a browser that sends too many requests is rate limited by session', async (t) => {
  const limited = await createWorld({ rateLimits: true })
  t.after(() => limited.close())
  const [browser, other] = [
    await openBrowser(limited, await limited.person()),
    await openBrowser(limited, await limited.person()),
  ]
  for (let count = 0; count < 120; count += 1) assert.equal((await browser.accounts()).statusCode, 200)
  assert.equal((await browser.accounts()).statusCode, 429)
  assert.equal((await other.accounts()).statusCode, 200)
})
