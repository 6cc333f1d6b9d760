import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { decodeJwt } from 'jose'
import { sql } from 'kysely'
import { createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const hour = 3600
const year = 365 * 24 * hour
const userinfo = async (accessToken: string) =>
  (await world.api.inject({ url: '/api/oauth/userinfo', headers: { authorization: `Bearer ${accessToken}` } }))
    .statusCode

test("CLK-01 all times are from the service's clock, whatever the database's clock says", async () => {
  const { rows: clocks } = await sql<{ now: Date }>`select now() as now`.execute(world.db)
  assert.ok(Math.abs(world.now().getTime() - (clocks[0]?.now.getTime() ?? 0)) > 24 * hour * 1000)
  const { rows: defaults } = await sql`
    select table_name, column_name from information_schema.columns
    where table_schema = 'public' and column_default ~* 'now|current|clock|timeofday'`.execute(world.db)
  assert.deepEqual(defaults, [])

  const [person, app] = await Promise.all([world.person(), world.app()])
  const [inTime, late] = [await app.code(person), await app.code(person)]
  world.pass(59)
  const tokens = await app.redeem(inTime)
  assert.equal(tokens.statusCode, 200)
  world.pass(1)
  assert.equal((await app.redeem(late)).json().error, 'invalid_grant')
  const { access_token: accessToken, expires_in: seconds } = tokens.json()
  world.pass(seconds - 2)
  assert.equal(await userinfo(accessToken), 200)
  world.pass(1)
  assert.equal(await userinfo(accessToken), 401)
})

test('CLK-03 a clock that steps an hour forward and back signs no user out and revokes nothing', async () => {
  const [person, app] = await Promise.all([world.person(), world.app()])
  const tokens = await app.tokens(person)
  world.pass(hour)
  assert.equal(await userinfo(tokens.access_token), 401)
  world.pass(-hour)
  assert.equal(await userinfo(tokens.access_token), 200)
  assert.equal((await app.refresh(tokens.refresh_token)).statusCode, 200)
  const session = await world.api.inject({ url: '/api/auth/session', headers: person.headers })
  assert.equal(session.statusCode, 200)
})

test('CLK-02 a used code or ended session stays so when the clock steps back', async () => {
  const [person, app] = await Promise.all([world.person(), world.app()])
  const code = await app.code(person)
  assert.equal((await app.redeem(code)).statusCode, 200)
  const tokens = await app.tokens(person)
  assert.equal((await app.redeem(code)).json().error, 'invalid_grant')
  world.pass(-hour)
  assert.equal((await app.redeem(code)).json().error, 'invalid_grant')
  assert.equal(await userinfo(tokens.access_token), 200, 'the other family stays active')
  world.pass(hour)
})

test('CLK-02 a token is dated by the clock of its issuer, also after a step back, and lasts no longer', async () => {
  const [person, app] = await Promise.all([world.person(), world.app()])
  const tokens = await app.tokens(person)
  world.pass(-hour)
  const refreshed = (await app.refresh(tokens.refresh_token)).json()
  for (const jwt of [refreshed.access_token_jwt, refreshed.id_token]) {
    const { iat = 0, exp = 0 } = decodeJwt(jwt)
    assert.equal(iat, world.now().getTime() / 1000)
    assert.ok(exp - iat <= hour, `${exp - iat} s`)
  }
  assert.equal(await userinfo(refreshed.access_token_jwt), 200)
  world.pass(hour)
})

test('CLK-05 a user signs in and stays connected past the year 2038', async () => {
  world.pass(10 * year)
  const [person, app] = await Promise.all([world.person(), world.app()])
  const tokens = await app.tokens(person)
  assert.equal(await userinfo(tokens.access_token), 200)
  assert.equal((await app.refresh(tokens.refresh_token)).statusCode, 200)
  await person.signIn()
})
