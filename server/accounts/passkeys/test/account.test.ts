import assert from 'node:assert/strict'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import type { AccountExport } from '@countersign/protocol/accounts/account'
import { auditEventsOf } from '#testing/audit-events.ts'
import { createAuthenticator } from '#testing/authenticator.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const place = { origin: 'http://localhost:4401', rpId: 'localhost' }
const page = { origin: 'http://localhost:4401' }
const post = (url: string, payload: object, headers: Record<string, string> = {}) =>
  world.api.inject({ method: 'POST', url, payload, headers })
const get = (url: string, headers: Record<string, string>) => world.api.inject({ url, headers })
const someHandle = () => `someone-${randomBytes(6).toString('hex')}`

async function register(more: object = {}, handle = someHandle()) {
  const authenticator = createAuthenticator(place)
  const { flowId, options } = (await post('/api/auth/register/start', { handle, displayName: 'Someone' })).json()
  const payload = { flowId, credential: authenticator.register(options), ...more }
  return { answer: await post('/api/auth/register/finish', payload), authenticator }
}

function keys() {
  const signing = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' }).x ?? ''
  const encryption = generateKeyPairSync('x25519').publicKey.export({ type: 'spki', format: 'der' })
  return {
    keyWraps: [
      { kind: 'passkey_prf', credentialId: 'abc', ciphertext: 'a.b.c.d.e' },
      { kind: 'recovery_code', ciphertext: 'f.g.h.i.j' },
    ],
    signingKey: { publicKey: Buffer.from(signing, 'base64url').toString('base64'), encryptedPrivateKey: 'k.l.m.n.o' },
    encryptionKey: { publicKey: encryption.toString('base64'), encryptedPrivateKey: 'p.q.r.s.t' },
    recoveryAuth: randomBytes(32).toString('base64url'),
  }
}

test('an account returns the keys as the browser created them', async () => {
  const { answer, authenticator } = await register(keys())
  assert.equal(answer.statusCode, 201, answer.body)
  const { sessionToken } = answer.json()
  const { keyWraps } = (await get('/api/account/key-wraps', { authorization: `Bearer ${sessionToken}` })).json()
  assert.deepEqual(keyWraps.map(({ kind, ciphertext }: Record<string, string>) => [kind, ciphertext]).toSorted(), [
    ['passkey_prf', 'a.b.c.d.e'],
    ['recovery_code', 'f.g.h.i.j'],
  ])
  const { flowId, options } = (await post('/api/auth/login/start', {})).json()
  const signedIn = await post('/api/auth/login/finish', { flowId, credential: authenticator.authenticate(options) })
  assert.deepEqual(signedIn.json().keyWraps, keyWraps)
})

test('keys belong to the account that is created with them, whatever identity they name', async () => {
  const victim = await world.person()
  const named = { identityId: victim.identityId, userId: victim.userId, keyVersion: 7, wrapId: victim.userId }
  const { signingKey, encryptionKey, keyWraps, ...more } = keys()
  const { answer } = await register({
    signingKey: { ...signingKey, ...named },
    encryptionKey: { ...encryptionKey, ...named },
    keyWraps: keyWraps.map((wrap) => ({ ...wrap, ...named })),
    ...more,
  })
  assert.equal(answer.statusCode, 201, answer.body)
  const exported = async (headers: Record<string, string>) => {
    const { identities, keyWraps: wraps } = (await get('/api/account/export', headers)).json<AccountExport>()
    return { signing: identities[0]?.signingKeys, encryption: identities[0]?.encryptionKey, wraps }
  }
  assert.deepEqual(await exported(victim.headers), { signing: [], encryption: null, wraps: [] })
  const own = await exported({ authorization: `Bearer ${answer.json().sessionToken}` })
  assert.deepEqual(
    own.signing?.map(({ publicKey, keyVersion }) => [publicKey, keyVersion]),
    [[signingKey.publicKey, 1]],
  )
  assert.equal(own.encryption?.publicKey, encryptionKey.publicKey)
  assert.ok(own.wraps.length === 2 && own.wraps.every(({ wrapId }) => wrapId !== victim.userId))
})

test('two accounts cannot have the same signing key', async () => {
  const shared = keys()
  assert.equal((await register(shared)).answer.statusCode, 201)
  const { answer } = await register({ ...keys(), signingKey: shared.signingKey })
  assert.equal(answer.statusCode, 409)
  assert.equal(answer.json().error, 'key_in_use')
})

const unfit: Record<string, object> = {
  'a signing key of 31 bytes': {
    signingKey: { publicKey: randomBytes(31).toString('base64'), encryptedPrivateKey: 'x' },
  },
  'an Ed25519 key to encrypt with': {
    encryptionKey: {
      publicKey: generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
      encryptedPrivateKey: 'x',
    },
  },
  'a wrap of a passkey that is not named': { keyWraps: [{ kind: 'passkey_prf', ciphertext: 'x' }] },
  'two recovery codes': {
    keyWraps: [
      { kind: 'recovery_code', ciphertext: 'x' },
      { kind: 'recovery_code', ciphertext: 'y' },
    ],
  },
  'a ciphertext over 16 KiB': { keyWraps: [{ kind: 'recovery_code', ciphertext: 'x'.repeat(16_385) }] },
}
for (const [what, more] of Object.entries(unfit))
  test(`an account with ${what} is rejected`, async () => {
    const { answer } = await register(more)
    assert.equal(answer.statusCode, 400, answer.body)
  })

test('REC-07 of two concurrent registrations of one handle, in any letter case, one succeeds', async () => {
  const handle = someHandle()
  const answers = await Promise.all(
    [handle, handle.toUpperCase(), handle].map(async (each) => {
      const authenticator = createAuthenticator(place)
      const started = await post('/api/auth/register/start', { handle: each, displayName: 'Someone' })
      return { authenticator, started: started.json() }
    }),
  )
  const finished = await Promise.all(
    answers.map(({ authenticator, started }) =>
      post('/api/auth/register/finish', {
        flowId: started.flowId,
        credential: authenticator.register(started.options),
      }),
    ),
  )
  assert.deepEqual(finished.map(({ statusCode }) => statusCode).toSorted(), [201, 409, 409])
  const refused = finished.find(({ statusCode }) => statusCode === 409)
  assert.equal(refused?.json().error, 'handle_taken')
  assert.equal((await post('/api/auth/register/start', { handle, displayName: 'X' })).json().error, 'handle_taken')
})

test('a handle that resembles staff or is malformed is rejected', async () => {
  for (const handle of ['admin', 'Support', 'count-er-sign', 'ro_ot'])
    assert.equal(
      (await post('/api/auth/register/start', { handle, displayName: 'X' })).json().error,
      'invalid_handle',
      handle,
    )
  for (const handle of ['ab', '-alice', 'alice.', 'al ice', 'älice', 'a'.repeat(33)])
    assert.equal(
      (await post('/api/auth/register/start', { handle, displayName: 'X' })).json().error,
      'invalid_request',
      handle,
    )
  for (const displayName of [' ', 'a\u202eb', 'x'.repeat(81)])
    assert.equal((await post('/api/auth/register/start', { handle: someHandle(), displayName })).statusCode, 400)
})

/** Returns the cookies of pages, without that of FedCM. */
const sessionCookies = ({ headers }: { headers: Record<string, unknown> }) =>
  [headers['set-cookie']]
    .flat()
    .map(String)
    .filter((each) => !each.includes('-fedcm='))

test('SES-03 the session cookie is HttpOnly and Lax, and __Host- where there is TLS', async (t) => {
  const { answer } = await register()
  const cookies = sessionCookies(answer)
  assert.equal(cookies.length, 2)
  for (const cookie of cookies) assert.match(cookie, /; Path=\/; .*HttpOnly; SameSite=Lax/)
  assert.match(cookies[0] ?? '', /^__Host-countersign=cs_session_.*; Secure$/)

  const hosted = await createWorld({
    environment: {
      BASE_URL: 'https://api.example.com',
      AUTH_URL: 'https://id.example.com',
      BUSINESS_URL: 'https://business.example.com',
      ALLOW_EMBEDDED: '1',
    },
  })
  t.after(() => hosted.close())
  const { authenticator } = await hosted.person()
  const { flowId, options } = (
    await hosted.api.inject({ method: 'POST', url: '/api/auth/login/start', payload: {} })
  ).json()
  const payload = { flowId, credential: authenticator.authenticate(options) }
  const signedIn = await hosted.api.inject({ method: 'POST', url: '/api/auth/login/finish', payload })
  const secure = sessionCookies(signedIn)
  assert.equal(secure.length, 1)
  assert.match(secure[0] ?? '', /^__Host-countersign=.*; Path=\/; .*HttpOnly; SameSite=Lax; Secure$/)
  assert.match(String(signedIn.headers['strict-transport-security']), /max-age=\d{8}/)
})

test('SES-08 AUZ-13 the session cookie is accepted only from pages of the service', async () => {
  const { sessionToken } = await world.person()
  for (const name of ['__Host-countersign', 'countersign']) {
    const cookie = `${name}=${sessionToken}`
    assert.equal((await get('/api/auth/session', { cookie, ...page })).statusCode, 200)
    for (const origin of [
      'https://evil.example',
      'null',
      'http://localhost:4400',
      'http://localhost:4401.evil.example',
    ]) {
      const answer = await get('/api/auth/session', { cookie, origin })
      assert.equal(answer.statusCode, 403)
      assert.equal(answer.json().error, 'invalid_origin')
    }
    assert.equal((await get('/api/auth/session', { cookie })).statusCode, 403)
    assert.equal((await get('/api/auth/session', { cookie, 'sec-fetch-site': 'cross-site' })).statusCode, 403)
    assert.equal((await get('/api/auth/session', { cookie, 'sec-fetch-site': 'same-origin' })).statusCode, 200)
  }
})

test('SES-09 a malformed, duplicate or oversized cookie authenticates no user', async () => {
  const { sessionToken } = await world.person()
  const cookies = [
    'countersign=',
    'countersign=%ff%fe',
    `countersign=${sessionToken}x`,
    `countersign=${sessionToken}; countersign=${sessionToken.slice(0, -1)}`,
    `countersign=${'x'.repeat(6000)}`,
    ';;;===',
  ]
  for (const cookie of cookies)
    assert.equal((await get('/api/auth/session', { cookie, ...page })).statusCode, 401, cookie)
})

test('SES-01 each sign-in creates a session, and signing out ends only that one', async () => {
  const person = await world.person()
  const second = await person.signIn()
  assert.notEqual(second.authorization, person.headers.authorization)
  const out = await world.api.inject({ method: 'DELETE', url: '/api/auth/session', headers: second })
  assert.equal(out.statusCode, 204)
  for (const cookie of [out.headers['set-cookie']].flat()) assert.match(String(cookie), /=; Path=\/; Max-Age=0;/)
  assert.equal((await get('/api/auth/session', second)).statusCode, 401)
  assert.equal((await auditEventsOf(world.db, person.userId, 'session.revoked')).length, 1)
  assert.equal((await get('/api/auth/session', person.headers)).statusCode, 200)
})

test('SES-04 a session ends thirty days after its last use and ninety days after its creation', async () => {
  const day = 24 * 3600
  const [idle, busy] = [await world.person(), await world.person()]
  for (let days = 0; days < 84; days += 28) {
    world.pass(28 * day)
    assert.equal((await get('/api/auth/session', busy.headers)).statusCode, 200, `after ${days + 28} days`)
  }
  assert.equal((await get('/api/auth/session', idle.headers)).statusCode, 401)
  world.pass(6 * day)
  assert.equal((await get('/api/auth/session', busy.headers)).statusCode, 401)
})

test('changing keys requires authentication within the last five minutes', async () => {
  const person = await world.person()
  const replace = () =>
    world.api.inject({
      method: 'PUT',
      url: '/api/account/recovery',
      headers: person.headers,
      payload: { recoveryAuth: randomBytes(32).toString('base64url'), ciphertext: 'new' },
    })
  world.pass(301)
  assert.equal((await replace()).json().error, 'reauthentication_required')
  const { flowId, options } = (await post('/api/auth/reauthenticate/start', {}, person.headers)).json()
  const credential = person.authenticator.authenticate(options)
  const proved = await post('/api/auth/reauthenticate/finish', { flowId, credential }, person.headers)
  assert.equal(proved.json().authTime, world.now().toISOString())
  const replaced = await replace()
  assert.equal(replaced.statusCode, 200, replaced.body)
  assert.deepEqual(
    replaced.json().keyWraps.map(({ kind }: { kind: string }) => kind),
    ['recovery_code'],
  )
  await replace()
  assert.equal((await get('/api/account/key-wraps', person.headers)).json().keyWraps.length, 1)
})

test('a user has at most twenty identities, each with its own handle', async () => {
  const person = await world.person()
  const add = () => post('/api/identities', { handle: someHandle(), displayName: 'Another me' }, person.headers)
  const answers = await Promise.all(Array.from({ length: 24 }, add))
  assert.equal(answers.filter(({ statusCode }) => statusCode === 201).length, 19)
  for (const answer of answers.filter(({ statusCode }) => statusCode !== 201))
    assert.equal(answer.json().error, 'too_many_identities')
  const { identities } = (await get('/api/identities', person.headers)).json()
  assert.equal(identities.length, 20)
  assert.equal(identities[0].identityId, person.identityId)
})

test('only its owner can read and change an identity', async () => {
  const [person, other] = [await world.person(), await world.person()]
  const url = `/api/identities/${person.identityId}`
  const rename = (headers: Record<string, string>) =>
    world.api.inject({ method: 'PATCH', url, headers, payload: { displayName: 'Grace' } })
  assert.equal((await get(url, other.headers)).json().error, 'identity_not_found')
  assert.equal((await rename(other.headers)).statusCode, 404)
  assert.equal((await rename(person.headers)).json().displayName, 'Grace')
  assert.equal((await get(url, person.headers)).json().displayName, 'Grace')
})

test('the list of passkeys shows what each one can do', async () => {
  const { answer, authenticator } = await register()
  const headers = { authorization: `Bearer ${answer.json().sessionToken}` }
  const list = async () => (await get('/api/auth/passkeys', headers)).json().passkeys
  const [passkey] = await list()
  assert.deepEqual(
    [passkey.credentialId, passkey.backedUp, passkey.opensKeys],
    [authenticator.credentialId, true, false],
  )
  const keyWraps = [{ kind: 'passkey_prf', credentialId: authenticator.credentialId, ciphertext: 'x' }]
  await world.api.inject({ method: 'PUT', url: '/api/account/key-wraps', headers, payload: { keyWraps } })
  assert.equal((await list())[0].opensKeys, true)
})
