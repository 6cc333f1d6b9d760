import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const post = (url: string, payload: object) => world.api.inject({ method: 'POST', url, payload })

test('SGN-62 a username is available exactly if a registration would take it now', async () => {
  const person = await world.person()
  const free = `free-${randomBytes(6).toString('hex')}`
  for (const [handle, available] of [
    [free, true],
    [person.handle, false],
    [person.handle.toUpperCase(), false],
    ['admin', false],
  ] as const) {
    assert.deepEqual((await post('/api/auth/register/available', { handle })).json(), { available }, handle)
    const started = await post('/api/auth/register/start', { handle, displayName: 'Someone' })
    assert.equal(started.statusCode === 200, available, handle)
  }
  assert.equal((await post('/api/auth/register/available', { handle: 'not a username' })).statusCode, 400)
})

test('SGN-63 checks of usernames are limited for each address', async (t) => {
  const limited = await createWorld({
    rateLimits: true,
    environment: { RATE_LIMIT_NUMBERS: 'handle-lookups-per-ip=3' },
  })
  t.after(() => limited.close())
  const check = () =>
    limited.api.inject({ method: 'POST', url: '/api/auth/register/available', payload: { handle: 'ada' } })
  for (let count = 0; count < 3; count += 1) assert.equal((await check()).statusCode, 200)
  assert.equal((await check()).statusCode, 429)
})

test('a page can ask who is signed in without an error if there is no session', async () => {
  const url = '/api/auth/session/current'
  assert.deepEqual((await world.api.inject({ url })).json(), { session: null })
  const unknown = { authorization: 'Bearer cs_session_made-up' }
  assert.deepEqual((await world.api.inject({ url, headers: unknown })).json(), { session: null })
  const person = await world.person()
  const { session } = (await world.api.inject({ url, headers: person.headers })).json()
  assert.deepEqual(session, (await world.api.inject({ url: '/api/auth/session', headers: person.headers })).json())
})

test('SGN-64 pages of other origins do not learn who is signed in', async () => {
  const { headers } = await world.person()
  const cookie = `countersign=${headers.authorization.slice('Bearer '.length)}`
  const ask = (origin: string) => world.api.inject({ url: '/api/auth/session/current', headers: { cookie, origin } })
  const foreign = await ask('https://attacker.example')
  assert.deepEqual([foreign.statusCode, foreign.json().error], [403, 'invalid_origin'])
  assert.equal(foreign.headers['access-control-allow-origin'], undefined)
  assert.ok((await ask(world.config.authUrl.origin)).json().session)
})
