import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { pruneSessions } from '#accounts/sessions/session.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'
import { pruneTokens } from '#tokens/families/family.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const day = 24 * 3600
const userinfo = (accessToken: string) =>
  world.api.inject({ url: '/api/oauth/userinfo', headers: { authorization: `Bearer ${accessToken}` } })

test('pruning deletes ended tokens in small batches and keeps live ones', async () => {
  const person = await world.person()
  const app = await world.app()
  for (let unredeemed = 0; unredeemed < 5; unredeemed += 1) await app.code(person)
  const live = await app.tokens(person)
  world.pass(61)
  assert.equal(await pruneTokens(world.db, world.now(), 2), 2)
  assert.equal(await pruneTokens(world.db, world.now(), 500), 3)
  assert.equal(await pruneTokens(world.db, world.now(), 500), 0)
  assert.equal((await userinfo(live.access_token)).statusCode, 200)

  world.pass(3600)
  assert.equal(await pruneTokens(world.db, world.now(), 500), 1, 'the access token')
  assert.equal((await app.refresh(live.refresh_token)).statusCode, 200)
})

test('STO-15 cleanup keeps a token whose reuse must still be detected', async () => {
  const person = await world.person()
  const app = await world.app()
  const first = await app.tokens(person)
  world.pass(10 * day)
  const second = (await app.refresh(first.refresh_token)).json()
  world.pass(19 * day)
  await pruneTokens(world.db, world.now(), 500)
  assert.equal((await app.refresh(first.refresh_token)).json().error, 'invalid_grant')
  assert.equal((await app.refresh(second.refresh_token)).json().error, 'invalid_grant', 'the token family is revoked')
})

test('cleanup deletes a session after its absolute end', async () => {
  await world.person()
  world.pass(91 * day)
  const person = await world.person()
  assert.ok((await pruneSessions(world.db, world.now(), 500)) >= 1)
  const { statusCode } = await world.api.inject({ url: '/api/auth/session', headers: person.headers })
  assert.equal(statusCode, 200)
})
