import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { limits } from '@countersign/protocol/formats/limits'
import { createAuthenticator } from '#testing/authenticator.ts'
import { reauthenticate } from '#testing/organization.ts'
import { createWorld, type Person, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const url = '/api/account/self-record'
const put = ({ headers }: Pick<Person, 'headers'>, payload: object) =>
  world.api.inject({ method: 'PUT', url, headers, payload })
const recordOf = async ({ headers }: Pick<Person, 'headers'>) =>
  (await world.api.inject({ url, headers })).json().record

test('SLF-20 a record replaces the one whose sequence is one less, and no other', async () => {
  const ada = await world.person()
  assert.equal(await recordOf(ada), null)
  assert.equal((await put(ada, { sequence: 2, ciphertext: 'too early' })).statusCode, 409)
  assert.equal((await put(ada, { sequence: 1, ciphertext: 'first' })).statusCode, 204)
  const again = await put(ada, { sequence: 1, ciphertext: 'another first' })
  assert.deepEqual([again.statusCode, again.json().error], [409, 'self_record_changed'])
  assert.equal((await put(ada, { sequence: 2, ciphertext: 'second' })).statusCode, 204)
  for (const sequence of [1, 2, 4])
    assert.equal((await put(ada, { sequence, ciphertext: 'other' })).statusCode, 409, String(sequence))
  assert.deepEqual(await recordOf(ada), { sequence: 2, ciphertext: 'second' })
})

test('SLF-20 of writers at the same time, one succeeds', async () => {
  const ada = await world.person()
  for (const sequence of [1, 2]) {
    const names = Array.from({ length: 12 }, (_, index) => `writer ${index}`)
    const answers = await Promise.all(names.map((ciphertext) => put(ada, { sequence, ciphertext })))
    const stored = answers.flatMap(({ statusCode }, index) => (statusCode === 204 ? [names[index]] : []))
    assert.deepEqual([{ sequence, ciphertext: stored[0] }, stored.length], [await recordOf(ada), 1])
  }
})

test('SLF-21 a record has at most 44 KiB, and is one for each user', async () => {
  const ada = await world.person()
  const largest = 'x'.repeat(limits.selfRecordCiphertextBytesMax)
  assert.equal((await put(ada, { sequence: 1, ciphertext: `${largest}x` })).statusCode, 400)
  assert.equal((await put(ada, { sequence: 1, ciphertext: '' })).statusCode, 400)
  assert.equal((await put(ada, { sequence: 1, ciphertext: largest })).statusCode, 204)
  const rows = await world.db
    .selectFrom('encryption_self_record')
    .select('sequence')
    .where('user_id', '=', ada.userId)
    .execute()
  assert.deepEqual(rows, [{ sequence: 1 }])
})

test('SLF-22 a session alone cannot store a record after five minutes, and never that of another user', async () => {
  const [ada, bob] = [await world.person(), await world.person()]
  assert.equal((await put(ada, { sequence: 1, ciphertext: 'of ada' })).statusCode, 204)
  assert.equal(
    (await put({ headers: { authorization: 'Bearer x' } }, { sequence: 2, ciphertext: 'x' })).statusCode,
    401,
  )
  world.pass(limits.freshAuthenticationSeconds + 1)
  const stale = await put(ada, { sequence: 2, ciphertext: 'of a thief' })
  assert.deepEqual([stale.statusCode, stale.json().error], [403, 'reauthentication_required'])
  const first = await put(bob, { sequence: 1, ciphertext: 'of a thief' })
  assert.deepEqual([first.statusCode, first.json().error], [403, 'reauthentication_required'])
  assert.equal(await recordOf(bob), null)
  await reauthenticate(world, bob)
  assert.equal((await put(bob, { sequence: 1, ciphertext: 'of bob' })).statusCode, 204)
  assert.deepEqual(await recordOf(ada), { sequence: 1, ciphertext: 'of ada' })
  await reauthenticate(world, ada)
  assert.equal((await put(ada, { sequence: 2, ciphertext: 'of ada again' })).statusCode, 204)
  assert.deepEqual(await recordOf(bob), { sequence: 1, ciphertext: 'of bob' })
})

test('SLF-23 a registration stores the first record with its keys, or nothing at all', async () => {
  const { config } = world
  const authenticator = createAuthenticator({ origin: config.authUrl.origin, rpId: config.relyingPartyId })
  const post = (step: string, payload: object) =>
    world.api.inject({ method: 'POST', url: `/api/auth/register/${step}`, payload })
  const started = (await post('start', { handle: 'self-record', displayName: 'Ada' })).json()
  const credential = authenticator.register(started.options)
  const tooLong = 'x'.repeat(limits.selfRecordCiphertextBytesMax + 1)
  const refused = await post('finish', { flowId: started.flowId, credential, selfRecord: tooLong })
  assert.equal(refused.statusCode, 400)
  const finished = await post('finish', { flowId: started.flowId, credential, selfRecord: 'sealed' })
  assert.equal(finished.statusCode, 201, finished.body)
  const headers = { authorization: `Bearer ${finished.json().sessionToken}` }
  assert.deepEqual(await recordOf({ headers }), { sequence: 1, ciphertext: 'sealed' })
})

test('SLF-24 the export contains the record, and the account takes it along', async () => {
  const ada = await world.person()
  await put(ada, { sequence: 1, ciphertext: 'sealed' })
  const exported = await world.api.inject({ url: '/api/account/export', headers: ada.headers })
  assert.deepEqual(exported.json().selfRecord, { sequence: 1, ciphertext: 'sealed' })
  const deleted = await world.api.inject({ method: 'DELETE', url: '/api/account', headers: ada.headers })
  assert.equal(deleted.statusCode, 204, deleted.body)
  const rows = await world.db
    .selectFrom('encryption_self_record')
    .select('user_id')
    .where('user_id', '=', ada.userId)
    .execute()
  assert.deepEqual(rows, [])
})
