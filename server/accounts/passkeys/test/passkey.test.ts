import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { auditEventsOf } from '#testing/audit-events.ts'
import { createAuthenticator, type Authenticator, type AuthenticatorOverrides } from '#testing/authenticator.ts'
import { createWorld, type Person, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const place = { origin: 'http://localhost:4401', rpId: 'localhost' }
type Headers = Record<string, string>

const send = (method: 'POST' | 'PATCH' | 'DELETE' | 'PUT', url: string, headers: Headers, payload?: object) =>
  world.api.inject({ method, url, headers, ...(payload && { payload }) })
const passkeysOf = async ({ headers }: Pick<Person, 'headers'>) =>
  (await world.api.inject({ url: '/api/auth/passkeys', headers })).json().passkeys
const remove = (credentialId: string, headers: Headers) => send('DELETE', `/api/auth/passkeys/${credentialId}`, headers)

/** Adds a passkey like a page. */
async function add(
  { headers }: Pick<Person, 'headers'>,
  { bent = {}, wrap = false }: { bent?: AuthenticatorOverrides; wrap?: boolean } = {},
) {
  const authenticator = createAuthenticator(place)
  const { flowId, options } = (await send('POST', '/api/auth/passkeys/start', headers)).json()
  const credential = authenticator.register(options, bent)
  const keyWrap = { kind: 'passkey_prf', credentialId: credential.id, ciphertext: 'a.b.c.d.e' }
  const payload = { flowId, credential, ...(wrap && { keyWrap }) }
  return { answer: await send('POST', '/api/auth/passkeys/finish', headers, payload), authenticator, payload }
}

async function signIn(authenticator: Authenticator) {
  const { flowId, options } = (await send('POST', '/api/auth/login/start', {}, {})).json()
  return send('POST', '/api/auth/login/finish', {}, { flowId, credential: authenticator.authenticate(options) })
}

test('a second passkey signs in to the same account and unlocks its keys', async () => {
  const person = await world.person()
  const { answer, authenticator } = await add(person, { wrap: true })
  assert.equal(answer.statusCode, 201, answer.body)
  assert.equal(answer.json().opensKeys, true)
  const signedIn = await signIn(authenticator)
  assert.equal(signedIn.json().user.userId, person.userId)
  assert.deepEqual(
    signedIn.json().keyWraps.map(({ credentialId }: { credentialId: string }) => credentialId),
    [authenticator.credentialId],
  )
  assert.equal((await passkeysOf(person)).length, 2)
  assert.equal((await auditEventsOf(world.db, person.userId, 'passkey.added')).length, 1)
})

test('an authenticator that holds a passkey of the user creates no second one', async () => {
  const person = await world.person()
  const { options } = (await send('POST', '/api/auth/passkeys/start', person.headers)).json()
  assert.deepEqual(options.excludeCredentials, [
    { id: person.authenticator.credentialId, type: 'public-key', transports: ['internal'] },
  ])
  assert.equal(options.user.name, person.handle)
})

test('a passkey is named after its product until its owner renames it', async () => {
  const person = await world.person()
  world.pass(1)
  const aaguid = Buffer.from('bada5566a7aa401fbd9645619a55120d', 'hex')
  const { answer, authenticator } = await add(person, { bent: { aaguid } })
  assert.equal(answer.json().name, '1Password')
  const url = `/api/auth/passkeys/${authenticator.credentialId}`
  const renamed = await send('PATCH', url, person.headers, { name: 'The work vault' })
  assert.equal(renamed.json().name, 'The work vault')
  assert.equal((await passkeysOf(person))[1].name, 'The work vault')
  for (const name of ['', '   ', 'a\u202eb', 'x'.repeat(81)])
    assert.equal((await send('PATCH', url, person.headers, { name })).statusCode, 400, name)
  const other = await world.person()
  const theirs = await send('PATCH', url, other.headers, { name: 'Mine' })
  assert.deepEqual([theirs.statusCode, theirs.json().error], [404, 'passkey_not_found'])
})

test('PKY-22 adding and removing a passkey requires authentication within five minutes', async () => {
  const person = await world.person()
  const { authenticator } = await add(person)
  const { flowId, options } = (await send('POST', '/api/auth/passkeys/start', person.headers)).json()
  world.pass(301)
  const late = { flowId, credential: createAuthenticator(place).register(options) }
  for (const answer of [
    await send('POST', '/api/auth/passkeys/start', person.headers),
    await send('POST', '/api/auth/passkeys/finish', person.headers, late),
    await remove(authenticator.credentialId, person.headers),
  ])
    assert.deepEqual([answer.statusCode, answer.json().error], [403, 'reauthentication_required'])
  assert.equal((await passkeysOf(person)).length, 2)
})

test('PKY-21 PKY-23 a removed passkey fails like a wrong signature and unlocks nothing', async () => {
  const person = await world.person()
  const { authenticator } = await add(person, { wrap: true })
  assert.equal((await remove(authenticator.credentialId, person.headers)).statusCode, 204)
  const refused = await signIn(authenticator)
  assert.deepEqual(
    [refused.statusCode, refused.json()],
    [
      401,
      {
        error: 'invalid_credential',
        error_description: 'The passkey is unknown or its signature is invalid. Try another one.',
      },
    ],
  )
  const { keyWraps } = (await world.api.inject({ url: '/api/account/key-wraps', headers: person.headers })).json()
  assert.deepEqual(keyWraps, [])
  const again = await remove(authenticator.credentialId, person.headers)
  assert.deepEqual([again.statusCode, again.json().error], [404, 'passkey_not_found'])
})

test('PKY-21 the last passkey cannot be removed, and no user can remove another user’s', async () => {
  const [person, other] = [await world.person(), await world.person()]
  const last = await remove(person.authenticator.credentialId, person.headers)
  assert.deepEqual([last.statusCode, last.json().error], [409, 'last_passkey'])
  await add(other)
  const theirs = await remove(person.authenticator.credentialId, other.headers)
  assert.deepEqual([theirs.statusCode, theirs.json().error], [404, 'passkey_not_found'])
  assert.equal((await signIn(person.authenticator)).statusCode, 200)
})

test('PKY-21 when all passkeys are removed concurrently, one remains', async () => {
  const person = await world.person()
  const added = [await add(person), await add(person), await add(person)]
  const all = [person.authenticator, ...added.map(({ authenticator }) => authenticator)]
  // Each uses a session of its own passkey, because removing a passkey ends its sessions.
  const sessions = await Promise.all(all.map(signIn))
  const answers = await Promise.all(
    sessions.map((session, index) => {
      const { sessionToken }: { sessionToken: string } = session.json()
      return remove(all[index]?.credentialId ?? '', { authorization: `Bearer ${sessionToken}` })
    }),
  )
  assert.deepEqual(answers.map(({ statusCode }) => statusCode).toSorted(), [204, 204, 204, 409])
  const signedIn = await Promise.all(all.map(signIn))
  assert.deepEqual(signedIn.map(({ statusCode }) => statusCode).toSorted(), [200, 401, 401, 401])
  assert.equal((await auditEventsOf(world.db, person.userId, 'passkey.removed')).length, 3)
})

test('PKY-02 a ceremony adds one passkey, even with thirty-two concurrent attempts', async () => {
  const person = await world.person()
  const { flowId, options } = (await send('POST', '/api/auth/passkeys/start', person.headers)).json()
  const answers = await Promise.all(
    Array.from({ length: 32 }, () => {
      const credential = createAuthenticator(place).register(options)
      return send('POST', '/api/auth/passkeys/finish', person.headers, { flowId, credential })
    }),
  )
  assert.equal(answers.filter(({ statusCode }) => statusCode === 201).length, 1)
  for (const answer of answers.filter(({ statusCode }) => statusCode !== 201))
    assert.equal(answer.json().error, 'invalid_flow')
  assert.equal((await passkeysOf(person)).length, 2)
})

test('PKY-20 a passkey is added only to the account that started the registration', async () => {
  const [person, other] = [await world.person(), await world.person()]
  const { flowId, options } = (await send('POST', '/api/auth/passkeys/start', person.headers)).json()
  const payload = { flowId, credential: createAuthenticator(place).register(options) }
  const stolen = await send('POST', '/api/auth/passkeys/finish', other.headers, payload)
  assert.deepEqual([stolen.statusCode, stolen.json().error], [401, 'invalid_credential'])
  for (const each of [person, other]) assert.equal((await passkeysOf(each)).length, 1)
})

test('PKY-01 PKY-11 PKY-13 a passkey that is foreign, weak or from another ceremony is not added', async () => {
  const [person, other] = [await world.person(), await world.person()]
  const taken = { credentialId: Buffer.from(other.authenticator.credentialId, 'base64url') }
  assert.equal((await add(person, { bent: taken })).answer.json().error, 'credential_in_use')
  for (const bent of [{ type: 'webauthn.get' }, { userVerified: false }, { algorithm: -37 }, { rpId: 'evil.example' }])
    assert.equal((await add(person, { bent })).answer.statusCode, 400)
  const { flowId } = (await send('POST', '/api/auth/reauthenticate/start', person.headers)).json()
  const { options } = (await send('POST', '/api/auth/passkeys/start', person.headers)).json()
  const mixed = { flowId, credential: createAuthenticator(place).register(options) }
  assert.equal((await send('POST', '/api/auth/passkeys/finish', person.headers, mixed)).json().error, 'invalid_flow')
  assert.equal((await passkeysOf(person)).length, 1)
})

test('the key wrap of a new passkey must name that passkey', async () => {
  const person = await world.person()
  const { flowId, options } = (await send('POST', '/api/auth/passkeys/start', person.headers)).json()
  const credential = createAuthenticator(place).register(options)
  const keyWrap = { kind: 'passkey_prf', credentialId: person.authenticator.credentialId, ciphertext: 'x' }
  const answer = await send('POST', '/api/auth/passkeys/finish', person.headers, { flowId, credential, keyWrap })
  assert.deepEqual([answer.statusCode, answer.json().error], [400, 'invalid_request'])
})

test('GRW-16 an account has at most twenty passkeys, also under concurrency', async () => {
  const person = await world.person()
  const begun = await Promise.all(
    Array.from({ length: 24 }, () => send('POST', '/api/auth/passkeys/start', person.headers)),
  )
  const answers = await Promise.all(
    begun.map((started) => {
      const { flowId, options } = started.json()
      const credential = createAuthenticator(place).register(options)
      return send('POST', '/api/auth/passkeys/finish', person.headers, { flowId, credential })
    }),
  )
  assert.equal(answers.filter(({ statusCode }) => statusCode === 201).length, 19)
  assert.equal((await passkeysOf(person)).length, 20)
  const full = await send('POST', '/api/auth/passkeys/start', person.headers)
  assert.deepEqual([full.statusCode, full.json().error], [409, 'too_many_passkeys'])
})

test('a passkey that signs in can get a key wrap, once per passkey', async () => {
  const person = await world.person()
  const { credentialId } = person.authenticator
  const grant = (ciphertext: string) =>
    send('POST', '/api/account/key-wraps', person.headers, { kind: 'passkey_prf', credentialId, ciphertext })
  const answers = await Promise.all(['one', 'two', 'three'].map(grant))
  for (const answer of answers) assert.equal(answer.statusCode, 201, answer.body)
  const { keyWraps } = (await world.api.inject({ url: '/api/account/key-wraps', headers: person.headers })).json()
  assert.equal(keyWraps.length, 1)
  assert.equal((await passkeysOf(person))[0].opensKeys, true)
  world.pass(301)
  assert.equal((await grant('late')).json().error, 'reauthentication_required')
})

test('a browser learns which passkey no longer belongs to an account', async () => {
  const person = await world.person()
  const { authenticator } = await add(person)
  const known = async (credentialId: string) =>
    (await send('POST', '/api/auth/passkeys/known', {}, { credentialId })).json().known
  assert.equal(await known(authenticator.credentialId), true)
  await remove(authenticator.credentialId, person.headers)
  assert.equal(await known(authenticator.credentialId), false)
})

test('the well-known URL tells password managers where users manage passkeys', async () => {
  const answer = await world.auth.inject({ url: '/.well-known/passkey-endpoints' })
  const url = 'http://localhost:4401/account/passkeys'
  assert.deepEqual(answer.json(), { enroll: url, manage: url })
  assert.equal(answer.headers['access-control-allow-origin'], '*')
  const page = await world.auth.inject({ url: '/account/passkeys' })
  assert.equal(page.statusCode, 200)
})

const isSignedIn = async (headers: Headers) =>
  (await world.api.inject({ url: '/api/auth/session', headers })).statusCode === 200
const bearerOf = async (authenticator: Authenticator) => ({
  authorization: `Bearer ${(await signIn(authenticator)).json().sessionToken}`,
})

/** Authenticates again in a session with a passkey. */
async function prove(headers: Headers, authenticator: Authenticator) {
  const { flowId, options } = (await send('POST', '/api/auth/reauthenticate/start', headers, {})).json()
  const payload = { flowId, credential: authenticator.authenticate(options) }
  const answer = await send('POST', '/api/auth/reauthenticate/finish', headers, payload)
  assert.equal(answer.statusCode, 200, answer.body)
}

test('BLK-16 removing a passkey ends the sessions that it opened, and their codes', async () => {
  const person = await world.person()
  const app = await world.app()
  const { authenticator: stolen } = await add(person)
  const [thief, also] = [await bearerOf(stolen), await bearerOf(stolen)]
  const own = await bearerOf(person.authenticator)
  const code = await app.code({ ...person, headers: thief })
  await prove(also, person.authenticator)
  const removed = await remove(stolen.credentialId, person.headers)
  assert.equal(removed.statusCode, 204)
  assert.equal(removed.headers['set-cookie'], undefined, 'the current session stays open')
  assert.deepEqual([await isSignedIn(thief), await isSignedIn(also)], [false, false])
  assert.equal((await app.redeem(code)).statusCode, 400)
  assert.deepEqual([await isSignedIn(own), await isSignedIn(person.headers)], [true, true])
  assert.equal((await send('POST', '/api/auth/passkeys/start', thief)).statusCode, 401)
})

test('BLK-16 a session ends with the removal of its passkey unless another one authenticated in it since', async () => {
  const [leaving, staying] = [await world.person(), await world.person()]
  await add(leaving)
  const removed = await remove(leaving.authenticator.credentialId, leaving.headers)
  assert.equal(removed.statusCode, 204)
  assert.match(String(removed.headers['set-cookie']), /countersign=;/)
  assert.equal(await isSignedIn(leaving.headers), false)

  const { authenticator: second } = await add(staying)
  await prove(staying.headers, second)
  assert.equal((await remove(staying.authenticator.credentialId, staying.headers)).statusCode, 204)
  assert.equal(await isSignedIn(staying.headers), true)
  const { authenticator: third } = await add(staying)
  await prove(staying.headers, third)
  assert.equal((await remove(second.credentialId, staying.headers)).statusCode, 204)
  assert.equal(await isSignedIn(staying.headers), true)
})

test('BLK-19 a user who has just authenticated with a passkey can remove it in that session', async () => {
  const person = await world.person()
  const { authenticator: second } = await add(person)
  world.pass(600)
  await prove(person.headers, second)
  assert.equal((await remove(second.credentialId, person.headers)).statusCode, 204)
  assert.equal(await isSignedIn(person.headers), true)

  await prove(person.headers, person.authenticator)
  await add(person)
  world.pass(600)
  await prove(person.headers, person.authenticator)
  assert.equal((await remove(person.authenticator.credentialId, person.headers)).statusCode, 204)
})

test('BLK-17 removing a passkey revokes the authentications it performed', async () => {
  const person = await world.person()
  const { authenticator: borrowed } = await add(person)
  const elsewhere = await bearerOf(person.authenticator)
  world.pass(600)
  await prove(elsewhere, borrowed)
  assert.equal((await send('POST', '/api/auth/passkeys/start', elsewhere)).statusCode, 200)
  await prove(person.headers, person.authenticator)
  assert.equal((await remove(borrowed.credentialId, person.headers)).statusCode, 204)
  const refused = await send('POST', '/api/auth/passkeys/start', elsewhere)
  assert.deepEqual([refused.statusCode, refused.json().error], [403, 'reauthentication_required'])
})

test('BLK-17 a session without a record of its passkey counts as opened by any of them', async () => {
  const person = await world.person()
  const { authenticator } = await add(person)
  const earlier = await bearerOf(person.authenticator)
  await world.db
    .updateTable('session')
    .set({ credential_id: null, proved_by: null })
    .where('user_id', '=', person.userId)
    .execute()
  await prove(person.headers, person.authenticator)
  assert.equal((await remove(authenticator.credentialId, person.headers)).statusCode, 204)
  assert.deepEqual([await isSignedIn(person.headers), await isSignedIn(earlier)], [true, false])
})
