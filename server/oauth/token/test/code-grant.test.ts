import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createWorld, newChallenge, postToken, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const userinfo = (accessToken: string) =>
  world.api.inject({ url: '/api/oauth/userinfo', headers: { authorization: `Bearer ${accessToken}` } })

test('a code issues the tokens that its scope names, with the identity that signed in', async () => {
  const person = await world.person()
  const app = await world.app()
  const answer = await app.redeem(await app.code(person))
  const tokens = answer.json()
  assert.equal(answer.statusCode, 200)
  assert.equal(answer.headers['cache-control'], 'no-store')
  assert.equal(tokens.token_type, 'Bearer')
  assert.equal(tokens.expires_in, 3600)
  assert.equal(tokens.scope, 'openid profile offline_access')
  assert.match(tokens.access_token, /^cs_at_/)
  assert.match(tokens.refresh_token, /^cs_rt_/)
  assert.equal(tokens.id_token.split('.').length, 3)
  assert.deepEqual(tokens.user, {
    id: person.identityId,
    handle: person.handle,
    displayName: `The ${person.handle}`,
    avatarUrl: null,
  })
  assert.equal((await userinfo(tokens.access_token)).statusCode, 200)
  assert.equal((await userinfo(tokens.access_token_jwt)).statusCode, 200)
})

test('COD-18 tokens and names are issued only for scopes that allow them', async () => {
  const person = await world.person()
  const app = await world.app()
  const tokens = (await app.redeem(await app.code(person, { scope: '' }))).json()
  assert.equal(tokens.id_token, undefined)
  assert.equal(tokens.refresh_token, undefined)
  assert.deepEqual(tokens.user, { id: person.identityId })
})

test('COD-10 of sixteen concurrent redemptions exactly one succeeds', async () => {
  const person = await world.person()
  const app = await world.app()
  const code = await app.code(person)
  const answers = await Promise.all(Array.from({ length: 16 }, () => app.redeem(code)))
  const statuses = answers.map((answer) => answer.statusCode).toSorted()
  assert.deepEqual(statuses, [200, ...Array<number>(15).fill(400)])
  for (const answer of answers.filter(({ statusCode }) => statusCode === 400))
    assert.equal(answer.json().error, 'invalid_grant')
})

test('COD-11 a second redemption by the same client revokes the tokens of the first one', async () => {
  const person = await world.person()
  const app = await world.app()
  const code = await app.code(person)
  const tokens = (await app.redeem(code)).json()
  const other = await app.tokens(person)

  assert.equal((await app.redeem(code)).json().error, 'invalid_grant')
  assert.equal((await userinfo(tokens.access_token)).statusCode, 401)
  assert.equal((await userinfo(tokens.access_token_jwt)).statusCode, 401)
  assert.equal((await app.refresh(tokens.refresh_token)).json().error, 'invalid_grant')
  assert.equal((await userinfo(other.access_token)).statusCode, 200, 'another sign-in stays valid')
})

test('a replay revokes the tokens also after the code has expired', async () => {
  const person = await world.person()
  const app = await world.app()
  const code = await app.code(person)
  const tokens = (await app.redeem(code)).json()
  world.pass(90)
  assert.equal((await app.redeem(code)).statusCode, 400)
  assert.equal((await userinfo(tokens.access_token)).statusCode, 401)
})

test('COD-12 a replay by another client revokes nothing', async () => {
  const person = await world.person()
  const app = await world.app()
  const stranger = await world.app()
  const { verifier, challenge } = newChallenge()
  const code = await app.code(person, { codeChallenge: challenge })
  const tokens = (await app.redeem(code, { code_verifier: verifier })).json()

  const { client_id } = app.credentials
  const request = { grant_type: 'authorization_code', code, redirect_uri: app.redirectUri }
  await postToken(world.api, { ...request, client_id, code_verifier: newChallenge().verifier })
  await postToken(world.api, { ...request, client_id })
  await postToken(world.api, { ...request, ...stranger.credentials, code_verifier: verifier })
  assert.equal((await userinfo(tokens.access_token)).statusCode, 200)
})

const wrongs: Record<string, { fields: Record<string, string>; error: string; status: number }> = {
  'COD-03 another redirect URI': {
    fields: { redirect_uri: 'https://app.example/other' },
    error: 'invalid_grant',
    status: 400,
  },
  'COD-04 no redirect URI': { fields: { redirect_uri: '' }, error: 'invalid_request', status: 400 },
  'COD-05 another verifier': { fields: { code_verifier: 'w'.repeat(43) }, error: 'invalid_grant', status: 400 },
  'COD-06 the right secret but no verifier': { fields: { code_verifier: '' }, error: 'invalid_grant', status: 400 },
  'COD-09 the right verifier but a wrong secret': {
    fields: { client_secret: 'cs_wrong' },
    error: 'invalid_client',
    status: 401,
  },
  'COD-13 a verifier of 42 characters': {
    fields: { code_verifier: 'w'.repeat(42) },
    error: 'invalid_request',
    status: 400,
  },
  'COD-13 a verifier of 129 characters': {
    fields: { code_verifier: 'w'.repeat(129) },
    error: 'invalid_request',
    status: 400,
  },
}
for (const [what, { fields, error, status }] of Object.entries(wrongs))
  test(`${what} is rejected, and the correct redemption still succeeds`, async () => {
    const person = await world.person()
    const app = await world.app({ redirectUris: ['https://app.example/callback', 'https://app.example/other'] })
    const { verifier, challenge } = newChallenge()
    const code = await app.code(person, { codeChallenge: challenge })
    const answer = await app.redeem(code, { code_verifier: verifier, ...fields })
    assert.equal(answer.statusCode, status, answer.body)
    assert.equal(answer.json().error, error)
    assert.equal((await app.redeem(code, { code_verifier: verifier })).statusCode, 200)
  })

test('COD-01 a code is invalid for another client', async () => {
  const person = await world.person()
  const [app, thief] = [await world.app(), await world.app()]
  const code = await app.code(person)
  const stolen = await thief.redeem(code)
  assert.equal(stolen.json().error, 'invalid_grant')
  assert.equal((await app.redeem(code)).statusCode, 200)
})

test('COD-02 a code is valid for sixty seconds', async () => {
  const person = await world.person()
  const app = await world.app()
  const [young, old] = [await app.code(person), await app.code(person)]
  world.pass(59)
  assert.equal((await app.redeem(young)).statusCode, 200)
  world.pass(1)
  assert.equal((await app.redeem(old)).json().error, 'invalid_grant')
})

test('COD-06 the secret does not replace a verifier that the code requires', async () => {
  const person = await world.person()
  const app = await world.app()
  const code = await app.code(person, { codeChallenge: newChallenge().challenge })
  assert.equal((await app.redeem(code)).json().error, 'invalid_grant')
})

test('COD-07 a verifier without a stored challenge is rejected', async () => {
  const person = await world.person()
  const app = await world.app()
  const code = await app.code(person)
  assert.equal((await app.redeem(code, { code_verifier: newChallenge().verifier })).json().error, 'invalid_grant')
  assert.equal((await app.redeem(code)).statusCode, 200)
})

test('COD-08 a code without a challenge requires the secret, one with a challenge does not', async () => {
  const person = await world.person()
  const app = await world.app()
  const { client_id } = app.credentials
  const request = { grant_type: 'authorization_code', redirect_uri: app.redirectUri, client_id }
  const bare = await postToken(world.api, { ...request, code: await app.code(person) })
  assert.equal(bare.statusCode, 401)
  assert.equal(bare.json().error, 'invalid_client')

  const { verifier, challenge } = newChallenge()
  const code = await app.code(person, { codeChallenge: challenge })
  assert.equal((await postToken(world.api, { ...request, code, code_verifier: verifier })).statusCode, 200)
})

test('COD-14 a code that is cut, lengthened or in other case is invalid', async () => {
  const person = await world.person()
  const app = await world.app()
  const code = await app.code(person)
  for (const altered of [code.slice(0, -1), `${code}A`, code.toLowerCase(), encodeURIComponent(`${code}=`)])
    assert.equal((await app.redeem(altered)).json().error, 'invalid_grant')
  assert.equal((await app.redeem(code)).statusCode, 200)
})

test('COD-15 disconnecting the app invalidates its unredeemed code', async () => {
  const person = await world.person()
  const app = await world.app()
  const code = await app.code(person)
  const { authorizations } = (
    await world.api.inject({ url: '/api/oauth/authorizations', headers: person.headers })
  ).json()
  const [{ id }] = authorizations
  const gone = await world.api.inject({
    method: 'DELETE',
    url: `/api/oauth/authorizations/${id}`,
    headers: person.headers,
  })
  assert.equal(gone.statusCode, 204)
  assert.equal((await app.redeem(code)).json().error, 'invalid_grant')
})

test('COD-17 a scope that the app is no longer allowed is not issued', async () => {
  const person = await world.person()
  const app = await world.app()
  const code = await app.code(person)
  await world.api.inject({
    method: 'PATCH',
    url: `/api/admin/apps/${app.clientId}`,
    headers: world.admin,
    payload: { allowedScopes: ['openid', 'offline_access'] },
  })
  const tokens = (await app.redeem(code)).json()
  assert.equal(tokens.scope, 'openid offline_access')
  assert.deepEqual(tokens.user, { id: person.identityId })
})

test('COD-20 a code is rejected as refresh token, and a refresh token as code', async () => {
  const person = await world.person()
  const app = await world.app()
  const { refresh_token } = await app.tokens(person)
  assert.equal((await app.refresh(await app.code(person))).json().error, 'invalid_grant')
  assert.equal((await app.redeem(refresh_token)).json().error, 'invalid_grant')
})
