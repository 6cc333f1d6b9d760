import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { createWorld, newChallenge, postToken, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

test('TOK-11 TOK-13 a request of another content type, or on another host, consumes nothing', async () => {
  const app = await world.app()
  const code = await app.code(await world.person())
  const fields = { grant_type: 'authorization_code', code, redirect_uri: app.redirectUri, ...app.credentials }
  const payload = new URLSearchParams(fields).toString()
  const request = { method: 'POST', url: '/api/oauth/token', payload } as const
  for (const type of ['text/plain', 'multipart/form-data; boundary=x', 'application/xml'])
    assert.equal((await world.api.inject({ ...request, headers: { 'content-type': type } })).statusCode, 415, type)
  const untyped = await world.api.inject({ ...request, payload: Buffer.from(payload) })
  assert.ok([400, 415].includes(untyped.statusCode), 'a body of no type')
  assert.equal(untyped.json().access_token, undefined)
  const misdirected = await world.auth.inject({ ...request, payload: fields })
  assert.deepEqual([misdirected.statusCode, misdirected.json().error], [421, 'misdirected_request'])
  assert.equal((await app.redeem(code)).statusCode, 200)
})

test('TOK-19 only a page of a registered origin can read the answer, and none can send credentials', async () => {
  const app = await world.app()
  const from = async (origin: string) => {
    const { headers } = await postToken(world.api, { ...app.credentials, grant_type: 'refresh_token' }, { origin })
    return [headers['access-control-allow-origin'], headers['access-control-allow-credentials']]
  }
  assert.deepEqual(await from('https://app.example'), ['https://app.example', undefined])
  await world.app({ public: true, redirectUris: ['https://single-page.example/'] })
  assert.deepEqual(await from('https://single-page.example'), ['https://single-page.example', undefined])
  for (const origin of ['https://evil.example', 'null', 'https://single-page.example.evil.example'])
    assert.deepEqual(await from(origin), [undefined, undefined], origin)
  assert.deepEqual(await from('https://evil.example'), [undefined, undefined])
})

test('COD-05 five wrong verifiers do not invalidate a code for its own client', async () => {
  const app = await world.app()
  const { verifier, challenge } = newChallenge()
  const code = await app.code(await world.person(), { codeChallenge: challenge })
  for (let guesses = 0; guesses < 5; guesses += 1)
    assert.equal((await app.redeem(code, { code_verifier: newChallenge().verifier })).json().error, 'invalid_grant')
  assert.equal((await app.redeem(code, { code_verifier: verifier })).statusCode, 200)
})

test('COD-10 of 64 concurrent redemptions of one code one succeeds', async () => {
  const app = await world.app()
  const code = await app.code(await world.person())
  const answers = await Promise.all(Array.from({ length: 64 }, () => app.redeem(code)))
  assert.equal(answers.filter(({ statusCode }) => statusCode === 200).length, 1)
  for (const answer of answers.filter(({ statusCode }) => statusCode !== 200))
    assert.deepEqual([answer.statusCode, answer.json().error], [400, 'invalid_grant'])
})

test('COD-19 a nonce is in the ID token unchanged, and an omitted one stays omitted', async () => {
  const [person, app] = [await world.person(), await world.app()]
  const nonce = `n ${'ü%/'.repeat(40)}`
  assert.equal(decodeJwt((await app.tokens(person, { nonce })).id_token ?? '')['nonce'], nonce)
  assert.ok(!('nonce' in decodeJwt((await app.tokens(person)).id_token ?? '')))
})

test('OID-02 an empty parameter counts as omitted: scope, secret and verifier', async () => {
  const person = await world.person()
  const app = await world.app()
  const tokens = await app.tokens(person)
  const refreshed = (await app.refresh(tokens.refresh_token, { scope: '', resource: '' })).json()
  assert.equal(refreshed.scope, tokens.scope)
  assert.ok(refreshed.id_token)
  assert.match(refreshed.refresh_token, /^cs_rt_/)

  const withoutChallenge = await app.redeem(await app.code(person), { code_verifier: '' })
  assert.equal(withoutChallenge.statusCode, 200, withoutChallenge.body)
  const { verifier: code_verifier, challenge } = newChallenge()
  const byChallenge = await app.code(person, { codeChallenge: challenge })
  assert.equal((await app.redeem(byChallenge, { code_verifier, client_secret: '' })).statusCode, 200)
  const bare = await app.redeem(await app.code(person), { client_secret: '' })
  assert.deepEqual([bare.statusCode, bare.json().error], [401, 'invalid_client'])
  const asJson = await world.api.inject({
    method: 'POST',
    url: '/api/oauth/token',
    payload: { grantType: 'refresh_token', refreshToken: refreshed.refresh_token, scope: '', ...app.credentials },
  })
  assert.equal(asJson.json().scope, tokens.scope, asJson.body)
})

test('INJ-02 a form parameter under a name that every object has is ignored', async () => {
  const [person, app] = [await world.person(), await world.app()]
  const named = { constructor: 'x', toString: 'x', hasOwnProperty: 'x' }
  const answer = await app.redeem(await app.code(person), named)
  assert.equal(answer.statusCode, 200, answer.body)
})

test('OID-02 a public app may send an empty secret, in the body and in the header', async () => {
  const person = await world.person()
  const app = await world.app({ public: true })
  const redeemBy = async (fields: Record<string, string>, headers: Record<string, string> = {}) => {
    const { verifier: code_verifier, challenge } = newChallenge()
    const code = await app.code(person, { codeChallenge: challenge })
    const own = { grant_type: 'authorization_code', code, redirect_uri: app.redirectUri, code_verifier }
    return postToken(world.api, { ...own, ...fields }, headers)
  }
  const basic = (id: string) => ({ authorization: `Basic ${Buffer.from(`${id}:`).toString('base64')}` })
  assert.equal((await redeemBy({ client_id: app.clientId, client_secret: '' })).statusCode, 200)
  const byHeader = await redeemBy({}, basic(app.clientId))
  assert.equal(byHeader.statusCode, 200, byHeader.body)
  const refreshed = await postToken(
    world.api,
    { grant_type: 'refresh_token', refresh_token: byHeader.json().refresh_token, scope: '' },
    basic(app.clientId),
  )
  assert.equal(refreshed.statusCode, 200, refreshed.body)

  const confidential = await world.app()
  const code = await confidential.code(person)
  const own = { grant_type: 'authorization_code', code, redirect_uri: confidential.redirectUri }
  const refused = await postToken(world.api, own, basic(confidential.clientId))
  assert.deepEqual([refused.statusCode, refused.json().error], [401, 'invalid_client'])
  assert.match(String(refused.headers['www-authenticate']), /^Basic /)
})

test('REF-13 a narrower scope applies to one answer: the next refresh without scope has the whole grant', async () => {
  const [person, app] = [await world.person(), await world.app()]
  const { refresh_token: first } = await app.tokens(person)
  const narrow = (await app.refresh(first, { scope: 'openid offline_access' })).json()
  const wide = (await app.refresh(narrow.refresh_token, { scope: 'openid profile' })).json()
  assert.deepEqual([narrow.scope, wide.scope], ['openid offline_access', 'openid profile'])
})

test('JWT-04 an access JWT has a type and an audience that no app accepts for a sign-in', async () => {
  const [person, app] = [await world.person(), await world.app()]
  const { access_token_jwt: jwt } = await app.tokens(person)
  assert.equal(decodeProtectedHeader(jwt).typ, 'at+jwt')
  assert.deepEqual([decodeJwt(jwt).aud, decodeJwt(jwt).iss], ['http://localhost:4401', 'http://localhost:4401'])
})

test('CLK-04 a token is valid until the millisecond before its expiry', async () => {
  const app = await world.app({ accessTokenTtlSeconds: 60 })
  const { access_token: token } = await app.tokens(await world.person())
  const works = async () => {
    const headers = { authorization: `Bearer ${token}` }
    return (await world.api.inject({ url: '/api/oauth/userinfo', headers })).statusCode === 200
  }
  world.pass(59.999)
  assert.equal(await works(), true)
  world.pass(0.001)
  assert.equal(await works(), false)
})

test('an app has its configured lifetimes: of access and ID tokens, and of an unused refresh token', async () => {
  const app = await world.app({ accessTokenTtlSeconds: 120, refreshTokenTtlSeconds: 600 })
  const tokens = await app.tokens(await world.person())
  assert.equal(tokens.expires_in, 120)
  for (const jwt of [tokens.access_token_jwt, tokens.id_token ?? '']) {
    const { iat = 0, exp = 0 } = decodeJwt(jwt)
    assert.equal(exp - iat, 120)
  }
  world.pass(599)
  const rotated = (await app.refresh(tokens.refresh_token)).json()
  world.pass(600)
  assert.equal((await app.refresh(rotated.refresh_token)).json().error, 'invalid_grant')
})

test('JWT-10 disconnecting the app invalidates both forms of its access token', async () => {
  const [person, app] = [await world.person(), await world.app()]
  const tokens = await app.tokens(person)
  const url = '/api/oauth/authorizations'
  const { authorizations } = (await world.api.inject({ url, headers: person.headers })).json()
  await world.api.inject({ method: 'DELETE', url: `${url}/${authorizations[0].id}`, headers: person.headers })
  for (const token of [tokens.access_token, tokens.access_token_jwt]) {
    const headers = { authorization: `Bearer ${token}` }
    const answer = await world.api.inject({ url: '/api/oauth/userinfo', headers })
    assert.deepEqual([answer.statusCode, answer.json().error], [401, 'invalid_token'])
  }
})
