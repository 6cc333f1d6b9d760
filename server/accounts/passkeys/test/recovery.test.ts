import assert from 'node:assert/strict'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import type { IdentityId } from '@countersign/protocol/ids'
import { sql } from 'kysely'
import { auditEventsOf } from '#testing/audit-events.ts'
import { createAuthenticator, type AuthenticatorOverrides } from '#testing/authenticator.ts'
import { codeIn, openMailbox } from '#testing/mailbox.ts'
import { addIdentity, editAddress } from '#testing/people.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const place = { origin: 'http://localhost:4401', rpId: 'localhost' }
const newCode = () => randomBytes(32).toString('base64url')
const post = (url: string, payload: object, headers: Record<string, string> = {}) =>
  world.api.inject({ method: 'POST', url, payload, headers })
const get = (url: string, headers: Record<string, string>) => world.api.inject({ url, headers })
const start = (handle: string, recoveryAuth: string) => post('/api/auth/recover/start', { handle, recoveryAuth })

/** Registers a user with keys, a passkey that unlocks them, and a recovery code. */
async function register() {
  const handle = `someone-${randomBytes(6).toString('hex')}`
  const recoveryAuth = newCode()
  const authenticator = createAuthenticator(place)
  const { flowId, options } = (await post('/api/auth/register/start', { handle, displayName: 'Someone' })).json()
  const signing = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' }).x ?? ''
  const encryption = generateKeyPairSync('x25519').publicKey.export({ type: 'spki', format: 'der' })
  const answer = await post('/api/auth/register/finish', {
    flowId,
    credential: authenticator.register(options),
    keyWraps: [
      { kind: 'passkey_prf', credentialId: authenticator.credentialId, ciphertext: 'by.pass.key' },
      { kind: 'recovery_code', ciphertext: 'by.recovery.code' },
    ],
    signingKey: { publicKey: Buffer.from(signing, 'base64url').toString('base64'), encryptedPrivateKey: 'signing' },
    encryptionKey: { publicKey: encryption.toString('base64'), encryptedPrivateKey: 'encryption' },
    recoveryAuth,
  })
  const { sessionToken, user, identities } = answer.json()
  const headers = { authorization: `Bearer ${sessionToken}` }
  return { handle, recoveryAuth, authenticator, headers, userId: user.userId, identityId: identities[0].identityId }
}

async function finish(started: Awaited<ReturnType<typeof start>>, bent: AuthenticatorOverrides = {}) {
  const { flowId, options } = started.json()
  const authenticator = createAuthenticator(place)
  const credential = authenticator.register(options, bent)
  return { answer: await post('/api/auth/recover/finish', { flowId, credential }), authenticator }
}

async function keyRows(identityId: IdentityId) {
  const [signing, encryption] = await Promise.all([
    world.db.selectFrom('signing_key').selectAll().where('identity_id', '=', identityId).execute(),
    world.db.selectFrom('encryption_identity_key').selectAll().where('identity_id', '=', identityId).execute(),
  ])
  return { signing, encryption }
}

test('REC-04 recovery signs in with the new passkey, ends all other sessions and keeps the keys', async () => {
  const person = await register()
  const keys = await keyRows(person.identityId)
  const { answer, authenticator } = await finish(await start(person.handle.toUpperCase(), person.recoveryAuth))
  assert.equal(answer.statusCode, 200, answer.body)
  const { sessionToken, user, identities, keyWraps } = answer.json()
  assert.deepEqual([user.userId, identities[0].handle], [person.userId, person.handle])
  assert.deepEqual(keyWraps.map(({ ciphertext }: { ciphertext: string }) => ciphertext).toSorted(), [
    'by.pass.key',
    'by.recovery.code',
  ])
  assert.match(String([answer.headers['set-cookie']].flat()[0]), /^__Host-countersign=cs_session_/)
  assert.equal((await get('/api/auth/session', person.headers)).statusCode, 401)
  const session = { authorization: `Bearer ${sessionToken}` }
  const { sessions } = (await get('/api/auth/sessions', session)).json()
  assert.deepEqual(
    sessions.map(({ current }: { current: boolean }) => current),
    [true],
  )
  assert.deepEqual(await keyRows(person.identityId), keys)
  const started = (await post('/api/auth/login/start', {})).json()
  const credential = authenticator.authenticate(started.options)
  assert.equal((await post('/api/auth/login/finish', { flowId: started.flowId, credential })).statusCode, 200)
  const [recovered, ...more] = await auditEventsOf(world.db, person.userId, 'account.recovered')
  assert.deepEqual([recovered?.details['sessionsEnded'], more], [1, []])
})

test('REC-04 REC-06 PEO-43 a recovery notifies the verified address alone, with the configured host', async (t) => {
  const mailbox = await openMailbox()
  const mailing = await createWorld({ environment: { SMTP_URL: mailbox.url, MAIL_FROM: 'id@example.com' } })
  t.after(async () => {
    await mailing.close()
    await mailbox.close()
  })
  const person = await mailing.person()
  const { handle, headers, identityId } = person
  const ask = (method: 'POST' | 'PUT', url: string, payload: object, more: Record<string, string> = {}) =>
    mailing.api.inject({ method, url, payload, headers: { ...headers, ...more } })
  await ask('POST', `/api/identities/${identityId}/email`, { email: 'ada@example.com' })
  await ask('POST', `/api/identities/${identityId}/email/verify`, { code: codeIn(await mailbox.take()) })
  const second = await addIdentity(mailing, person, { handle: 'second-identity', displayName: 'Ada' })
  await editAddress(mailing, second, 'operator@example.com')
  assert.deepEqual((await mailbox.take()).to, ['operator@example.com'])
  const recoveryAuth = newCode()
  await ask('PUT', '/api/account/recovery', { recoveryAuth, ciphertext: 'x' })
  const { flowId, options } = (await ask('POST', '/api/auth/recover/start', { handle, recoveryAuth })).json()
  const credential = createAuthenticator(place).register(options)
  const forged = { host: 'evil.example', 'accept-language': 'de' }
  const finished = await ask('POST', '/api/auth/recover/finish', { flowId, credential }, forged)
  assert.equal(finished.statusCode, 200, finished.body)
  const mail = await mailbox.take()
  assert.deepEqual(mail.to, ['ada@example.com'])
  assert.match(mail.text, new RegExp(`@${handle} auf localhost:4401`))
  assert.match(mail.text, /http:\/\/localhost:4401\/account\/passkeys/)
  assert.doesNotMatch(mail.text, /evil/)
  // An operator could else learn which identities belong to one account: their owner hears of a recovery at once.
  await editAddress(mailing, second, 'next@example.com')
  const next = [(await mailbox.take()).subject, (await mailbox.take()).subject]
  assert.ok(
    next.every((subject) => !/wiederhergestellt|recovered/.test(subject)),
    String(next),
  )
})

test('REC-01 a recovery code works once, even with thirty-two concurrent attempts', async () => {
  const person = await register()
  const started = await Promise.all(Array.from({ length: 32 }, () => start(person.handle, person.recoveryAuth)))
  const finished = await Promise.all(started.map((each) => finish(each)))
  const statuses = finished.map(({ answer }) => answer.statusCode)
  assert.equal(statuses.filter((status) => status === 200).length, 1)
  for (const { answer } of finished.filter((each) => each.answer.statusCode !== 200))
    assert.deepEqual([answer.statusCode, answer.json().error], [400, 'invalid_flow'])
  const passkeys = await world.db
    .selectFrom('passkey_credential')
    .select('credential_id')
    .where('user_id', '=', person.userId)
    .execute()
  assert.equal(passkeys.length, 2)
  assert.equal((await start(person.handle, person.recoveryAuth)).json().error, 'invalid_credential')
})

test('REC-01 REC-03 a ceremony that was finished or whose code was replaced is rejected', async () => {
  const person = await register()
  const first = await start(person.handle, person.recoveryAuth)
  const second = await start(person.handle, person.recoveryAuth)
  const replaced = { recoveryAuth: newCode(), ciphertext: 'new' }
  const put = await world.api.inject({
    method: 'PUT',
    url: '/api/account/recovery',
    headers: person.headers,
    payload: replaced,
  })
  assert.equal(put.statusCode, 200, put.body)
  assert.equal((await finish(first)).answer.json().error, 'invalid_flow')
  assert.equal((await finish(first)).answer.json().error, 'invalid_flow')
  world.pass(300)
  assert.equal((await finish(second)).answer.json().error, 'invalid_flow')
  assert.equal((await get('/api/auth/session', person.headers)).statusCode, 200)
  assert.equal((await finish(await start(person.handle, replaced.recoveryAuth))).answer.statusCode, 200)
})

test('a recovery with an invalid passkey changes nothing, and the code stays valid', async () => {
  const person = await register()
  for (const bent of [{ userVerified: false }, { origin: 'https://evil.example' }, { type: 'webauthn.get' }]) {
    const { answer } = await finish(await start(person.handle, person.recoveryAuth), bent)
    assert.deepEqual([answer.statusCode, answer.json().error], [400, 'invalid_credential'])
  }
  const taken = { credentialId: Buffer.from(person.authenticator.credentialId, 'base64url') }
  const { answer } = await finish(await start(person.handle, person.recoveryAuth), taken)
  assert.equal(answer.json().error, 'credential_in_use')
  assert.equal((await get('/api/auth/session', person.headers)).statusCode, 200)
  assert.equal((await finish(await start(person.handle, person.recoveryAuth))).answer.statusCode, 200)
})

test('REC-05 LKP-09 a wrong code and an unknown handle cause the same response', async () => {
  const [person, other] = [await register(), await register()]
  const withoutCode = await world.person()
  const tries = [
    await start(person.handle, newCode()),
    await start(person.handle, other.recoveryAuth),
    await start('nobody-at-all', person.recoveryAuth),
    await start(withoutCode.handle, newCode()),
    await start('%', person.recoveryAuth),
  ]
  const [first] = tries
  assert.equal(first?.statusCode, 401)
  const volatile = new Set(['date', 'x-request-id'])
  const shapeOf = ({ statusCode, body, headers }: NonNullable<typeof first>) => ({
    statusCode,
    body,
    headers: Object.entries(headers).filter(([name]) => !volatile.has(name)),
  })
  for (const answer of tries) assert.deepEqual(shapeOf(answer), shapeOf(first))
})

test('REC-05 a wrong code and an unknown handle take the same time in a thousand attempts', async () => {
  const { handle } = await register()
  const measure = async (requested: string) => {
    const began = process.hrtime.bigint()
    await start(requested, newCode())
    return Number(process.hrtime.bigint() - began) / 1000
  }
  const known: number[] = []
  const unknown: number[] = []
  for (let round = 0; round < 500; round += 1) {
    known.push(await measure(handle))
    unknown.push(await measure(`nobody-${String(round).padStart(5, '0')}`))
  }
  // Other load on the machine only adds time, so the shorter times are more accurate.
  const quick = (values: number[]) => values.toSorted((a, b) => a - b)[values.length / 10] ?? 0
  const [a, b] = [quick(known), quick(unknown)]
  assert.ok(Math.abs(a - b) / Math.max(a, b) < 0.25, `${a} and ${b} microseconds`)
})

test('REC-02 twenty wrong codes in an hour block their address and no other recovery', async (t) => {
  const limited = await createWorld({ rateLimits: true })
  t.after(() => limited.close())
  const person = await limited.person()
  const recoveryAuth = newCode()
  const renew = (headers: Record<string, string>) =>
    limited.api.inject({
      method: 'PUT',
      url: '/api/account/recovery',
      headers,
      payload: { recoveryAuth, ciphertext: 'new' },
    })
  assert.equal((await renew(person.headers)).statusCode, 200)
  const attempt = async (handle: string, remoteAddress: string, code = newCode()) => {
    const payload = { handle, recoveryAuth: code }
    const answer = await limited.api.inject({ method: 'POST', url: '/api/auth/recover/start', payload, remoteAddress })
    return [answer.statusCode, answer.json().error]
  }
  for (const address of ['192.0.2.66', '192.0.2.67', '192.0.2.68']) {
    for (let tries = 0; tries < 20; tries += 1) {
      const handle = [person.handle, 'nobody-at-all', person.handle.toUpperCase()][tries % 3] ?? ''
      assert.deepEqual(await attempt(handle, address), [401, 'invalid_credential'])
    }
    assert.deepEqual(await attempt(person.handle, address), [429, 'rate_limited'])
    assert.deepEqual(await attempt('somebody-else', address), [429, 'rate_limited'])
  }
  assert.deepEqual(await attempt(person.handle, '203.0.113.9', recoveryAuth), [200, undefined])
  await person.signIn()
  assert.equal((await renew(person.headers)).statusCode, 200, 'a signed-in user stays signed in')
  limited.pass(3600)
  assert.deepEqual(await attempt(person.handle, '192.0.2.66', recoveryAuth), [200, undefined])
})

test('GRW-16 recoveries keep an account at twenty passkeys, and remove those of former recoveries first', async () => {
  const person = await register()
  const own = [person.authenticator.credentialId]
  for (let count = 1; count < 19; count += 1) {
    world.pass(1)
    const { flowId, options } = (await post('/api/auth/passkeys/start', {}, person.headers)).json()
    const { register: create, credentialId } = createAuthenticator(place)
    const keyWrap = { kind: 'passkey_prf', credentialId, ciphertext: 'by.pass.key' }
    const finished = { flowId, credential: create(options), keyWrap }
    assert.equal((await post('/api/auth/passkeys/finish', finished, person.headers)).statusCode, 201)
    own.push(credentialId)
  }
  let code = person.recoveryAuth
  async function recover() {
    world.pass(1)
    const { answer, authenticator } = await finish(await start(person.handle, code))
    assert.equal(answer.statusCode, 200, answer.body)
    const headers = { authorization: `Bearer ${answer.json().sessionToken}` }
    code = newCode()
    const payload = { recoveryAuth: code, ciphertext: 'new' }
    await world.api.inject({ method: 'PUT', url: '/api/account/recovery', headers, payload })
    const { passkeys } = (await get('/api/auth/passkeys', headers)).json()
    const { keyWraps } = (await get('/api/account/key-wraps', headers)).json()
    return { authenticator, wraps: keyWraps.length - 1, ids: new Set(passkeys.map(idOf)) }
  }
  const idOf = ({ credentialId }: { credentialId: string }) => credentialId
  const [first, second] = [await recover(), await recover()]
  assert.deepEqual([first.ids.size, second.ids.size, second.wraps], [20, 20, 19])
  assert.deepEqual([...new Set(own).difference(second.ids)], [])
  const [removed, ...more] = await auditEventsOf(world.db, person.userId, 'passkey.removed')
  const details = { credentialId: first.authenticator.credentialId }
  assert.deepEqual([removed?.actor, removed?.details, more], ['system', details, []])

  world.pass(1)
  const { flowId, options } = (await post('/api/auth/login/start', {})).json()
  const credential = second.authenticator.authenticate(options)
  assert.equal((await post('/api/auth/login/finish', { flowId, credential })).statusCode, 200)
  const third = await recover()
  assert.deepEqual([...new Set(own).difference(third.ids), third.wraps], [own.at(-1), 18])
  assert.equal(third.ids.has(second.authenticator.credentialId), true, 'a passkey in use')

  const used = world.db.updateTable('passkey_credential').where('user_id', '=', person.userId)
  await used.set(({ ref }) => ({ last_used_at: sql`${ref('created_at')} + interval '1 second'` })).execute()
  const fourth = await recover()
  assert.deepEqual([...third.ids.difference(fourth.ids), fourth.wraps], [own[0], 17])

  const ofPerson = world.db.selectFrom('passkey_credential').selectAll().where('user_id', '=', person.userId)
  const further = (await ofPerson.execute()).slice(0, 3).map((row, n) => ({ ...row, credential_id: `further-${n}` }))
  await world.db.insertInto('passkey_credential').values(further).execute()
  assert.equal((await recover()).ids.size, 20, 'earlier recoveries exceeded the limit')
})

test('a user can see whether a recovery code is active', async () => {
  const person = await register()
  const since = async (headers: Record<string, string>) =>
    (await get('/api/account/recovery', headers)).json().createdAt
  assert.equal(await since(person.headers), world.now().toISOString())
  const { answer } = await finish(await start(person.handle, person.recoveryAuth))
  const headers = { authorization: `Bearer ${answer.json().sessionToken}` }
  assert.equal(await since(headers), null)
  const renew = { recoveryAuth: newCode(), ciphertext: 'new' }
  await world.api.inject({ method: 'PUT', url: '/api/account/recovery', headers, payload: renew })
  assert.equal(await since(headers), world.now().toISOString())
  assert.equal((await start(person.handle, person.recoveryAuth)).statusCode, 401)
  assert.equal((await finish(await start(person.handle, renew.recoveryAuth))).answer.statusCode, 200)
})
