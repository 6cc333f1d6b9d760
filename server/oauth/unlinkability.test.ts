import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { TokenResponse } from '@countersign/protocol/oauth'
import { decodeJwt } from 'jose'
import { createWorld, type World } from '#testing/world.ts'

let world: World
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

/** Every value that stands anywhere in what an app gets, with the name that it stands under. */
function valuesIn(given: unknown, name = ''): string[] {
  if (isObject(given)) return Object.entries(given).flatMap(([key, value]) => valuesIn(value, key))
  return [`${name}=${String(given)}`]
}

async function everythingFrom(tokens: TokenResponse): Promise<Set<string>> {
  const headers = { authorization: `Bearer ${tokens.access_token}` }
  const claims = (await world.api.inject({ url: '/api/oauth/userinfo', headers })).json()
  const jwts = [tokens.access_token_jwt, tokens.id_token ?? ''].map((jwt) => decodeJwt(jwt))
  return new Set(valuesIn([tokens, claims, ...jwts]))
}

test('LOG-05 what an app gets of two names of one person has no more in common than of two strangers', async () => {
  const [ada, eve] = [await world.person(), await world.person()]
  const added = await world.api.inject({
    method: 'POST',
    url: '/api/identities',
    headers: ada.headers,
    payload: { handle: 'the-countess', displayName: 'The Countess' },
  })
  const { identityId } = added.json<{ identityId: string }>()
  const app = await world.app({ allowedScopes: ['openid', 'profile', 'offline_access', 'user_id'] })
  const first = await everythingFrom(await app.tokens(ada))
  const second = await everythingFrom(await app.tokens({ ...ada, identityId }))
  const stranger = await everythingFrom(await app.tokens(eve))
  const common = [...first].filter((value) => second.has(value))
  assert.ok(common.length > 0)
  assert.deepEqual(
    common.filter((value) => !stranger.has(value)),
    [],
  )

  const shared = { scope: 'openid user_id' }
  const told = [await app.tokens(ada, shared), await app.tokens({ ...ada, identityId }, shared)]
  assert.deepEqual(
    told.map(({ user_id }) => user_id),
    [ada.userId, ada.userId],
    'unless the person shares that too',
  )
})

test('LOG-05 an app that knows one name cannot ask about another', async () => {
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
