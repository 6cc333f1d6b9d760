import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import type { UserId } from '@countersign/protocol/ids'
import { auditEventsOf } from '#testing/audit-events.ts'
import { createAuthenticator, type AuthenticatorOverrides } from '#testing/authenticator.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const place = { origin: 'http://localhost:4401', rpId: 'localhost' }
const post = (url: string, payload: object, headers: Record<string, string> = {}) =>
  world.api.inject({ method: 'POST', url, payload, headers })
const someHandle = () => `someone-${randomBytes(6).toString('hex')}`
const startRegistration = async (handle = someHandle()) =>
  (await post('/api/auth/register/start', { handle, displayName: 'Someone' })).json()
const startSignIn = async () => (await post('/api/auth/login/start', {})).json()

test('a registration requests a discoverable passkey, user verification and the PRF secret', async () => {
  const { options, userId, identityId } = await startRegistration()
  assert.equal(options.rp.id, 'localhost')
  assert.equal(options.authenticatorSelection.residentKey, 'required')
  assert.equal(options.authenticatorSelection.userVerification, 'required')
  assert.equal(Buffer.from(options.user.id, 'base64url').toString('hex'), userId.replaceAll('-', ''))
  assert.equal(Buffer.from(options.extensions.prf.eval.first, 'base64url').length, 32)
  assert.notEqual(userId, identityId)
})

for (const kind of ['ES256', 'EdDSA'] as const)
  test(`a user registers and signs in with an ${kind} passkey`, async () => {
    const authenticator = createAuthenticator(place, kind)
    const { flowId, options, userId } = await startRegistration()
    const registered = await post('/api/auth/register/finish', { flowId, credential: authenticator.register(options) })
    assert.equal(registered.statusCode, 201, registered.body)
    assert.equal(registered.json().user.userId, userId)
    const started = await startSignIn()
    const credential = authenticator.authenticate(started.options)
    const signedIn = await post('/api/auth/login/finish', { flowId: started.flowId, credential })
    assert.equal(signedIn.statusCode, 200, signedIn.body)
    assert.equal(signedIn.json().user.userId, userId)
    assert.deepEqual(signedIn.json().keyWraps, [])
  })

const wrongRegistrations: Record<string, AuthenticatorOverrides> = {
  'PKY-01 the type of an assertion': { type: 'webauthn.get' },
  'PKY-03 a challenge of its own': { challenge: randomBytes(32).toString('base64url') },
  'PKY-04 the origin of another port': { origin: 'http://localhost:4400' },
  'PKY-04 the origin https instead of http': { origin: 'https://localhost:4401' },
  'PKY-04 an origin that only begins like ours': { origin: 'http://localhost:4401.evil.example' },
  'PKY-05 the relying party of another': { rpId: 'evil.example' },
  'PKY-06 a frame of another origin': { crossOrigin: true },
  'PKY-06 a top origin': { topOrigin: 'https://evil.example' },
  'PKY-07 nobody present': { userPresent: false },
  'PKY-08 nobody verified': { userVerified: false },
  'PKY-09 a backup of what cannot be backed up': { backupEligible: false, backedUp: true },
  'PKY-12 a credential id of 1,024 bytes': { credentialId: randomBytes(1024) },
  'PKY-13 an algorithm that was not offered': { algorithm: -37 },
}
for (const [what, bent] of Object.entries(wrongRegistrations))
  test(`a registration with ${what} is rejected and creates no account`, async () => {
    const handle = someHandle()
    const { flowId, options } = await startRegistration(handle)
    const credential = createAuthenticator(place).register(options, bent)
    const answer = await post('/api/auth/register/finish', { flowId, credential })
    assert.equal(answer.statusCode, 400, answer.body)
    assert.ok(['invalid_credential', 'invalid_request'].includes(answer.json().error), answer.body)
    assert.ok((await startRegistration(handle)).flowId, 'the handle is still available')
  })

const victimsHandle = randomBytes(16).toString('base64url')
const wrongAssertions: Record<string, AuthenticatorOverrides> = {
  'PKY-01 the type of a registration': { type: 'webauthn.create' },
  'PKY-03 a challenge of its own': { challenge: randomBytes(32).toString('base64url') },
  'PKY-04 the origin of a subdomain': { origin: 'http://evil.localhost:4401' },
  'PKY-04 an opaque origin': { origin: 'null' },
  'PKY-04 no origin': { clientData: (bytes) => Buffer.from(bytes.toString().replace('"origin"', '"orijin"')) },
  'PKY-04 the origin of another port': { origin: 'http://localhost:4400' },
  'PKY-04 the origin https instead of http': { origin: 'https://localhost:4401' },
  'PKY-04 an origin that only begins like ours': { origin: 'http://localhost:4401.evil.example' },
  'PKY-05 the relying party of another': { rpId: 'evil.example' },
  'PKY-06 a frame of another origin': { crossOrigin: true },
  'PKY-07 nobody present': { userPresent: false },
  'PKY-08 nobody verified': { userVerified: false },
  'PKY-09 a backup of what cannot be backed up': { backupEligible: false, backedUp: true },
  'PKY-09 another eligibility for backup than at registration': { backupEligible: false, backedUp: false },
  'PKY-10 the user handle of another': { userHandle: victimsHandle },
  'PKY-10 no user handle': { userHandle: null },
  'PKY-10 an unknown credential': { credentialId: randomBytes(32) },
  'PKY-17 a signature with one bit flipped': {
    signature: (bytes) => Buffer.from(bytes.map((byte, at) => (at === 9 ? byte ^ 1 : byte))),
  },
  'PKY-15 client data that names its origin twice': {
    clientData: (bytes) => Buffer.from(bytes.toString().replace('{', '{"origin":"https://evil.example",')),
  },
  'PKY-06 the top origin of a frame': { topOrigin: 'https://evil.example' },
  'PKY-17 no signature to speak of': { signature: () => Buffer.alloc(70) },
}
for (const [what, bent] of Object.entries(wrongAssertions))
  test(`a sign-in with ${what} is rejected with the common error, and a valid one succeeds`, async () => {
    const { authenticator } = await world.person()
    const { flowId, options } = await startSignIn()
    const answer = await post('/api/auth/login/finish', {
      flowId,
      credential: authenticator.authenticate(options, bent),
    })
    assert.equal(answer.statusCode, 401, answer.body)
    assert.deepEqual(answer.json(), {
      error: 'invalid_credential',
      error_description: 'The passkey is unknown or its signature is invalid. Try another one.',
    })
    assert.equal(answer.headers['set-cookie'], undefined)
    const honest = await startSignIn()
    const credential = authenticator.authenticate(honest.options)
    assert.equal((await post('/api/auth/login/finish', { flowId: honest.flowId, credential })).statusCode, 200)
  })

test('PKY-10 a passkey that the page has named may leave out the user handle, and must be that user’s', async () => {
  const [{ authenticator, userId }, other] = [await world.person(), await world.person()]
  const signIn = async (named: object, bent: AuthenticatorOverrides) => {
    const { flowId, options } = await startSignIn()
    const credential = authenticator.authenticate(options, bent)
    return (await post('/api/auth/login/finish', { flowId, credential, ...named })).statusCode
  }
  assert.equal(await signIn({ userId }, { userHandle: null }), 200)
  assert.equal(await signIn({ userId }, {}), 200)
  assert.equal(await signIn({ userId }, { userHandle: victimsHandle }), 401)
  assert.equal(await signIn({}, { userHandle: null }), 401)
  for (const bent of [{}, { userHandle: null }]) assert.equal(await signIn({ userId: other.userId }, bent), 401)
})

test('PKY-17 an assertion with one flipped bit anywhere is rejected', async () => {
  const { authenticator, userId } = await world.person()
  const before = await sessionsOf(userId)
  for (const part of ['authenticatorData', 'clientDataJSON', 'signature'] as const) {
    const bytes = Buffer.from(authenticator.authenticate((await startSignIn()).options).response[part], 'base64url')
    for (let at = 0; at < bytes.length; at += 5) {
      const { flowId, options } = await startSignIn()
      const { response, ...credential } = authenticator.authenticate(options)
      const flipped = Buffer.from(response[part], 'base64url')
      flipped.writeUInt8(flipped.readUInt8(at % flipped.length) ^ (1 << (at % 8)), at % flipped.length)
      const payload = { ...credential, response: { ...response, [part]: flipped.toString('base64url') } }
      const answer = await post('/api/auth/login/finish', { flowId, credential: payload })
      assert.equal(answer.statusCode, 401, `${part} at ${at}: ${answer.body}`)
    }
  }
  assert.equal(await sessionsOf(userId), before)
})

test('PKY-15 additional members and a byte order mark in the client data are accepted', async () => {
  const { authenticator } = await world.person()
  for (const bent of [{ clientDataExtras: { other_keys_can_be_added_here: 'x' } }, { byteOrderMark: true }]) {
    const { flowId, options } = await startSignIn()
    const answer = await post('/api/auth/login/finish', {
      flowId,
      credential: authenticator.authenticate(options, bent),
    })
    assert.equal(answer.statusCode, 200, answer.body)
  }
})

test('PKY-02 an assertion signs in once, even with thirty-two concurrent attempts', async () => {
  const { authenticator, userId } = await world.person()
  const { flowId, options } = await startSignIn()
  const payload = { flowId, credential: authenticator.authenticate(options) }
  const before = await sessionsOf(userId)
  const answers = await Promise.all(Array.from({ length: 32 }, () => post('/api/auth/login/finish', payload)))
  assert.equal(answers.filter(({ statusCode }) => statusCode === 200).length, 1)
  assert.equal((await sessionsOf(userId)) - before, 1)
  assert.equal((await post('/api/auth/login/finish', payload)).json().error, 'invalid_flow')
})

test('PKY-01 the flow of one ceremony cannot finish another kind', async () => {
  const person = await world.person()
  const registration = await startRegistration()
  const credential = person.authenticator.authenticate(registration.options)
  assert.equal((await post('/api/auth/login/finish', { flowId: registration.flowId, credential })).statusCode, 400)
  const { flowId, options } = await startSignIn()
  const again = { flowId, credential: person.authenticator.authenticate(options) }
  assert.equal((await post('/api/auth/reauthenticate/finish', again, person.headers)).statusCode, 400)
})

test('PKY-03 a challenge is valid for five minutes', async () => {
  const { authenticator } = await world.person()
  const { flowId, options } = await startSignIn()
  const credential = authenticator.authenticate(options)
  world.pass(300)
  assert.equal((await post('/api/auth/login/finish', { flowId, credential })).json().error, 'invalid_flow')
})

test('PKY-11 a passkey that belongs to an account cannot register another one', async () => {
  const { authenticator } = await world.person()
  const handle = someHandle()
  const { flowId, options } = await startRegistration(handle)
  const answer = await post('/api/auth/register/finish', { flowId, credential: authenticator.register(options) })
  assert.equal(answer.statusCode, 409)
  assert.equal(answer.json().error, 'credential_in_use')
  assert.ok((await startRegistration(handle)).flowId, 'nothing of the second account was stored')
})

test('PKY-14 a counter that goes back is rejected and audited; one that stays at zero is accepted', async () => {
  const { authenticator, userId } = await world.person()
  const signIn = async (signCount: number) => {
    const { flowId, options } = await startSignIn()
    return (
      await post('/api/auth/login/finish', { flowId, credential: authenticator.authenticate(options, { signCount }) })
    ).statusCode
  }
  assert.deepEqual([await signIn(0), await signIn(0), await signIn(7), await signIn(8)], [200, 200, 200, 200])
  assert.deepEqual([await signIn(8), await signIn(3), await signIn(0)], [401, 401, 401])
  assert.equal((await auditEventsOf(world.db, userId, 'passkey.sign_count_regressed')).length, 3)
})

test('PKY-14 of two concurrent sign-ins with one count, one is rejected and audited', async () => {
  const { authenticator, userId } = await world.person()
  const answers = await Promise.all(
    [startSignIn(), startSignIn()].map(async (started) => {
      const { flowId, options } = await started
      const credential = authenticator.authenticate(options, { signCount: 5 })
      return post('/api/auth/login/finish', { flowId, credential })
    }),
  )
  assert.deepEqual(answers.map(({ statusCode }) => statusCode).toSorted(), [200, 401])
  assert.equal((await auditEventsOf(world.db, userId, 'passkey.sign_count_regressed')).length, 1)
})

test('PKY-19 the start of a sign-in is the same for a known handle, an unknown one and none', async () => {
  const { handle } = await world.person()
  const shapes = await Promise.all(
    [{ handle }, { handle: 'nobody-at-all' }, {}].map(async (payload) => {
      const answer = await post('/api/auth/login/start', payload)
      const { options } = answer.json()
      return { status: answer.statusCode, ...options, challenge: options.challenge.length }
    }),
  )
  assert.deepEqual(shapes[0], shapes[1])
  assert.deepEqual(shapes[0], shapes[2])
  assert.deepEqual(shapes[0]?.allowCredentials, [])
})

test('PKY-19 the start of a sign-in reads no account, so that its timing discloses none', async () => {
  const { handle } = await world.person()
  const tables = ['identity', 'identity_handle', 'passkey_credential']
  const rename = async (from: (name: string) => string, to: (name: string) => string) => {
    for (const name of tables)
      await sql`alter table ${sql.table(from(name))} rename to ${sql.id(to(name))}`.execute(world.db)
  }
  const [own, hidden] = [(name: string) => name, (name: string) => `${name}_hidden`]
  await rename(own, hidden)
  try {
    for (const payload of [{ handle }, { handle: 'nobody-at-all' }])
      assert.equal((await post('/api/auth/login/start', payload)).statusCode, 200)
  } finally {
    await rename(hidden, own)
  }
})

test('PKY-20 a passkey of another user does not re-authenticate a session', async () => {
  const [person, other] = [await world.person(), await world.person()]
  const start = async () => (await post('/api/auth/reauthenticate/start', {}, person.headers)).json()
  const theirs = await start()
  const wrong = { flowId: theirs.flowId, credential: other.authenticator.authenticate(theirs.options) }
  assert.equal((await post('/api/auth/reauthenticate/finish', wrong, person.headers)).statusCode, 401)
  const stolen = await start()
  const mine = { flowId: stolen.flowId, credential: person.authenticator.authenticate(stolen.options) }
  assert.equal((await post('/api/auth/reauthenticate/finish', mine, other.headers)).statusCode, 401)
})

test('PKY-24 LOD-08 unfinished ceremonies are limited and cleaned up', async (t) => {
  const limited = await createWorld({ rateLimits: true })
  t.after(() => limited.close())
  const begin = () =>
    limited.api.inject({
      method: 'POST',
      url: '/api/auth/register/start',
      payload: { handle: someHandle(), displayName: 'Someone' },
    })
  const statuses: number[] = []
  for (let tries = 0; tries < 12; tries += 1) statuses.push((await begin()).statusCode)
  assert.deepEqual(statuses, [...Array<number>(10).fill(200), 429, 429])
  limited.pass(301)
  const { pruneFlows } = await import('#accounts/passkeys/ceremony.ts')
  assert.equal(await pruneFlows(limited.db, limited.now(), 4), 4)
  assert.equal(await pruneFlows(limited.db, limited.now(), 500), 6)
  assert.equal(await pruneFlows(limited.db, limited.now(), 500), 0)
})

async function sessionsOf(userId: UserId): Promise<number> {
  return (await world.db.selectFrom('session').select('session_id').where('user_id', '=', userId).execute()).length
}
