import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { TokenResponse } from '@countersign/protocol/oauth/authorize'
import { decodeJwt } from 'jose'
import { createConnectors } from '#testing/connectors.ts'
import { createWorld, postForm, type TestApp, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

/** Returns every value in an app's answers, with the name of its field. */
function valuesIn(given: unknown, name = ''): string[] {
  if (isObject(given)) return Object.entries(given).flatMap(([key, value]) => valuesIn(value, key))
  return [`${name}=${String(given)}`]
}

async function everythingFrom(app: TestApp, tokens: TokenResponse & { refresh_token: string }): Promise<Set<string>> {
  const headers = { authorization: `Bearer ${tokens.access_token}` }
  const claims = (await world.api.inject({ url: '/api/oauth/userinfo', headers })).json()
  const { access_token, access_token_jwt, refresh_token } = tokens
  const described = [access_token, access_token_jwt, refresh_token].map(async (token) =>
    (await postForm(world.api, '/api/oauth/introspect', { ...app.credentials, token })).json(),
  )
  const jwts = [tokens.access_token_jwt, tokens.id_token ?? ''].map((jwt) => decodeJwt(jwt))
  return new Set(valuesIn([tokens, claims, ...jwts, ...(await Promise.all(described))]))
}

/** A delay too long to be chance: any shared instant is then a link between the two apps. */
const aWhile = 7

test('LOG-05 two identities of one user have no more in common for an app than two strangers', async () => {
  const ada = await world.person()
  world.pass(aWhile)
  const eve = await world.person()
  world.pass(aWhile)
  const added = await world.api.inject({
    method: 'POST',
    url: '/api/identities',
    headers: ada.headers,
    payload: { handle: 'the-countess', displayName: 'The Countess' },
  })
  const { identityId } = added.json<{ identityId: string }>()
  const app = await world.app({ allowedScopes: ['openid', 'profile', 'offline_access', 'user_id'] })
  const [first, second, stranger] = [
    await everythingAfterAWhile(app, ada),
    await everythingAfterAWhile(app, { ...ada, identityId }),
    await everythingAfterAWhile(app, eve),
  ]
  const common = [...first].filter((value) => second.has(value))
  assert.ok(common.length > 0)
  assert.deepEqual(
    common.filter((value) => !stranger.has(value)),
    [],
  )

  // Any two answers share the app, the issuer and the like: no instant, and nothing about a user.
  assert.deepEqual(
    common.filter((value) => /^(auth_time|iat|exp|updated_at|sid|jti|sub)=/.test(value)),
    [],
  )

  const shared = { scope: 'openid user_id' }
  const received = [await app.tokens(ada, shared), await app.tokens({ ...ada, identityId }, shared)]
  assert.deepEqual(
    received.map(({ user_id }) => user_id),
    [ada.userId, ada.userId],
    'unless the user shares user_id too',
  )
})

async function everythingAfterAWhile(app: TestApp, person: { headers: Record<string, string>; identityId: string }) {
  world.pass(aWhile)
  return everythingFrom(app, await app.tokens(person))
}

test('LOG-05 FRS-08 auth_time is included for an app that sends max_age, in its ID token only', async () => {
  const person = await world.person()
  const authTime = Math.floor(world.now().getTime() / 1000)
  world.pass(aWhile)
  const app = await world.app()
  const plain = await everythingFrom(app, await app.tokens(person))
  assert.deepEqual(
    [...plain].filter((value) => value.endsWith(`=${authTime}`) && !value.startsWith('updated_at=')),
    [],
  )
  const requested = await app.tokens(person, { maxAge: 100 })
  assert.equal(decodeJwt(requested.id_token ?? '')['auth_time'], authTime)
  assert.equal(decodeJwt(requested.access_token_jwt)['auth_time'], undefined)
  const refreshed = (await app.refresh(requested.refresh_token)).json()
  assert.equal(decodeJwt(refreshed.id_token)['auth_time'], authTime)
  assert.equal(decodeJwt(refreshed.access_token_jwt)['auth_time'], undefined)
})

test('LOG-27 identities in separate sessions have different auth_time, also if apps request it', async () => {
  const ada = await world.person()
  const payload = { handle: 'in-another-session', displayName: 'In another session' }
  const added = await world.api.inject({ method: 'POST', url: '/api/identities', headers: ada.headers, payload })
  const { identityId } = added.json<{ identityId: string }>()
  const [one, two] = [await world.app(), await world.app({ requireAuthTime: true })]
  world.pass(aWhile)
  const headers = await ada.signIn()
  world.pass(aWhile)
  const received = [await one.tokens(ada, { maxAge: 86_400 }), await two.tokens({ ...ada, headers, identityId })]
  const [first, second] = received.map(({ id_token: idToken }) => decodeJwt(idToken ?? '')['auth_time'])
  assert.ok(typeof first === 'number' && typeof second === 'number')
  assert.equal(second - first, aWhile)
})

test('LOG-05 a resource token contains no auth_time, and user_present uses our own record', async () => {
  const notes = await createConnectors(world)
  const { person, subjectToken, exchange } = await notes.connected()
  assert.equal(decodeJwt(subjectToken)['auth_time'], undefined)
  world.pass(3599)
  const late = await notes.source.tokens(person)
  const { access_token: delegated } = (await exchange({ subject_token: late.access_token_jwt })).json()
  assert.equal(decodeJwt(delegated)['auth_time'], undefined)
  assert.equal(decodeJwt(delegated)['sid'], undefined)
  world.pass(1)
  const refused = (await exchange({ subject_token: late.access_token_jwt })).json()
  assert.equal(refused.error, 'invalid_grant', 'an hour after the last passkey use, even with a new token')
})

test('LOG-05 the ID of an identity does not reveal its creation time', async () => {
  const ada = await world.person()
  const payload = { handle: `made-together-${aWhile}`, displayName: 'Made together' }
  const added = await world.api.inject({ method: 'POST', url: '/api/identities', headers: ada.headers, payload })
  for (const id of [ada.identityId, added.json().identityId])
    assert.match(id, /^.{8}-.{4}-4/, 'a random UUID (RFC 9562)')
})

test('LOG-05 an app that knows one identity cannot find another of the same user', async () => {
  const ada = await world.person()
  const added = await world.api.inject({
    method: 'POST',
    url: '/api/identities',
    headers: ada.headers,
    payload: { handle: 'kept-apart', displayName: 'Kept Apart' },
  })
  const { identityId } = added.json<{ identityId: string }>()
  const app = await world.app()
  const { access_token } = await app.tokens(ada)
  for (const url of [
    '/api/identities',
    `/api/identities/${identityId}`,
    '/api/account/activity',
    '/api/account/export',
  ]) {
    const answer = await world.api.inject({ url, headers: { authorization: `Bearer ${access_token}` } })
    assert.equal(answer.statusCode, 401, url)
  }
})
