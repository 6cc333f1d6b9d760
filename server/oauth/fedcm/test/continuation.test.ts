import assert from 'node:assert/strict'
import { type KeyObject, generateKeyPairSync, randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { CompactEncrypt, decodeJwt } from 'jose'
import { exchange, newParams, openBrowser } from '#testing/federated-browser.ts'
import { signInByOrganization } from '#testing/enterprise-session.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

type Browser = Awaited<ReturnType<typeof openBrowser>>

async function visit() {
  const [person, app] = [await world.person(), await world.app({ allowedScopes: ['openid', 'profile', 'user_id'] })]
  return { person, app, browser: await openBrowser(world, person) }
}

const continueOn = async (input: ReturnType<Browser['assertion']>) => {
  const answer = await input
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json<{ continue_on: string }>().continue_on
}
const refusedAs = ({ statusCode, ...answer }: { statusCode: number; json: () => { error: string } }) => [
  statusCode,
  answer.json().error,
]

test('a first sign-in asks the user in a window, and the app gets what they consented to', async () => {
  const { person, app, browser } = await visit()
  const { verifier, params } = newParams()
  const address = await continueOn(browser.assertion(app, params))
  const { there, view } = await browser.open(address)
  assert.equal(there.origin, 'http://localhost:4401')
  assert.deepEqual(
    { ...Object(view), site: undefined, app: undefined, denied: undefined, state: undefined },
    {
      page: 'signin',
      site: undefined,
      app: undefined,
      givenTo: 'https://app.example',
      redirectUri: 'http://localhost:4400/fedcm/resolve',
      scope: ['openid', 'profile'],
      organizationAccess: 'create',
      nonce: params.nonce,
      state: undefined,
      codeChallenge: params.codeChallenge,
      identityId: person.identityId,
      prompts: [],
      languages: [],
      formPost: false,
      denied: undefined,
    },
  )
  assert.match(Object(view).denied.url, /^http:\/\/localhost:4400\/fedcm\/resolve\?error=access_denied/)
  const assertion = await browser.finish(app, address)
  const tokens = (await exchange(world, app, assertion, { codeVerifier: verifier })).json()
  assert.equal(tokens.user.handle, person.handle)
  assert.equal(decodeJwt(tokens.id_token)['nonce'], params.nonce)
  assert.ok((await browser.assertion(app, params)).json().token, 'the next sign-in asks nothing')
})

test('FED-14 parameters without a value count as omitted, and the sign-in can be finished', async () => {
  const { app, browser } = await visit()
  const params = {
    scope: 'openid',
    nonce: '',
    codeChallenge: '',
    state: '',
    prompt: '',
    redirectUri: '',
    appKeyJwk: '',
  }
  const address = await continueOn(browser.assertion(app, params))
  const first = await browser.finish(app, address)
  assert.equal(decodeJwt(first)['nonce'], undefined)
  const tokens = (await exchange(world, app, first)).json()
  assert.equal(decodeJwt(tokens.id_token)['nonce'], undefined)
  const again = (await browser.assertion(app, params)).json()
  assert.equal(decodeJwt(again.token)['nonce'], undefined)
})

test('AUZ-14 FED-13 a window works only for the browser and user that it was opened for', async () => {
  const { app, browser, person } = await visit()
  const address = await continueOn(browser.assertion(app, { scope: 'openid' }))
  const stranger = await openBrowser(world, await world.person())
  const elsewhere = await openBrowser(world, person)
  for (const headers of [{ cookie: '' }, stranger.ofPages, elsewhere.ofPages]) {
    const { there } = await browser.open(address, { ...headers })
    assert.equal(there.href, 'http://localhost:4400/fedcm/error?code=expired')
  }
  for (const reference of ['x', 'x'.repeat(43), randomBytes(32).toString('base64url')])
    assert.match(
      (await browser.open(`http://localhost:4400/fedcm/continue?request=${reference}`)).there.pathname,
      /error/,
    )
  for (const query of ['', '?request=', `?request=${'x'.repeat(2000)}`]) {
    const { there } = await browser.open(`http://localhost:4400/fedcm/continue${query}`)
    assert.equal(there.href, 'http://localhost:4400/fedcm/error?code=expired', query)
  }
  assert.equal((await world.api.inject({ url: '/fedcm/error' })).statusCode, 200)
  assert.equal((await browser.open(address)).there.pathname, '/signin', 'reloading does not spend it')
  world.pass(10 * 60)
  assert.match((await browser.open(address)).there.pathname, /error/)
})

test('FED-12 a consent is finished once, by its user, for its app, and with the requested parameters', async () => {
  const { app, browser } = await visit()
  const { params } = newParams('openid')
  const { there } = await browser.open(await continueOn(browser.assertion(app, params)))
  const finished = { ...(await browser.codeOf(there)), clientId: app.clientId }
  const stranger = await openBrowser(world, await world.person())
  assert.deepEqual(refusedAs(await stranger.finalize(finished)), [400, 'invalid_grant'])
  assert.deepEqual(refusedAs(await browser.finalize(finished, { cookie: '' })), [401, 'unauthorized'])
  const { clientId } = await world.app()
  for (const changed of [{ clientId }, { state: 'x'.repeat(43) }, { code: `${finished.code}x` }])
    assert.deepEqual(refusedAs(await browser.finalize({ ...finished, ...changed })), [400, 'invalid_grant'])
  const [first, second] = await Promise.all([browser.finalize(finished), browser.finalize(finished)])
  assert.deepEqual([first.statusCode, second.statusCode].toSorted(), [200, 400])
  assert.deepEqual(refusedAs(await browser.finalize(finished)), [400, 'invalid_grant'])
  const { code } = finished
  const redeemed = await app.redeem(code, { redirect_uri: 'http://localhost:4400/fedcm/resolve' })
  assert.equal(redeemed.json().error, 'invalid_grant', 'the code is no longer valid')
})

test('FED-12 a page that was made to consent to something else cannot finish', async () => {
  for (const requested of [
    { scope: 'openid user_id' },
    { nonce: 'another' },
    { codeChallenge: newParams().params.codeChallenge },
    { codeChallenge: undefined, codeChallengeMethod: undefined },
  ]) {
    const { app, browser } = await visit()
    const { there } = await browser.open(await continueOn(browser.assertion(app, newParams('openid').params)))
    const finished = { ...(await browser.codeOf(there, requested)), clientId: app.clientId }
    assert.deepEqual(refusedAs(await browser.finalize(finished)), [400, 'invalid_grant'], JSON.stringify(requested))
  }
  const { app, browser } = await visit()
  const { there } = await browser.open(await continueOn(browser.assertion(app, { scope: 'openid profile' })))
  const less = { ...(await browser.codeOf(there, { scope: 'openid' })), clientId: app.clientId }
  assert.equal((await browser.finalize(less)).statusCode, 200, 'a narrower consent is accepted')
})

test('FED-12 a code that was issued to the app itself cannot finish a FedCM sign-in', async () => {
  const { person, app, browser } = await visit()
  const { there } = await browser.open(await continueOn(browser.assertion(app, { scope: 'openid' })))
  const code = await app.code({ headers: browser.ofPages, identityId: person.identityId }, { scope: 'openid' })
  const finished = { code, state: there.searchParams.get('state'), clientId: app.clientId }
  assert.deepEqual(refusedAs(await browser.finalize(finished)), [400, 'invalid_grant'])
  assert.equal((await app.redeem(code)).statusCode, 200)
})

test('AUZ-08 the FedCM resolve page is not accepted as redirect URI of other requests', async () => {
  const { person, app, browser } = await visit()
  const redirectUri = 'http://localhost:4400/fedcm/resolve'
  const signIn = (parameters: Record<string, string>) =>
    world.auth.inject({ url: `/signin?${new URLSearchParams({ client_id: app.clientId, ...parameters })}` })
  assert.equal((await signIn({ redirect_uri: redirectUri })).statusCode, 400)
  for (const [name, value] of Object.entries({
    fedcm_continue: '0',
    fedcm_origin: 'https://evil.example',
    response_mode: 'form_post',
    resource: 'x',
  })) {
    const input = { redirect_uri: redirectUri, fedcm_continue: '1', fedcm_origin: 'https://app.example', [name]: value }
    const answer = await signIn(input)
    assert.equal(answer.statusCode, 400, name)
    assert.equal(answer.headers.location, undefined)
  }
  const foreign = await signIn({ redirect_uri: app.redirectUri, fedcm_continue: '1' })
  assert.deepEqual([foreign.statusCode, foreign.headers.location], [400, undefined])
  const { identityId } = person
  const payload = { clientId: app.clientId, identityId, scope: 'openid' }
  for (const requested of [{ redirectUri }, { redirectUri: app.redirectUri, fedcmContinue: true }]) {
    const headers = browser.ofPages
    const url = '/api/oauth/authorize'
    const answer = await world.api.inject({ method: 'POST', url, headers, payload: { ...payload, ...requested } })
    assert.deepEqual(refusedAs(answer), [400, 'invalid_redirect_uri'])
  }
})

test('AUZ-08 a continued FedCM request cannot ask for a resource of another app', async () => {
  const { person, app, browser } = await visit()
  const target = await world.app()
  const resource = { resourceKey: 'cal', displayName: 'Calendar', scopes: ['cal.read'] }
  const described = { ...resource, scopeDescriptions: { 'cal.read': 'Read' }, audience: 'https://cal.example/api' }
  const resources = `/api/admin/apps/${target.clientId}/resources`
  await world.api.inject({ method: 'POST', url: resources, headers: world.admin, payload: described })
  const redirectUri = 'http://localhost:4400/fedcm/resolve'
  const continued = { client_id: app.clientId, redirect_uri: redirectUri, fedcm_continue: '1' }
  for (const requested of [{ resource: 'cal', scope: 'cal.read' }, {}]) {
    const query = new URLSearchParams({ ...continued, fedcm_origin: 'https://app.example', ...requested })
    const page = await world.auth.inject({ url: `/connect?${query}` })
    assert.deepEqual([page.statusCode, page.headers.location], [400, undefined])
  }
  const consent = { clientId: app.clientId, identityId: person.identityId, redirectUri, fedcmContinue: true }
  const payload = { ...consent, connector: true, requestedResource: 'cal', requestedScope: 'cal.read', state: 'x' }
  const answer = await world.api.inject({
    method: 'POST',
    url: '/api/oauth/authorize',
    headers: browser.ofPages,
    payload,
  })
  assert.deepEqual(refusedAs(answer), [400, 'invalid_request'])
})

test('a user who re-authenticates in the window can finish, also in the new session', async () => {
  const { person, app, browser } = await visit()
  const address = await continueOn(browser.assertion(app, { scope: 'openid', prompt: 'login' }))
  const { there, view } = await browser.open(address)
  assert.equal(there.searchParams.get('prompt'), 'login')
  const { requestUri } = Object(view)
  const again = await openBrowser(world, person, requestUri)
  const finished = { ...(await again.codeOf(there, { requestUri })), clientId: app.clientId }
  assert.deepEqual(refusedAs(await browser.finalize(finished)), [400, 'invalid_grant'], 'not of the earlier session')
  assert.equal((await again.finalize(finished)).statusCode, 200)
})

test('a session opened by SSO alone cannot finish a FedCM sign-in', async () => {
  const { person, app, browser } = await visit()
  const { there } = await browser.open(await continueOn(browser.assertion(app, { scope: 'openid' })))
  const finished = { ...(await browser.codeOf(there)), clientId: app.clientId }
  const headers = await signInByOrganization(world, person)
  assert.deepEqual(refusedAs(await browser.finalize(finished, headers)), [403, 'passkey_required'])
})

test('FED-18 an app that takes a key signs users in without it, and no key is transferred', async () => {
  const person = await world.person()
  const app = await world.app({ supportsE2ee: true, allowedScopes: ['openid', 'profile'] })
  const browser = await openBrowser(world, person)
  const keyOf = async () => {
    const url = `/api/oauth/authorization/${app.clientId}?identity_id=${person.identityId}`
    return (await world.api.inject({ url, headers: person.headers })).json().authorization?.encryptedAppKey
  }
  await app.code(person, { scope: 'openid', encryptedAppKey: 'a.b.c.d.e' })
  assert.equal(await keyOf(), 'a.b.c.d.e')

  const { verifier, params } = newParams('openid profile')
  const { there, view } = await browser.open(await continueOn(browser.assertion(app, params)))
  assert.equal(Object(view).key, undefined)
  assert.equal(there.searchParams.has('app_key_jwk'), false)
  const code = { ...(await browser.codeOf(there, { scope: 'openid profile' })), clientId: app.clientId }
  assert.deepEqual(refusedAs(await browser.finalize({ ...code, appKeyJwe: 'YQ..YQ.YQ.YQ' })), [400, 'invalid_request'])
  const finished = await browser.finalize(code)
  assert.equal(finished.statusCode, 200, finished.body)
  const { assertion } = finished.json()
  assert.equal(decodeJwt(assertion)['app_key'], undefined)
  const tokens = (await exchange(world, app, assertion, { codeVerifier: verifier })).json()
  assert.equal(tokens.user.handle, person.handle)
  assert.doesNotMatch(JSON.stringify(tokens), /a\.b\.c\.d|app_?key/i)

  const { token } = (await browser.assertion(app, newParams('openid profile').params)).json()
  assert.equal(decodeJwt(token)['app_key'], undefined, 'also without a window')
  assert.equal(await keyOf(), 'a.b.c.d.e', 'the existing key stays')
})

test('FED-18 an app that expects a key from a browser dialog is rejected', async () => {
  const person = await world.person()
  const app = await world.app({ supportsE2ee: true })
  const browser = await openBrowser(world, person)
  const codeFor = async (params: object) => (await browser.assertion(app, params)).json().error.code
  assert.equal(await codeFor({ scope: 'openid', appKeyJwk: 'e30' }), 'invalid_request')
  for (const scope of ['openid e2ee:symmetric', 'openid e2ee:asymmetric', 'openid e2ee:reset'])
    assert.equal(await codeFor({ scope }), 'invalid_request')

  const { there } = await browser.open(await continueOn(browser.assertion(app, newParams('openid').params)))
  for (const requested of [{ scope: 'openid', encryptedAppKey: 'a.b.c.d.e' }, { scope: 'openid e2ee:symmetric' }])
    assert.equal((await browser.agree(there, requested)).statusCode, 400)
})

test('FED-26 an app key passes the dialog only encrypted, and only for the registered key of the app', async () => {
  const person = await world.person()
  const { publicKey } = generateKeyPairSync('x25519')
  const jwkOf = (key: KeyObject) => {
    const { kty, crv, x } = key.export({ format: 'jwk' })
    return Buffer.from(JSON.stringify({ kty, crv, x })).toString('base64url')
  }
  const appKeyJwk = jwkOf(publicKey)
  const app = await world.app({ supportsE2ee: true, appKeyRecipientJwk: appKeyJwk })
  const browser = await openBrowser(world, person)
  const refusedCode = async (params: object, at = app) => (await browser.assertion(at, params)).json().error.code
  const ephemeral = jwkOf(generateKeyPairSync('x25519').publicKey)
  for (const other of [ephemeral, `${appKeyJwk}=`, 'e30'])
    assert.equal(await refusedCode({ scope: 'openid', appKeyJwk: other }), 'invalid_request')
  for (const settings of [{}, { supportsE2ee: true }, { appKeyRecipientJwk: appKeyJwk }])
    assert.equal(await refusedCode({ scope: 'openid', appKeyJwk }, await world.app(settings)), 'invalid_request')
  assert.equal(await refusedCode({ scope: 'openid e2ee:reset', appKeyJwk }), 'invalid_request')

  const { verifier, params } = newParams('openid')
  const { there, view } = await browser.open(await continueOn(browser.assertion(app, { ...params, appKeyJwk })))
  assert.equal(there.searchParams.get('app_key_jwk'), appKeyJwk)
  assert.deepEqual(Object(view).key?.mode, 'symmetric')
  const code = async () => ({ ...(await browser.codeOf(there, { scope: 'openid' })), clientId: app.clientId })
  const presented = await code()
  for (const clear of ['app_key=YQ', randomBytes(32).toString('base64'), `YQ..YQ.YQ.${'YQ'.repeat(4096)}`])
    assert.deepEqual(refusedAs(await browser.finalize({ ...presented, appKeyJwe: clear })), [400, 'invalid_request'])
  const appKeyJwe = await new CompactEncrypt(randomBytes(32))
    .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A256GCM' })
    .encrypt(publicKey)
  const finished = await browser.finalize({ ...presented, appKeyJwe })
  assert.equal(finished.statusCode, 200, finished.body)
  const { assertion } = finished.json()
  assert.equal(decodeJwt(assertion)['app_key'], appKeyJwe)
  const tokens = await exchange(world, app, assertion, { codeVerifier: verifier })
  assert.equal(tokens.statusCode, 200)
  assert.doesNotMatch(tokens.body, /app_?key/i)
})
