import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

type Headers = Record<string, string>

const newCode = (ciphertext: string) => ({ recoveryAuth: randomBytes(32).toString('base64url'), ciphertext })
const put = (headers: Headers, payload: object) =>
  world.api.inject({ method: 'PUT', url: '/api/account/recovery', headers, payload })
const stateOf = async (headers: Headers) =>
  (await world.api.inject({ url: '/api/auth/session', headers })).json().recoveryCode
const start = (handle: string, recoveryAuth: string) =>
  world.api.inject({ method: 'POST', url: '/api/auth/recover/start', payload: { handle, recoveryAuth } })

test('SGN-60 an account without a saved recovery code says so, until one is stored', async () => {
  const { headers, handle } = await world.person()
  assert.deepEqual(await stateOf(headers), { confirmedAt: null })
  const code = newCode('a.b.c.d.e')
  assert.equal((await start(handle, code.recoveryAuth)).statusCode, 401)
  assert.equal((await put(headers, { ...code, ifNone: true })).statusCode, 200)
  assert.deepEqual(await stateOf(headers), { confirmedAt: world.kernel.clock().toISOString() })
  assert.equal((await start(handle, code.recoveryAuth)).statusCode, 200)
})

test('SGN-61 of recovery codes that several pages offer at once, one takes effect, with its own wrap', async () => {
  const { headers, handle } = await world.person()
  const codes = Array.from({ length: 8 }, (_, index) => newCode(`a.b.c.d.${index}`))
  const answers = await Promise.all(codes.map((code) => put(headers, { ...code, ifNone: true })))
  const stored = codes.filter((_, index) => answers[index]?.statusCode === 200)
  assert.equal(stored.length, 1)
  for (const answer of answers.filter(({ statusCode }) => statusCode !== 200))
    assert.deepEqual([answer.statusCode, answer.json().error], [409, 'recovery_code_exists'])
  const wraps = (await world.api.inject({ url: '/api/account/key-wraps', headers })).json().keyWraps
  assert.deepEqual(
    wraps.map(({ kind, ciphertext }: Headers) => [kind, ciphertext]),
    [['recovery_code', stored[0]?.ciphertext]],
  )
  const accepted = await Promise.all(codes.map(async (code) => (await start(handle, code.recoveryAuth)).statusCode))
  assert.deepEqual(
    accepted,
    codes.map((code) => (code === stored[0] ? 200 : 401)),
  )
})

test('SGN-67 a page that sends its code again after a lost response learns that the code counts', async () => {
  const { headers, handle } = await world.person()
  const code = newCode('a.b.c.d.e')
  const first = await put(headers, { ...code, ifNone: true })
  const since = await stateOf(headers)
  world.pass(1)
  const again = await put(headers, { ...code, ciphertext: 'a.b.c.d.f', ifNone: true })
  assert.deepEqual([again.statusCode, again.json()], [200, first.json()])
  assert.deepEqual(await stateOf(headers), since)
  assert.equal((await start(handle, code.recoveryAuth)).statusCode, 200)
})

test('a code that is in effect can still be replaced', async () => {
  const { headers } = await world.person()
  await put(headers, newCode('a.b.c.d.e'))
  assert.equal((await put(headers, newCode('a.b.c.d.f'))).statusCode, 200)
})
