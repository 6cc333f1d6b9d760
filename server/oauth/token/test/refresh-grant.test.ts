import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, test } from 'node:test'
import type { TokenResponse } from '@countersign/protocol/oauth/authorize'
import { decodeJwt } from 'jose'
import { sql } from 'kysely'
import { createWorld, postForm, postToken, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const userinfo = (accessToken: string) =>
  world.api.inject({ url: '/api/oauth/userinfo', headers: { authorization: `Bearer ${accessToken}` } })

async function signedIn() {
  const person = await world.person()
  const app = await world.app()
  return { person, app, tokens: await app.tokens(person) }
}

test('a refresh issues new tokens and consumes the old one', async () => {
  const { app, tokens } = await signedIn()
  const rotated = (await app.refresh(tokens.refresh_token)).json()
  assert.notEqual(rotated.refresh_token, tokens.refresh_token)
  assert.equal(rotated.scope, tokens.scope)
  assert.equal((await userinfo(rotated.access_token)).statusCode, 200)
  assert.equal((await app.refresh(rotated.refresh_token)).statusCode, 200)
})

const parallel = 32

test(`REF-03 of ${parallel} parallel refreshes all get tokens, and the family continues from one of them`, async () => {
  const person = await world.person()
  const app = await world.app()
  for (let round = 0; round < 8; round += 1) {
    const families = await Promise.all([1, 2, 3, 4].map(() => app.tokens(person)))
    const generations = await Promise.all(
      families.map(async ({ refresh_token }) => {
        const answers = await Promise.all(Array.from({ length: parallel }, () => app.refresh(refresh_token)))
        for (const answer of answers) assert.equal(answer.statusCode, 200, answer.body)
        return answers.map((answer) => answer.json<TokenResponse & { refresh_token: string }>())
      }),
    )
    const presented = generations.map((siblings) => siblings[round % parallel]?.refresh_token ?? '')
    assert.equal(new Set(generations.flat().map((each) => each.refresh_token)).size, families.length * parallel)
    const heirs = await Promise.all(presented.map((token) => app.refresh(token)))
    for (const heir of heirs) assert.equal(heir.statusCode, 200, heir.body)

    world.pass(10)
    const [siblings = [], ...others] = generations
    const late = await Promise.all(siblings.map(({ refresh_token }) => app.refresh(refresh_token)))
    for (const answer of late) assert.equal(answer.json().error, 'invalid_grant')
    assert.equal((await app.refresh(heirs[0]?.json().refresh_token)).json().error, 'invalid_grant')
    for (const { access_token } of siblings) assert.equal((await userinfo(access_token)).statusCode, 401)
    for (const [nth] of others.entries())
      assert.equal((await app.refresh(heirs[nth + 1]?.json().refresh_token)).statusCode, 200, 'no other family')
  }
})

test('REF-14 the last rotated token may be repeated for ten seconds by its own client', async () => {
  const { app, tokens } = await signedIn()
  const first = (await app.refresh(tokens.refresh_token)).json()
  world.pass(9)
  const again = await app.refresh(tokens.refresh_token)
  assert.equal(again.statusCode, 200)
  assert.equal((await app.refresh(first.refresh_token)).statusCode, 200)
})

test('REF-14 another client within the ten seconds gets nothing and revokes nothing', async () => {
  const { app, tokens } = await signedIn()
  const thief = await world.app()
  const rotated = (await app.refresh(tokens.refresh_token)).json()
  assert.equal((await thief.refresh(tokens.refresh_token)).json().error, 'invalid_grant')
  const dressedUp = { client_id: app.clientId, client_secret: thief.clientSecret }
  assert.equal((await app.refresh(tokens.refresh_token, dressedUp)).json().error, 'invalid_client')
  assert.equal((await userinfo(rotated.access_token)).statusCode, 200)
  assert.equal((await app.refresh(tokens.refresh_token)).statusCode, 200, 'its own client still can')
  assert.equal((await app.refresh(rotated.refresh_token)).statusCode, 200)
})

test('REF-14 repeating a token after ten seconds is reuse and revokes its token family', async () => {
  const { app, tokens } = await signedIn()
  const rotated = (await app.refresh(tokens.refresh_token)).json()
  world.pass(9.999)
  const again = (await app.refresh(tokens.refresh_token)).json()
  world.pass(0.001)
  assert.equal((await app.refresh(tokens.refresh_token)).json().error, 'invalid_grant')
  for (const { access_token, refresh_token } of [rotated, again]) {
    assert.equal((await userinfo(access_token)).statusCode, 401)
    assert.equal((await app.refresh(refresh_token)).json().error, 'invalid_grant')
  }
})

test('using one successor consumes its siblings, which have the same grace period', async () => {
  const { app, tokens } = await signedIn()
  const [one, two] = [
    (await app.refresh(tokens.refresh_token)).json(),
    (await app.refresh(tokens.refresh_token)).json(),
  ]
  assert.equal((await app.refresh(one.refresh_token)).statusCode, 200)
  world.pass(5)
  assert.equal((await app.refresh(two.refresh_token)).statusCode, 200)
  world.pass(6)
  assert.equal((await app.refresh(two.refresh_token)).json().error, 'invalid_grant')
})

test('REF-01 REF-02 reusing a refresh token after the grace period revokes its token family only', async () => {
  const { person, app, tokens } = await signedIn()
  const otherDevice = await app.tokens(person)
  const rotated = (await app.refresh(tokens.refresh_token)).json()
  world.pass(10)

  assert.equal((await app.refresh(tokens.refresh_token)).json().error, 'invalid_grant')
  assert.equal((await app.refresh(rotated.refresh_token)).json().error, 'invalid_grant')
  assert.equal((await userinfo(rotated.access_token)).statusCode, 401)
  assert.equal((await userinfo(tokens.access_token)).statusCode, 401)
  assert.equal((await app.refresh(otherDevice.refresh_token)).statusCode, 200)
})

test('REF-04 a token of an earlier generation revokes the token family even within the ten seconds', async () => {
  const { app, tokens } = await signedIn()
  const second = (await app.refresh(tokens.refresh_token)).json()
  const third = (await app.refresh(second.refresh_token)).json()
  assert.equal((await app.refresh(tokens.refresh_token)).json().error, 'invalid_grant')
  assert.equal((await app.refresh(third.refresh_token)).json().error, 'invalid_grant')
})

test('REF-04 reusing one token revokes the tokens of all generations of its family, and no other family', async () => {
  const { person, app, tokens } = await signedIn()
  const other = await app.tokens(person)
  const all = [tokens]
  for (let generation = 0; generation < 4; generation += 1) {
    const latest = all.at(-1)?.refresh_token ?? ''
    all.push((await app.refresh(latest)).json(), (await app.refresh(latest)).json())
  }
  assert.equal((await app.refresh(all[1]?.refresh_token ?? '')).json().error, 'invalid_grant')
  for (const { access_token, refresh_token } of all) {
    assert.equal((await userinfo(access_token)).statusCode, 401)
    assert.equal((await app.refresh(refresh_token)).json().error, 'invalid_grant')
  }
  assert.equal((await userinfo(other.access_token)).statusCode, 200)
})

test('a token similar to an old one revokes nothing', async () => {
  const { app, tokens } = await signedIn()
  const { refresh_token: stranger } = (await signedIn()).tokens
  const mixed = tokens.refresh_token.slice(0, 40) + stranger.slice(40)
  assert.equal((await app.refresh(mixed)).json().error, 'invalid_grant')
  assert.equal((await app.refresh(tokens.refresh_token)).statusCode, 200)
})

test('REF-06 another client can neither use a token nor revoke its token family', async () => {
  const { app, tokens } = await signedIn()
  const thief = await world.app()
  assert.equal((await thief.refresh(tokens.refresh_token)).json().error, 'invalid_grant')
  const rotated = (await app.refresh(tokens.refresh_token)).json()
  world.pass(30)
  assert.equal((await thief.refresh(tokens.refresh_token)).json().error, 'invalid_grant')
  assert.equal((await app.refresh(rotated.refresh_token)).statusCode, 200)
})

test('REF-10 a confidential app refreshes only with its secret, a public one without', async () => {
  const { app, tokens } = await signedIn()
  const { client_id } = app.credentials
  const bare = await postToken(world.api, {
    grant_type: 'refresh_token',
    refresh_token: tokens.refresh_token,
    client_id,
  })
  assert.equal(bare.statusCode, 401)
  assert.equal(bare.json().error, 'invalid_client')
  assert.equal((await app.refresh(tokens.refresh_token)).statusCode, 200)
})

test('REF-09 a narrower scope applies to that answer, a wider one is rejected', async () => {
  const { person, app } = await signedIn()
  const tokens = await app.tokens(person, { scope: 'openid profile offline_access' })
  const narrow = (await app.refresh(tokens.refresh_token, { scope: 'openid offline_access' })).json()
  assert.equal(narrow.scope, 'openid offline_access')
  assert.equal((await userinfo(narrow.access_token)).json().name, undefined)
  assert.equal((await app.refresh(narrow.refresh_token)).json().scope, 'openid profile offline_access')

  const limited = await app.tokens(person, { scope: 'openid offline_access' })
  assert.equal((await app.refresh(limited.refresh_token, { scope: 'openid profile' })).json().error, 'invalid_scope')
  assert.equal((await app.refresh(limited.refresh_token)).statusCode, 200, 'the rejected request consumed nothing')
})

test('REF-09 refreshed tokens omit a scope that the app has lost, until it is allowed again', async () => {
  const { app, tokens } = await signedIn()
  const allow = (allowedScopes: string[]) =>
    world.api.inject({
      method: 'PATCH',
      url: `/api/admin/apps/${app.clientId}`,
      headers: world.admin,
      payload: { allowedScopes },
    })
  await allow(['openid', 'offline_access'])
  const less = (await app.refresh(tokens.refresh_token)).json()
  assert.equal(less.scope, 'openid offline_access')
  assert.equal((await userinfo(less.access_token)).json().name, undefined)
  assert.equal(decodeJwt(less.id_token)['name'], undefined)
  assert.equal(decodeJwt(less.access_token_jwt)['scope'], 'openid offline_access')
  const wider = await app.refresh(less.refresh_token, { scope: 'openid profile' })
  assert.doesNotMatch(String(wider.json().scope), /profile/)
})

test('REF-09 REF-13 a refresh narrowed without offline_access keeps the refresh token and its scope', async () => {
  const { person, app } = await signedIn()
  const granted = 'openid profile offline_access'
  let { refresh_token: token } = await app.tokens(person, { scope: granted })
  for (const scope of ['openid', 'openid profile', 'profile']) {
    const narrow = (await app.refresh(token, { scope })).json()
    assert.equal(narrow.scope, scope)
    assert.match(narrow.refresh_token ?? '', /^cs_rt_/, scope)
    world.pass(11)
    const whole = (await app.refresh(narrow.refresh_token)).json()
    assert.equal(whole.scope, granted, 'the whole grant is available again')
    token = whole.refresh_token
  }
  const introspected = await postForm(world.api, '/api/oauth/introspect', { ...app.credentials, token })
  assert.equal(introspected.json().scope, granted)
})

test('OID-01 a refresh omits a requested scope that was not granted, and rejects one never requested', async () => {
  const person = await world.person()
  const app = await world.app({ allowedScopes: ['openid', 'profile', 'email', 'offline_access', 'user_id'] })
  const requested = { scope: 'openid offline_access', withheldScope: 'email' }
  const { refresh_token: token } = await app.tokens(person, requested)
  const again = (await app.refresh(token, { scope: 'openid email offline_access' })).json()
  assert.equal(again.scope, 'openid offline_access')
  assert.equal((await userinfo(again.access_token)).json().email, undefined)

  const refused = async (scope: string) => (await app.refresh(again.refresh_token, { scope })).json()
  assert.deepEqual(await refused('openid user_id'), {
    error: 'invalid_scope',
    error_description: "scope contains 'user_id', which was not requested at authorization.",
  })
  assert.equal((await refused('email')).error, 'invalid_scope', 'no scope would remain')
  assert.equal((await refused('unheard-of')).error, 'invalid_scope')
  assert.equal((await app.refresh(again.refresh_token)).statusCode, 200, 'the rejected request consumed nothing')
})

test('OID-01 scopes of a pushed request count as requested, whatever the page omits', async () => {
  const person = await world.person()
  const app = await world.app({ allowedScopes: ['openid', 'email', 'offline_access'] })
  const fields = {
    ...app.credentials,
    response_type: 'code',
    redirect_uri: app.redirectUri,
    scope: 'openid email offline_access',
  }
  const { request_uri: requestUri } = (await postForm(world.api, '/api/oauth/par', fields)).json()
  const tokens = await app.tokens(person, { scope: 'openid offline_access', requestUri })
  assert.equal(tokens.scope, 'openid offline_access')
  const again = await app.refresh(tokens.refresh_token, { scope: 'openid email offline_access' })
  assert.equal(again.json().scope, 'openid offline_access', again.body)
})

test('REF-11 a refresh token expires after thirty days without use, and after 180 days in any case', async () => {
  const { app, tokens } = await signedIn()
  const day = 24 * 3600
  let { refresh_token: token } = tokens
  for (let days = 0; days < 174; days += 29) {
    world.pass(29 * day)
    token = (await app.refresh(token)).json().refresh_token
    assert.ok(token, `after ${days + 29} days`)
  }
  world.pass(7 * day)
  assert.equal((await app.refresh(token)).json().error, 'invalid_grant')

  const idle = await signedIn()
  world.pass(30 * day)
  assert.equal((await idle.app.refresh(idle.tokens.refresh_token)).json().error, 'invalid_grant')
})

test('REF-12 a refreshed ID token keeps subject, audience and auth_time, and has no nonce', async () => {
  const person = await world.person()
  const app = await world.app()
  const signedInAt = Math.floor(world.now().getTime() / 1000)
  const tokens = await app.tokens(person, { nonce: 'n-0S6_WzA2Mj', maxAge: 10 })
  const before = decodeJwt(tokens.id_token ?? '')
  world.pass(120)
  const after = decodeJwt((await app.refresh(tokens.refresh_token)).json().id_token)
  assert.equal(before['nonce'], 'n-0S6_WzA2Mj')
  assert.equal(before['auth_time'], signedInAt)
  assert.deepEqual(
    { iss: after.iss, sub: after.sub, aud: after.aud, auth_time: after['auth_time'], nonce: after['nonce'] },
    { iss: before.iss, sub: before.sub, aud: before.aud, auth_time: before['auth_time'], nonce: undefined },
  )
  assert.equal((after.iat ?? 0) - (before.iat ?? 0), 120)

  const plain = await app.tokens(person, { scope: 'profile offline_access' })
  assert.equal(plain.id_token, undefined)
  assert.equal(
    (await app.refresh(plain.refresh_token)).json().id_token,
    undefined,
    'without openid there is no ID token',
  )
})

test(`REF-05 REF-08 no token stays valid after a disconnection during ${parallel} concurrent uses`, async () => {
  const person = await world.person()
  const app = await world.app()
  const authorizations = async () =>
    (await world.api.inject({ url: '/api/oauth/authorizations', headers: person.headers })).json().authorizations
  let before = 0
  let after = 0
  for (let round = 0; round < 24; round += 1) {
    const tokens = await app.tokens(person)
    const [{ id }] = await authorizations()
    const url = `/api/oauth/authorizations/${id}`
    const refreshes = Array.from({ length: parallel }, () => app.refresh(tokens.refresh_token))
    // In every fourth round it comes first, otherwise after so many answers.
    await Promise.all(refreshes.slice(0, round % 4))
    const disconnected = await world.api.inject({ method: 'DELETE', url, headers: person.headers })
    assert.equal(disconnected.statusCode, 204)
    const answers = await Promise.all(refreshes)
    const rotated = answers.filter(({ statusCode }) => statusCode === 200).map((answer) => answer.json())
    before += rotated.length
    after += parallel - rotated.length
    const checks = [tokens, ...rotated].map(async ({ access_token, refresh_token }) => {
      assert.equal((await userinfo(access_token)).statusCode, 401)
      assert.equal((await app.refresh(refresh_token)).json().error, 'invalid_grant')
    })
    await Promise.all(checks)
    assert.deepEqual(await authorizations(), [])
  }
  assert.ok(before > 0 && after > 0, `${before} refreshes came before the disconnect, ${after} after it`)
})

test('REF-15 no table stores a token, a code or a secret in clear, only their SHA-256', async () => {
  const { app, person, tokens } = await signedIn()
  const [code, spent] = [await app.code(person), await app.code(person)]
  await app.redeem(spent)
  const secrets = [tokens.access_token, tokens.refresh_token, tokens.access_token_jwt, code, spent, person.sessionToken]
  const dump: string[] = []
  for (const { name } of await world.db.introspection.getTables()) {
    const { rows } = await sql.raw<{ text: string }>(`select whole::text as text from ${name} whole`).execute(world.db)
    dump.push(...rows.map(({ text }) => text))
  }
  const whole = dump.join('\n')
  assert.ok(whole.includes(app.clientId), 'the search finds stored hashes')
  for (const secret of [...secrets, app.clientSecret])
    for (const form of ['utf8', 'base64url'] as const) {
      const part = Buffer.from(secret.slice(-40), form).toString('hex')
      assert.ok(!whole.includes(secret.slice(-40)) && !whole.includes(part), `${secret.slice(0, 8)} as ${form}`)
    }
  for (const secret of [...secrets, app.clientSecret])
    assert.ok(/\.|_[\w-]{43,}$/.test(secret), `${secret.slice(0, 8)} has 256 bits`)
  assert.ok(whole.includes(createHash('sha256').update(tokens.refresh_token).digest('hex')))
})
