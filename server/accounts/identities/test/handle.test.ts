import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import type { Identity } from '@countersign/protocol/accounts/identities'
import { decodeJwt } from 'jose'
import { createWorld, type Person, type TestWorld } from '#testing/world.ts'
import { pruneHandles } from '#accounts/identities/handle.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

type Owner = Pick<Person, 'identityId' | 'headers'>

const change = ({ identityId, headers }: Owner, payload: object) =>
  world.api.inject({ method: 'PATCH', url: `/api/identities/${identityId}`, headers, payload })
const register = (handle: string) =>
  world.api.inject({ method: 'POST', url: '/api/auth/register/start', payload: { handle, displayName: 'Someone' } })
const errorOf = (answer: { json: () => { error?: string } }) => answer.json().error

test('apps see a new handle at once, and the identity stays the same', async () => {
  const person = await world.person('grace-one')
  const app = await world.app()
  const before = await app.tokens(person)
  const changed = await change(person, { handle: 'Grace-Two' })
  assert.equal(changed.statusCode, 200, changed.body)
  assert.equal(changed.json<Identity>().handle, 'Grace-Two')

  const after = (await app.refresh(before.refresh_token)).json()
  const { sub, preferred_username } = decodeJwt(after.id_token)
  assert.deepEqual([sub, preferred_username], [person.identityId, 'Grace-Two'])
  assert.equal(after.user.handle, 'Grace-Two')
  const claims = await world.api.inject({
    url: '/api/oauth/userinfo',
    headers: { authorization: `Bearer ${before.access_token}` },
  })
  assert.equal(claims.json().preferred_username, 'Grace-Two')
  assert.equal(errorOf(await register('grace-two')), 'handle_taken')
})

test('REC-09 a stolen session that changes the handle does not disable the recovery code', async () => {
  const person = await world.person('found-by')
  const recoveryAuth = randomBytes(32).toString('base64url')
  const replaced = await world.api.inject({
    method: 'PUT',
    url: '/api/account/recovery',
    headers: person.headers,
    payload: { recoveryAuth, ciphertext: 'sealed' },
  })
  assert.equal(replaced.statusCode, 200, replaced.body)
  world.pass(301)
  assert.equal((await change(person, { handle: 'by-the-thief' })).statusCode, 200, 'without recent authentication')
  const recover = async (handle: string, code = recoveryAuth) => {
    const payload = { handle, recoveryAuth: code }
    const answer = await world.api.inject({ method: 'POST', url: '/api/auth/recover/start', payload })
    return [answer.statusCode, errorOf(answer)]
  }
  const [rejected, accepted] = [
    [401, 'invalid_credential'],
    [200, undefined],
  ]
  assert.deepEqual(await recover('Found-By'), accepted)
  assert.deepEqual(await recover('BY-the-thief'), accepted)
  assert.deepEqual(await recover('found-by', randomBytes(32).toString('base64url')), rejected)
  const lookup = await world.api.inject({ url: '/api/signing/public-key/found-by' })
  assert.equal(errorOf(lookup), 'identity_not_found', 'no one else finds the former handle')

  world.pass(90 * 24 * 3600)
  assert.deepEqual(await recover('found-by'), rejected, 'after the reservation')
  await world.person('found-by')
  assert.deepEqual(await recover('found-by'), rejected, 'it is of another user')
  assert.deepEqual(await recover('by-the-thief'), accepted)
})

test('changing the letter case of a handle keeps the handle and shows it as typed', async () => {
  const person = await world.person('anew')
  assert.equal((await change(person, { handle: 'ANew' })).json<Identity>().handle, 'ANew')
  assert.equal(errorOf(await register('anew')), 'handle_taken')
})

test('REC-07 of concurrent changes to one handle, in any letter case, one succeeds', async () => {
  const people = await Promise.all(Array.from({ length: 8 }, () => world.person()))
  const answers = await Promise.all(
    people.map((person, index) => change(person, { handle: index % 2 === 0 ? 'wanted-by-all' : 'Wanted-By-All' })),
  )
  assert.deepEqual(answers.map(({ statusCode }) => statusCode).toSorted(), [200, 409, 409, 409, 409, 409, 409, 409])
  for (const answer of answers.filter(({ statusCode }) => statusCode === 409))
    assert.equal(errorOf(answer), 'handle_taken')
  for (const [index, person] of people.entries()) {
    const read = await world.api.inject({ url: `/api/identities/${person.identityId}`, headers: person.headers })
    const keeps = answers[index]?.statusCode === 409
    assert.equal(read.json<Identity>().handle === person.handle, keeps, 'the others keep their handle')
  }
})

test('two users who request each other’s handle concurrently both keep their own', async () => {
  const [ada, bob] = [await world.person('swap-ada'), await world.person('swap-bob')]
  const answers = await Promise.all([change(ada, { handle: 'swap-bob' }), change(bob, { handle: 'swap-ada' })])
  for (const { statusCode } of answers) assert.equal(statusCode, 409)
})

test('a released handle stays reserved for its former owner for ninety days', async () => {
  const [ada, bob] = [await world.person('kept'), await world.person()]
  await change(ada, { handle: 'moved-on' })
  assert.equal(errorOf(await register('Kept')), 'handle_taken')
  assert.equal(errorOf(await change(bob, { handle: 'KEPT' })), 'handle_taken')
  const added = { method: 'POST', url: '/api/identities', headers: bob.headers } as const
  const payload = { handle: 'kept', displayName: 'Another' }
  assert.equal(errorOf(await world.api.inject({ ...added, payload })), 'handle_taken')

  world.pass(89 * 24 * 3600)
  const headers = { ada: await ada.signIn(), bob: await bob.signIn() }
  assert.equal(errorOf(await change({ ...bob, headers: headers.bob }, { handle: 'kept' })), 'handle_taken')
  assert.equal(
    (await change({ ...ada, headers: headers.ada }, { handle: 'kept' })).statusCode,
    200,
    'returned to its owner',
  )
  assert.equal(errorOf(await change({ ...bob, headers: headers.bob }, { handle: 'moved-on' })), 'handle_taken')

  world.pass(90 * 24 * 3600)
  assert.equal((await register('moved-on')).statusCode, 200, 'available before the cleanup')
  const taken = await change({ ...bob, headers: await bob.signIn() }, { handle: 'Moved-On' })
  assert.equal(taken.statusCode, 200, taken.body)
  const left = await change({ ...ada, headers: await ada.signIn() }, { handle: 'moved-on' })
  assert.equal(errorOf(left), 'handle_taken')
})

test('the cleanup releases expired reservations only', async () => {
  const person = await world.person('swept')
  await change(person, { handle: 'swept-later' })
  await pruneHandles(world.db, world.now(), 500)
  assert.equal(errorOf(await register('swept')), 'handle_taken')
  world.pass(90 * 24 * 3600)
  assert.ok((await pruneHandles(world.db, world.now(), 500)) >= 1)
  assert.equal((await register('swept')).statusCode, 200)
  assert.equal(errorOf(await register('swept-later')), 'handle_taken')
})

test('a reserved or malformed handle, an invalid picture and an empty change are rejected', async () => {
  const person = await world.person()
  const wrong: [object, string][] = [
    [{ handle: 'Admin' }, 'invalid_handle'],
    [{ handle: 'sup.port' }, 'invalid_handle'],
    [{ handle: 'ab' }, 'invalid_request'],
    [{ handle: 'ädä' }, 'invalid_request'],
    [{ handle: 'ⓐda' }, 'invalid_request'],
    [{ handle: 'fine', displayName: '\u202e' }, 'invalid_request'],
    [{ handle: 'fine', userId: person.userId }, 'invalid_request'],
    [{ avatarUrl: 'http://pictures.example/ada.png' }, 'invalid_request'],
    [{ avatarUrl: 'javascript:alert(1)' }, 'invalid_request'],
    [{ avatarUrl: 'https://user:pass@pictures.example/ada.png' }, 'invalid_request'],
    [{}, 'invalid_request'],
  ]
  for (const [payload, error] of wrong) {
    const answer = await change(person, payload)
    assert.deepEqual([answer.statusCode, errorOf(answer)], [400, error], JSON.stringify(payload))
  }
  const read = await world.api.inject({ url: `/api/identities/${person.identityId}`, headers: person.headers })
  assert.equal(read.json<Identity>().handle, person.handle)
})

test('apps receive a picture until it is removed', async () => {
  const person = await world.person()
  const app = await world.app()
  const avatarUrl = 'https://pictures.example/ada.png'
  assert.equal((await change(person, { avatarUrl })).json<Identity>().avatarUrl, avatarUrl)
  const { id_token = '' } = await app.tokens(person)
  assert.equal(decodeJwt(id_token)['picture'], avatarUrl)
  assert.equal((await change(person, { avatarUrl: null })).json<Identity>().avatarUrl, null)
})

test('a user cannot change the handle of another user', async () => {
  const [ada, eve] = [await world.person(), await world.person()]
  const answer = await change({ identityId: ada.identityId, headers: eve.headers }, { handle: 'by-eve' })
  assert.deepEqual([answer.statusCode, errorOf(answer)], [404, 'identity_not_found'])
  assert.equal((await register('by-eve')).statusCode, 200, 'and none is reserved')
})

test('handle changes are limited, because each one reserves a handle', async () => {
  const limitedWorld = await createWorld({ rateLimits: true })
  const { headers, identityId } = await limitedWorld.person()
  const statuses: number[] = []
  for (let count = 0; count < 7; count += 1) {
    const payload = { handle: `squatted-${count}` }
    const answer = await limitedWorld.api.inject({
      method: 'PATCH',
      url: `/api/identities/${identityId}`,
      headers,
      payload,
    })
    statuses.push(answer.statusCode)
  }
  assert.deepEqual(statuses, [...Array<number>(6).fill(200), 429])
  await limitedWorld.close()
})
