import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { startTokenIssuer } from '../../server/testing/token-issuer.ts'
import { createCountersign, CountersignError } from '../src/server/server.ts'

const tokenPath = '/api/oauth/token'
const requested = { subjectToken: 'header.ada.signature', resource: 'calendar' }

const answerWith = (fields: Record<string, unknown> = {}) => ({
  access_token: 'a.delegated.token',
  issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
  token_type: 'Bearer',
  expires_in: 600,
  scope: 'calendar.read',
  audience: 'https://calendar.example/api',
  target_resource: 'calendar',
  communication_mode: 'user_present',
  ...fields,
})

async function openAssistant(t: TestContext) {
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
  const issuer = await startTokenIssuer()
  t.after(() => issuer.close())
  const app = { clientId: 'app_assistant', clientSecret: 'cs_test' }
  const says = (fields: Record<string, unknown> = {}) => issuer.says(tokenPath, { body: answerWith(fields) })
  says()
  return {
    ...createCountersign({ baseUrl: issuer.origin, authUrl: issuer.origin, ...app }),
    issuer,
    says,
    pass: (seconds: number) => t.mock.timers.setTime(Date.now() + seconds * 1000),
    requestCount: () => issuer.countOf(tokenPath),
  }
}

test('a token of the user is exchanged for one of the resource', async (t) => {
  const { exchangeForResource, issuer } = await openAssistant(t)
  assert.deepEqual(await exchangeForResource({ ...requested, scope: 'calendar.read calendar.write' }), {
    accessToken: 'a.delegated.token',
    resource: 'calendar',
    audience: 'https://calendar.example/api',
    scopes: ['calendar.read'],
    mode: 'user_present',
    expiresAt: new Date(Date.now() + 600_000).toISOString(),
  })
  const [{ path, body } = { path: '', body: '' }] = issuer.requested
  assert.equal(path, tokenPath)
  assert.deepEqual(Object.fromEntries(new URLSearchParams(body)), {
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    subject_token: requested.subjectToken,
    subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    resource: 'calendar',
    scope: 'calendar.read calendar.write',
    client_id: 'app_assistant',
    client_secret: 'cs_test',
  })
})

test('it is reused until thirty seconds before it expires', async (t) => {
  const { exchangeForResource, pass, says, requestCount } = await openAssistant(t)
  const first = await exchangeForResource(requested)
  says({ access_token: 'the.next.token' })
  pass(569)
  assert.equal(await exchangeForResource(requested), first)
  assert.equal(requestCount(), 1)
  pass(1)
  assert.equal((await exchangeForResource(requested)).accessToken, 'the.next.token')
  assert.equal(requestCount(), 2)
})

test('concurrent calls for the same token share one request', async (t) => {
  const { exchangeForResource, requestCount } = await openAssistant(t)
  await Promise.all([1, 2, 3].map(() => exchangeForResource(requested)))
  assert.equal(requestCount(), 1)
})

test('a cached token is not returned for another token, resource or scope', async (t) => {
  const { exchangeForResource, issuer, says } = await openAssistant(t)
  const jwt = (signature: string) => [{ alg: 'ES256' }, { sub: 'ada' }].map(encoded).concat(signature).join('.')
  const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const ada = { subjectToken: jwt('hers'), resource: 'calendar' }
  says({ access_token: 'for.ada.alone', scope: 'a b' })
  await exchangeForResource(ada)

  const refused = { error: 'invalid_request', error_description: 'The subject token is not valid.' }
  issuer.says(tokenPath, { status: 400, body: refused })
  const others = [
    { ...ada, subjectToken: jwt('of-somebody-who-wrote-her-name') },
    { ...ada, subjectToken: `${ada.subjectToken} ` },
    { ...ada, resource: 'Calendar' },
    { ...ada, scope: 'a b' },
    { ...ada, scope: '' },
  ]
  for (const other of others)
    await assert.rejects(exchangeForResource(other), (error) => {
      return error instanceof CountersignError && error.code === 'invalid_request'
    })
  assert.equal((await exchangeForResource(ada)).accessToken, 'for.ada.alone')
})

test('an audience that is an origin is the same with and without a slash', async (t) => {
  const { exchangeForResource, says } = await openAssistant(t)
  says({ audience: 'https://calendar.example/' })
  const { audience } = await exchangeForResource({ ...requested, resource: 'https://calendar.example' })
  assert.equal(audience, 'https://calendar.example/')
})

test('scopes are the same in any order', async (t) => {
  const { exchangeForResource, says, requestCount } = await openAssistant(t)
  says({ scope: 'a b' })
  for (const scope of ['a b', 'b a', ' b  a a ']) await exchangeForResource({ ...requested, scope })
  assert.equal(requestCount(), 1)
})

test('errors and missing responses are not cached', async (t) => {
  const { exchangeForResource, issuer, says } = await openAssistant(t)
  const rejects = (code: string) =>
    assert.rejects(exchangeForResource(requested), (error) => error instanceof CountersignError && error.code === code)
  issuer.says(tokenPath, { status: 403, body: { error: 'access_denied', error_description: 'There is no consent.' } })
  await rejects('access_denied')
  issuer.says(tokenPath, 'nothing')
  await rejects('network_error')
  says()
  assert.equal((await exchangeForResource(requested)).accessToken, 'a.delegated.token')
})

test('a token that the resource rejected is dropped from the cache, and a newer one is not', async (t) => {
  const { exchangeForResource, forgetToken, says, requestCount } = await openAssistant(t)
  const first = await exchangeForResource(requested)
  says({ access_token: 'the.next.token' })
  forgetToken(first)
  const second = await exchangeForResource(requested)
  assert.equal(second.accessToken, 'the.next.token')
  forgetToken(first)
  assert.equal(await exchangeForResource(requested), second)
  assert.equal(requestCount(), 2)
})

const nonsense: { what: string; fields: Record<string, unknown> }[] = [
  { what: 'no token', fields: { access_token: undefined } },
  { what: 'a token of another type', fields: { token_type: 'DPoP' } },
  { what: 'a refresh token', fields: { issued_token_type: 'urn:ietf:params:oauth:token-type:refresh_token' } },
  { what: 'more scopes than requested', fields: { scope: 'calendar.read calendar.write' } },
  { what: 'a token for another resource', fields: { target_resource: 'mail', audience: 'https://mail.example' } },
  { what: 'no expiry', fields: { expires_in: undefined } },
  { what: 'an expiry that is a string', fields: { expires_in: '600' } },
  { what: 'an expiry in the past', fields: { expires_in: -1 } },
  { what: 'no expiry', fields: { expires_in: 1e300 } },
  { what: 'an unknown mode', fields: { communication_mode: 'always' } },
]
for (const { what, fields } of nonsense)
  test(`${what} is an unexpected response, and is not cached`, async (t) => {
    const { exchangeForResource, says } = await openAssistant(t)
    says(fields)
    const options = { ...requested, scope: 'calendar.read' }
    await assert.rejects(exchangeForResource(options), (error) => {
      return error instanceof CountersignError && error.code === 'unexpected_response'
    })
    says()
    assert.equal((await exchangeForResource(options)).accessToken, 'a.delegated.token')
  })

test('neither the secret nor the token is sent to the target of a redirect', async (t) => {
  const { exchangeForResource, issuer } = await openAssistant(t)
  const elsewhere = await startTokenIssuer()
  t.after(() => elsewhere.close())
  issuer.says(tokenPath, { status: 307, headers: { location: elsewhere.origin + tokenPath } })
  await assert.rejects(exchangeForResource(requested), (error) => {
    assert.ok(error instanceof CountersignError && error.status === 307)
    assert.ok(!`${error.message}${error.stack}`.includes(requested.subjectToken))
    return true
  })
  assert.deepEqual(elsewhere.requested, [])
})

test('the connect URL leads to the consent page', () => {
  const { connectUrl } = createCountersign({
    baseUrl: 'https://api.id.example',
    authUrl: 'https://id.example',
    clientId: 'app_assistant',
    clientSecret: 'cs_test',
  })
  const needed = {
    resource: 'calendar',
    scope: 'calendar.read calendar.write',
    redirectUri: 'https://assistant.example/connected?to=calendar',
    state: 'a&b',
  }
  const parametersOf = (url: string) => Object.fromEntries(new URL(url).searchParams)
  const url = connectUrl(needed)
  assert.ok(url.startsWith('https://id.example/connect?'))
  assert.deepEqual(parametersOf(url), {
    client_id: 'app_assistant',
    redirect_uri: needed.redirectUri,
    resource: 'calendar',
    scope: needed.scope,
    state: 'a&b',
  })
  const more = { mode: 'background', identityId: 'an-identity', codeChallenge: 'a-challenge' } as const
  assert.partialDeepStrictEqual(parametersOf(connectUrl({ ...needed, ...more })), {
    mode: 'background',
    identity_id: 'an-identity',
    code_challenge: 'a-challenge',
    code_challenge_method: 'S256',
  })
  assert.throws(() => connectUrl({ ...needed, state: '' }), TypeError)
})
