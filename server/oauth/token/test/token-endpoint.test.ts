import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createConnectors, exchangeGrant } from '#testing/connectors.ts'
import { createWorld, newChallenge, postToken, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const json = { 'content-type': 'application/json' }
const basic = (id: string, secret: string) =>
  `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')}`

test('TOK-01 TOK-02 an unknown, empty or missing grant type returns its own error', async () => {
  const { credentials } = await world.app()
  assert.equal(
    (await postToken(world.api, { grant_type: 'password', ...credentials })).json().error,
    'unsupported_grant_type',
  )
  assert.equal((await postToken(world.api, { grant_type: '', ...credentials })).json().error, 'invalid_request')
  assert.equal((await postToken(world.api, credentials)).json().error, 'invalid_request')
})

test('an invented grant type returns its own error', async () => {
  const { credentials } = await world.app()
  const grant_type = 'urn:ietf:params:oauth:grant-type:device_code'
  assert.equal((await postToken(world.api, { grant_type, ...credentials })).json().error, 'unsupported_grant_type')
})

test('TOK-03 TOK-04 an unknown client and a wrong secret return the same answer', async () => {
  const app = await world.app()
  const request = { grant_type: 'refresh_token', refresh_token: 'cs_rt_x' }
  const wrong = await postToken(world.api, { ...request, client_id: app.clientId, client_secret: 'cs_wrong' })
  const unknown = await postToken(world.api, { ...request, client_id: 'app_unknown', client_secret: 'cs_wrong' })
  assert.equal(wrong.statusCode, 401)
  assert.deepEqual(wrong.json(), unknown.json())
  assert.equal(wrong.json().error, 'invalid_client')
  const byHeader = await postToken(world.api, request, { authorization: basic(app.clientId, 'cs_wrong') })
  assert.equal(byHeader.statusCode, 401)
  assert.match(String(byHeader.headers['www-authenticate']), /^Basic/)
})

test('TOK-05 credentials in both header and body are rejected', async () => {
  const app = await world.app()
  const answer = await postToken(
    world.api,
    { grant_type: 'refresh_token', refresh_token: 'cs_rt_x', ...app.credentials },
    { authorization: basic(app.clientId, app.clientSecret) },
  )
  assert.equal(answer.statusCode, 400)
  assert.equal(answer.json().error, 'invalid_request')
})

test('the client secret is accepted in the header too', async () => {
  const app = await world.app()
  const code = await app.code(await world.person())
  const answer = await postToken(
    world.api,
    { grant_type: 'authorization_code', code, redirect_uri: app.redirectUri },
    { authorization: basic(app.clientId, app.clientSecret) },
  )
  assert.equal(answer.statusCode, 200, answer.body)
})

test('TOK-07 both spellings are rejected with different values and accepted with equal ones', async () => {
  const app = await world.app()
  const [one, two] = [await app.code(await world.person()), await app.code(await world.person())]
  assert.equal((await app.redeem(one, { clientId: 'app_other' })).json().error, 'invalid_request')
  assert.equal((await app.redeem(one, { grantType: 'refresh_token' })).json().error, 'invalid_request')
  assert.equal((await app.redeem(two, { clientId: app.clientId, redirectUri: app.redirectUri })).statusCode, 200)
})

test('TOK-08 the legacy spelling alone works, as a form and as JSON, for both grants', async () => {
  const app = await world.app()
  const person = await world.person()
  const { verifier, challenge } = newChallenge()
  for (const asJson of [true, false]) {
    const send = (fields: Record<string, string>) =>
      asJson
        ? world.api.inject({ method: 'POST', url: '/api/oauth/token', headers: json, payload: JSON.stringify(fields) })
        : postToken(world.api, fields)
    const code = await app.code(person, { codeChallenge: challenge })
    const redeemed = await send({
      grantType: 'authorization_code',
      code,
      clientId: app.clientId,
      redirectUri: app.redirectUri,
      codeVerifier: verifier,
    })
    assert.equal(redeemed.statusCode, 200, redeemed.body)
    const refreshed = await send({
      grantType: 'refresh_token',
      refreshToken: redeemed.json().refresh_token,
      clientId: app.clientId,
      clientSecret: app.clientSecret,
    })
    assert.equal(refreshed.statusCode, 200, refreshed.body)
  }
})

test('TOK-10 only POST is accepted, and the code stays unused', async () => {
  const app = await world.app()
  const code = await app.code(await world.person())
  const query = new URLSearchParams({ grant_type: 'authorization_code', code, ...app.credentials })
  for (const method of ['GET', 'PUT', 'HEAD'] as const) {
    const answer = await world.api.inject({ method, url: `/api/oauth/token?${query}` })
    assert.equal(answer.statusCode, 405)
    assert.equal(answer.headers.allow, 'POST')
  }
  assert.equal((await app.redeem(code)).statusCode, 200)
})

test('TOK-14 success and error answers are JSON and not cacheable', async () => {
  const app = await world.app()
  const fields = { grant_type: 'refresh_token', refresh_token: 'x', client_id: app.clientId }
  const url = '/api/oauth/token'
  const answers = [
    await app.redeem(await app.code(await world.person())),
    await app.redeem('cs_code_x'),
    await postToken(world.api, {}),
    await postToken(world.api, { ...fields, client_secret: 'cs_wrong' }),
    await postToken(world.api, fields, { authorization: 'Basic' }),
    await world.api.inject({ url }),
    await world.api.inject({ method: 'POST', url, payload: 'a=b', headers: { 'content-type': 'text/plain' } }),
    await world.api.inject({ method: 'POST', url, payload: '{', headers: json }),
    await world.api.inject({ method: 'POST', url, payload: JSON.stringify('a'.repeat(1024 ** 2)), headers: json }),
  ]
  assert.deepEqual(
    answers.map(({ statusCode }) => statusCode),
    [200, 400, 400, 401, 401, 405, 415, 400, 413],
  )
  for (const { headers } of answers.slice(0, 2)) assert.equal(headers.pragma, 'no-cache')
  for (const { headers } of answers) {
    assert.equal(headers['cache-control'], 'no-store')
    assert.match(String(headers['content-type']), /^application\/json/)
    assert.equal(headers['x-content-type-options'], 'nosniff')
  }
})

test('a public app that sends a secret is rejected', async () => {
  const app = await world.app({ public: true })
  assert.equal((await app.refresh('cs_rt_x', { client_secret: 'cs_any' })).json().error, 'invalid_client')
})

test('TOK-18 every app has the code and refresh grants, and a public one no token exchange', async () => {
  const discovery = (await world.auth.inject({ url: '/.well-known/openid-configuration' })).json()
  assert.deepEqual(discovery.grant_types_supported, ['authorization_code', 'refresh_token', exchangeGrant])
  const schema = (await world.api.inject({ url: '/openapi.json' })).body
  assert.doesNotMatch(schema, /"grant_?types"/i, 'no app is registered with fewer grants')

  const notes = await createConnectors(world)
  const { subjectToken } = await notes.connected()
  const open = await world.app({ public: true })
  const refused = await notes.exchange(subjectToken, {}, open)
  assert.deepEqual([refused.statusCode, refused.json().error], [400, 'unauthorized_client'])
  assert.equal(refused.json().access_token, undefined)
  assert.equal((await notes.exchange(subjectToken)).statusCode, 200)
})

test('TOK-20 guessed secrets are rate limited, and the app itself is not locked out', async (t) => {
  const limited = await createWorld({ rateLimits: true })
  t.after(() => limited.close())
  const app = await limited.app()
  const person = await limited.person()
  const guess = () =>
    postToken(limited.api, {
      grant_type: 'refresh_token',
      refresh_token: 'x',
      client_id: app.clientId,
      client_secret: 'cs_guess',
    })
  const statuses: number[] = []
  for (let tries = 0; tries < 40; tries += 1) statuses.push((await guess()).statusCode)
  assert.equal(statuses[0], 401)
  assert.equal(statuses.at(-1), 429)
  const refused = await guess()
  assert.equal(refused.json().error, 'rate_limited')
  assert.ok(Number(refused.headers['retry-after']) > 0)

  const fields = {
    grant_type: 'authorization_code',
    code: await app.code(person),
    redirect_uri: app.redirectUri,
    ...app.credentials,
  }
  const elsewhere = await limited.api.inject({
    method: 'POST',
    url: '/api/oauth/token',
    remoteAddress: '203.0.113.9',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams(fields).toString(),
  })
  assert.equal(elsewhere.statusCode, 200, elsewhere.body)
})

for (const kind of ['public', 'confidential'] as const)
  test(`GRW-27 failures of one caller of a ${kind} app do not rate limit other callers`, async (t) => {
    const limited = await createWorld({ rateLimits: true })
    t.after(() => limited.close())
    const app = await limited.app({ public: kind === 'public' })
    const fail = (remoteAddress: string, fields: Record<string, string>) =>
      limited.api.inject({
        method: 'POST',
        url: '/api/oauth/token',
        remoteAddress,
        payload: { grant_type: 'refresh_token', refresh_token: 'cs_refresh_none', ...fields },
      })
    const strange = { client_id: app.clientId }
    for (let nth = 0; nth < 70; nth += 1)
      assert.notEqual((await fail(`198.51.100.${nth}`, strange)).statusCode, 429, `the address ${nth}`)
    const expired = await fail('203.0.113.9', app.credentials)
    assert.deepEqual([expired.statusCode, expired.json().error], [400, 'invalid_grant'])

    const networks = ['2001:db8:1:1::1', '2001:db8:1:2::1', '203.0.113.50']
    for (const address of networks.slice(1)) {
      const statuses: number[] = []
      for (let nth = 0; nth < 62; nth += 1) statuses.push((await fail(address, strange)).statusCode)
      assert.equal(statuses.at(-1), 429, 'one address gets sixty attempts a minute')
    }
    assert.equal((await fail(networks[0] ?? '', strange)).statusCode, 429, 'all networks of a site count together')
    assert.equal((await fail('203.0.113.9', app.credentials)).json().error, 'invalid_grant')
  })

test('GRW-58 token exchanges of a user without a delegation do not rate limit other users of the app', async (t) => {
  const limited = await createWorld({ rateLimits: true })
  t.after(() => limited.close())
  const notes = await createConnectors(limited)
  const { subjectToken } = await notes.connected()
  const { access_token_jwt: unconnected } = await notes.source.tokens(await limited.person())
  const outcomeOf = async (answer: ReturnType<typeof notes.exchange>) => (await answer).json().error
  for (let nth = 0; nth < 22; nth += 1) {
    assert.equal(await outcomeOf(notes.exchange(unconnected)), 'access_denied')
    assert.equal(await outcomeOf(notes.exchange(subjectToken, { resource: 'nothing' })), 'invalid_target')
    assert.equal(await outcomeOf(notes.exchange(subjectToken, { scope: 'notes.write' })), 'invalid_scope')
  }
  assert.equal(await outcomeOf(notes.source.refresh('cs_rt_x')), 'invalid_grant')

  for (let nth = 0; nth < 60; nth += 1) await notes.exchange(`${subjectToken}x`)
  assert.equal(await outcomeOf(notes.exchange(`${subjectToken}x`)), 'rate_limited', 'an invalid subject token counts')
})
