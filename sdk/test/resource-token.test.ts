import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { startTokenIssuer } from '../../server/testing/token-issuer.ts'
import { createCountersign, CountersignError } from '../src/server/server.ts'

const tokenPath = '/api/oauth/token'
const wanted = { subjectToken: 'header.ada.signature', resource: 'calendar' }

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
    timesAsked: () => issuer.countOf(tokenPath),
  }
}

test('a token of the person becomes one for the resource', async (t) => {
  const { exchangeForResource, issuer } = await openAssistant(t)
  assert.deepEqual(await exchangeForResource({ ...wanted, scope: 'calendar.read calendar.write' }), {
    accessToken: 'a.delegated.token',
    resource: 'calendar',
    audience: 'https://calendar.example/api',
    scopes: ['calendar.read'],
    mode: 'user_present',
    expiresAt: new Date(Date.now() + 600_000).toISOString(),
  })
  const [{ path, body } = { path: '', body: '' }] = issuer.asked
  assert.equal(path, tokenPath)
  assert.deepEqual(Object.fromEntries(new URLSearchParams(body)), {
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    subject_token: wanted.subjectToken,
    subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    resource: 'calendar',
    scope: 'calendar.read calendar.write',
    client_id: 'app_assistant',
    client_secret: 'cs_test',
  })
})

test('it is given again until thirty seconds before it ends', async (t) => {
  const { exchangeForResource, pass, says, timesAsked } = await openAssistant(t)
  const first = await exchangeForResource(wanted)
  says({ access_token: 'the.next.token' })
  pass(569)
  assert.equal(await exchangeForResource(wanted), first)
  assert.equal(timesAsked(), 1)
  pass(1)
  assert.equal((await exchangeForResource(wanted)).accessToken, 'the.next.token')
  assert.equal(timesAsked(), 2)
})

test('the service is asked once for all who want the same at once', async (t) => {
  const { exchangeForResource, timesAsked } = await openAssistant(t)
  await Promise.all([1, 2, 3].map(() => exchangeForResource(wanted)))
  assert.equal(timesAsked(), 1)
})

test('nobody gets what is kept for another token, resource or scope', async (t) => {
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

test('an audience that is an origin is the same with a slash and without', async (t) => {
  const { exchangeForResource, says } = await openAssistant(t)
  says({ audience: 'https://calendar.example/' })
  const { audience } = await exchangeForResource({ ...wanted, resource: 'https://calendar.example' })
  assert.equal(audience, 'https://calendar.example/')
})

test('scopes are the same in any order', async (t) => {
  const { exchangeForResource, says, timesAsked } = await openAssistant(t)
  says({ scope: 'a b' })
  for (const scope of ['a b', 'b a', ' b  a a ']) await exchangeForResource({ ...wanted, scope })
  assert.equal(timesAsked(), 1)
})

test('a refusal is not remembered, nor is what did not come', async (t) => {
  const { exchangeForResource, issuer, says } = await openAssistant(t)
  const rejects = (code: string) =>
    assert.rejects(exchangeForResource(wanted), (error) => error instanceof CountersignError && error.code === code)
  issuer.says(tokenPath, { status: 403, body: { error: 'access_denied', error_description: 'There is no consent.' } })
  await rejects('access_denied')
  issuer.says(tokenPath, 'nothing')
  await rejects('no_answer')
  says()
  assert.equal((await exchangeForResource(wanted)).accessToken, 'a.delegated.token')
})

test('a token that the resource refused is forgotten, and no newer one', async (t) => {
  const { exchangeForResource, forgetToken, says, timesAsked } = await openAssistant(t)
  const first = await exchangeForResource(wanted)
  says({ access_token: 'the.next.token' })
  forgetToken(first)
  const second = await exchangeForResource(wanted)
  assert.equal(second.accessToken, 'the.next.token')
  forgetToken(first)
  assert.equal(await exchangeForResource(wanted), second)
  assert.equal(timesAsked(), 2)
})

const nonsense: { what: string; fields: Record<string, unknown> }[] = [
  { what: 'no token', fields: { access_token: undefined } },
  { what: 'a token of another type', fields: { token_type: 'DPoP' } },
  { what: 'a refresh token', fields: { issued_token_type: 'urn:ietf:params:oauth:token-type:refresh_token' } },
  { what: 'more scope than was asked for', fields: { scope: 'calendar.read calendar.write' } },
  { what: 'a token for another resource', fields: { target_resource: 'mail', audience: 'https://mail.example' } },
  { what: 'no expiry', fields: { expires_in: undefined } },
  { what: 'an expiry that is a text', fields: { expires_in: '600' } },
  { what: 'an expiry in the past', fields: { expires_in: -1 } },
  { what: 'an expiry that never comes', fields: { expires_in: 1e300 } },
  { what: 'a mode that there is not', fields: { communication_mode: 'always' } },
]
for (const { what, fields } of nonsense)
  test(`${what} is an answer that nobody expected, and is not kept`, async (t) => {
    const { exchangeForResource, says } = await openAssistant(t)
    says(fields)
    const asked = { ...wanted, scope: 'calendar.read' }
    await assert.rejects(exchangeForResource(asked), (error) => {
      return error instanceof CountersignError && error.code === 'unexpected_answer'
    })
    says()
    assert.equal((await exchangeForResource(asked)).accessToken, 'a.delegated.token')
  })

test('neither the secret nor the token follows where the service sends on to', async (t) => {
  const { exchangeForResource, issuer } = await openAssistant(t)
  const elsewhere = await startTokenIssuer()
  t.after(() => elsewhere.close())
  issuer.says(tokenPath, { status: 307, headers: { location: elsewhere.origin + tokenPath } })
  await assert.rejects(exchangeForResource(wanted), (error) => {
    assert.ok(error instanceof CountersignError && error.status === 307)
    assert.ok(!`${error.message}${error.stack}`.includes(wanted.subjectToken))
    return true
  })
  assert.deepEqual(elsewhere.asked, [])
})

test('a person is sent to the page on which they let the app act', () => {
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
