import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { rotationMessage } from '@countersign/protocol/formats/messages/messages'
import { type IdentityId, asId } from '@countersign/protocol/ids'
import { createSigner, newSigningPair, rotationOf, testLog } from '#testing/signer.ts'
import { createWorld, type Person, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

type Answer = { statusCode: number; json: () => { error?: string } }
const errorOf = (answer: Answer) => [answer.statusCode, answer.json().error]
const malformed = [400, 'invalid_request']

const send = (method: 'GET' | 'POST' | 'PUT', url: string, headers: Record<string, string>, payload?: object) =>
  world.api.inject({ method, url, headers, ...(payload && { payload }) })
const keyOf = (identityId: string) => `/api/signing/keys/${identityId}`
const readKey = ({ identityId, headers }: Person) => send('GET', keyOf(identityId), headers)
const createKey = ({ identityId, headers }: Person, payload: object) =>
  send('POST', keyOf(identityId), headers, payload)
const newKey = (encryptedPrivateKey = 'a.b.c.d.e') => ({ publicKey: newSigningPair().publicKey, encryptedPrivateKey })

const actionsOf = async ({ identityId }: Person, action: 'signing_key.created' | 'signing_key.rotated') =>
  (
    await world.db
      .selectFrom('audit_event')
      .select('event_id')
      .where('identity_id', '=', identityId)
      .where('action', '=', action)
      .execute()
  ).length

test('KEY-01 of concurrent creations, an identity gets exactly one first key', async () => {
  const ada = await world.person()
  const none = (await readKey(ada)).json()
  const chain = { log: testLog, previous: null }
  assert.deepEqual(none, { identityId: ada.identityId, handle: ada.handle, hasKey: false, chain })
  assert.deepEqual((await send('GET', '/api/signing/keys', ada.headers)).json(), { keys: [] })

  const requested = Array.from({ length: 16 }, () => newKey())
  const answers = await Promise.all(requested.map((key) => createKey(ada, key)))
  const created = answers.filter(({ statusCode }) => statusCode === 201)
  assert.equal(created.length, 1)
  for (const answer of answers.filter((each) => each !== created[0]))
    assert.deepEqual(errorOf(answer), [409, 'key_exists'])
  const { logEntry, ...own } = created[0]?.json() ?? {}
  assert.equal(logEntry.promise.log, testLog)
  const { chain: _chain, ...record } = own
  const createdAt = world.now().toISOString()
  const { identityId, handle } = ada
  const { publicKey } = requested[answers.findIndex(({ statusCode }) => statusCode === 201)] ?? newKey()
  assert.deepEqual(record, {
    ...{ identityId, handle, hasKey: true, publicKey, encryptedPrivateKey: 'a.b.c.d.e' },
    ...{ createdAt, rotatedAt: null, keyVersion: 1, former: [] },
  })
  assert.deepEqual((await readKey(ada)).json(), own)
  assert.deepEqual((await send('GET', '/api/signing/keys', ada.headers)).json(), { keys: [record] })
  assert.equal(await actionsOf(ada, 'signing_key.created'), 1)
})

test('KEY-01 of two identities that create the same key concurrently, one succeeds', async () => {
  const people = await Promise.all(Array.from({ length: 4 }, () => world.person()))
  const key = newKey()
  const answers = await Promise.all(people.map((person) => createKey(person, key)))
  assert.deepEqual(answers.map(({ statusCode }) => statusCode).toSorted(), [201, 409, 409, 409])
  for (const answer of answers) if (answer.statusCode === 409) assert.deepEqual(errorOf(answer), [409, 'key_in_use'])
})

test("KEY-02 key access to another user's identity fails in the same way as to a nonexistent one", async () => {
  const [ada, eve] = [await createSigner(world), await createSigner(world)]
  const unknown = asId<IdentityId>(crypto.randomUUID())
  const bodies = [ada.identityId, unknown].map(async (identityId) => {
    const asEve = { ...eve, identityId }
    const answers = [
      await readKey(asEve),
      await createKey(asEve, newKey()),
      await send('PUT', keyOf(identityId), eve.headers, rotationOf(identityId, eve.pair, newSigningPair())),
      await send('PUT', keyOf(identityId), eve.headers, rotationOf(identityId, ada.pair, newSigningPair())),
    ]
    for (const answer of answers) assert.deepEqual(errorOf(answer), [404, 'identity_not_found'])
    return answers.map(({ body }) => body)
  })
  const [others, none] = await Promise.all(bodies)
  assert.deepEqual(others, none)
  for (const wrong of ['x', '%00', `${ada.identityId}0`])
    assert.deepEqual(errorOf(await send('GET', keyOf(wrong), eve.headers)), [404, 'identity_not_found'])
  const { keys } = (await send('GET', '/api/signing/keys', eve.headers)).json()
  assert.deepEqual(
    keys.map((key: { identityId: IdentityId }) => key.identityId),
    [eve.identityId],
  )
  assert.equal((await readKey(ada)).json().keyVersion, 1)
})

test('KEY-03 a rotation requires a signature of the current key over the exact message', async () => {
  const [ada, bob] = [await createSigner(world), await createSigner(world)]
  const next = newSigningPair()
  const { identityId } = ada
  const { publicKey, encryptedPrivateKey, rotationSignature } = rotationOf(identityId, ada.pair, next)
  const details = { identityId, publicKey, encryptedPrivateKey }
  const action = 'signing_key.rotated'
  const message = JSON.stringify({ version: 1, action, details })
  assert.equal(rotationMessage(details), message)
  const forms = [
    JSON.stringify({ action, version: 1, details }),
    JSON.stringify({ version: 1, action, details: { publicKey, identityId, encryptedPrivateKey } }),
    JSON.stringify({ version: '1', action, details }),
    JSON.stringify({ version: 2, action, details }),
    JSON.stringify({ version: 1, action: 'signing_key.created', details }),
    JSON.stringify({ version: 1, action, details: { ...details, identityId: bob.identityId } }),
    JSON.stringify({ version: 1, action, details }, undefined, 1),
    message.replaceAll('":', '": '),
    `${message}\n`,
    publicKey,
  ]
  const signatures = [
    ...forms.map(ada.pair.sign),
    next.sign(message),
    bob.pair.sign(message),
    newSigningPair().sign(message),
    Buffer.from(rotationSignature, 'base64').toString('base64url'),
    `${rotationSignature}\n`,
    Buffer.alloc(64).toString('base64'),
    ' ',
  ]
  for (const wrong of signatures) {
    const answer = await ada.rotate({ publicKey, encryptedPrivateKey, rotationSignature: wrong })
    assert.deepEqual(errorOf(answer), [403, 'invalid_rotation_signature'], wrong)
  }
  for (const missing of ['publicKey', 'encryptedPrivateKey', 'rotationSignature'])
    assert.deepEqual(
      errorOf(await ada.rotate({ publicKey, encryptedPrivateKey, rotationSignature, [missing]: undefined })),
      malformed,
    )
  assert.equal((await readKey(ada)).json().keyVersion, 1)
  world.pass(60)
  const rotated = await ada.rotate({ publicKey, encryptedPrivateKey, rotationSignature })
  assert.equal(rotated.statusCode, 200, rotated.body)
  const { logEntry: _logEntry, ...record } = rotated.json()
  const { createdAt, rotatedAt, keyVersion } = record
  assert.deepEqual([Date.parse(rotatedAt) - Date.parse(createdAt), keyVersion], [60_000, 2])
  assert.deepEqual((await readKey(ada)).json(), record)
  assert.equal(await actionsOf(ada, 'signing_key.rotated'), 1)
})

test('KEY-03 an identity without a key cannot rotate', async () => {
  const ada = await world.person()
  const rotation = rotationOf(ada.identityId, newSigningPair(), newSigningPair())
  assert.deepEqual(errorOf(await send('PUT', keyOf(ada.identityId), ada.headers, rotation)), [404, 'no_signing_key'])
})

test('KEY-04 the signed data is stored byte for byte', async () => {
  const ada = await createSigner(world)
  const encryptedPrivateKey = 'eyJhbGciOiJkaXIifQ..iv.text.tag'
  const rotation = rotationOf(ada.identityId, ada.pair, newSigningPair(), encryptedPrivateKey)
  const { publicKey } = rotation
  const refused = [403, 'invalid_rotation_signature']
  for (const altered of [`${encryptedPrivateKey} `, `${encryptedPrivateKey}\n`, `${encryptedPrivateKey}=`, 'x'])
    assert.deepEqual(errorOf(await ada.rotate({ ...rotation, encryptedPrivateKey: altered })), refused)
  assert.deepEqual(errorOf(await ada.rotate({ ...rotation, publicKey: newSigningPair().publicKey })), refused)
  const urlSafe = Buffer.from(publicKey, 'base64').toString('base64url')
  for (const altered of [publicKey.slice(0, -1), `${publicKey}\n`, ` ${publicKey}`, `${publicKey}=`, urlSafe])
    assert.deepEqual(errorOf(await ada.rotate({ ...rotation, publicKey: altered })), [400, 'invalid_public_key'])
  assert.equal((await readKey(ada)).json().keyVersion, 1)
  const stored = (await ada.rotate(rotation)).json()
  assert.deepEqual([stored.publicKey, stored.encryptedPrivateKey], [publicKey, encryptedPrivateKey])
})

test('KEY-05 of concurrent rotations one succeeds, and the chain of keys has no fork', async () => {
  const ada = await createSigner(world)
  let { pair } = ada
  for (let round = 1; round <= 3; round += 1) {
    const requested = Array.from({ length: 16 }, () => newSigningPair())
    const answers = await Promise.all(requested.map((next) => ada.rotate(rotationOf(ada.identityId, pair, next))))
    const winner = answers.findIndex(({ statusCode }) => statusCode === 200)
    for (const [index, answer] of answers.entries())
      if (index !== winner) assert.deepEqual(errorOf(answer), [409, 'key_changed'])
    pair = requested[winner] ?? pair
    const { publicKey, keyVersion } = (await readKey(ada)).json()
    assert.deepEqual([publicKey, keyVersion], [requested[winner]?.publicKey, round + 1])
  }
  assert.equal(await actionsOf(ada, 'signing_key.rotated'), 3)
})

test('KEY-06 no rotation can be repeated, and no former key can return', async () => {
  const ada = await createSigner(world)
  const [second, third] = [newSigningPair(), newSigningPair()]
  const rotation = rotationOf(ada.identityId, ada.pair, second)
  assert.equal((await ada.rotate(rotation)).statusCode, 200)
  assert.deepEqual(errorOf(await ada.rotate(rotation)), [409, 'key_changed'])
  assert.equal((await ada.rotate(rotationOf(ada.identityId, second, third))).statusCode, 200)
  assert.deepEqual(errorOf(await ada.rotate(rotation)), [409, 'key_changed'])
  for (const former of [ada.pair, second, third])
    assert.deepEqual(errorOf(await ada.rotate(rotationOf(ada.identityId, third, former))), [409, 'key_used_before'])
  const { publicKey, keyVersion } = (await readKey(ada)).json()
  assert.deepEqual([publicKey, keyVersion], [third.publicKey, 3])
})

test('KEY-07 a key of small order, and a current or former key of another identity, is rejected', async () => {
  const [ada, bob] = [await createSigner(world), await createSigner(world)]
  const later = newSigningPair()
  await bob.rotate(rotationOf(bob.identityId, bob.pair, later))
  for (const taken of [bob.pair, later])
    assert.deepEqual(errorOf(await ada.rotate(rotationOf(ada.identityId, ada.pair, taken))), [409, 'key_in_use'])
  const smallOrder = Buffer.alloc(32).toString('base64')
  const notCanonical = Buffer.from(`ee${'ff'.repeat(30)}7f`, 'hex').toString('base64')
  for (const publicKey of [smallOrder, notCanonical, 'AAAA', ' ']) {
    const weak = rotationOf(ada.identityId, ada.pair, { ...later, publicKey })
    assert.deepEqual(errorOf(await ada.rotate(weak)), [400, 'invalid_public_key'], publicKey)
    const keyless = await world.person()
    const created = await createKey(keyless, { publicKey, encryptedPrivateKey: 'a.b.c.d.e' })
    assert.deepEqual(errorOf(created), [400, 'invalid_public_key'])
  }
  assert.equal((await readKey(ada)).json().keyVersion, 1)
})

test('KEY-08 a private key is returned as the stored ciphertext, of at most 16 KiB', async () => {
  for (const encryptedPrivateKey of ['a', 'x'.repeat(16 * 1024), 'ümläut 👩', ' a\r\n\tb ']) {
    const ada = await world.person()
    const created = await createKey(ada, newKey(encryptedPrivateKey))
    assert.equal(created.statusCode, 201, created.body)
    assert.equal((await readKey(ada)).json().encryptedPrivateKey, encryptedPrivateKey)
  }
  const ada = await world.person()
  for (const wrong of ['', 'x'.repeat(16 * 1024 + 1), 'a\0b', '\ud800', null, 7, { kty: 'OKP' }])
    assert.deepEqual(errorOf(await createKey(ada, { ...newKey(), encryptedPrivateKey: wrong })), malformed)
  const huge = await createKey(ada, newKey('x'.repeat(1_000_000)))
  assert.deepEqual(errorOf(huge), [413, 'payload_too_large'])
  assert.equal((await readKey(ada)).json().hasKey, false)
})

test('KEY-10 a session cannot create or replace a key later than five minutes after the passkey use', async () => {
  const [ada, keyless] = [await createSigner(world), await world.person()]
  const rotation = rotationOf(ada.identityId, ada.pair, newSigningPair())
  world.pass(301)
  const stale = [403, 'reauthentication_required']
  assert.deepEqual(errorOf(await ada.rotate(rotation)), stale)
  assert.deepEqual(errorOf(await createKey(keyless, newKey())), stale)
  for (const headers of [{}, { authorization: 'Bearer cs_session_wrong' }]) {
    const answer = await send('PUT', keyOf(ada.identityId), headers, rotation)
    assert.deepEqual(errorOf(answer), [401, 'unauthorized'])
  }
  assert.equal((await readKey(ada)).json().keyVersion, 1)
  const headers = await ada.signIn()
  assert.equal((await send('PUT', keyOf(ada.identityId), headers, rotation)).statusCode, 200)
})
