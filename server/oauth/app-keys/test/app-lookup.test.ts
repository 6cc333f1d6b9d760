import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { after, before, test } from 'node:test'
import { openBrowser } from '#testing/federated-browser.ts'
import { createWorld, type Person, type TestApp, type TestWorld } from '#testing/world.ts'

let world: TestWorld
let app: TestApp
let ada: Person
let publicKey: string
before(async () => {
  world = await createWorld()
  app = await world.app({ supportsE2ee: true })
  ada = await world.person('Ada.Lovelace')
  publicKey = newPublicKey()
  await connect(ada, app, publicKey)
})
after(() => world.close())

function newPublicKey(): string {
  return generateKeyPairSync('x25519').publicKey.export({ format: 'der', type: 'spki' }).toString('base64')
}

const connect = async (person: Person, at: TestApp, appPublicKey: string) => {
  const scope = 'openid e2ee:asymmetric'
  await at.code(person, { scope, appPublicKey, encryptedAppPrivateKey: 'sealed' })
}
const lookUp = (query: Record<string, string | string[]>, headers: Record<string, string> = {}) =>
  world.api.inject({ url: '/api/encryption/app-lookup', query: { client_id: app.clientId, ...query }, headers })
const refused = async (answer: ReturnType<typeof lookUp>) => {
  const { statusCode, ...rest } = await answer
  return [statusCode, rest.json().error]
}
const notFound = [404, 'app_public_key_not_found']
const malformed = [400, 'invalid_request']

test('a public key of a connected identity is found by handle and by key, without authentication', async () => {
  const record = {
    clientId: app.clientId,
    identityId: ada.identityId,
    handle: 'Ada.Lovelace',
    displayName: 'The Ada.Lovelace',
    publicKey,
    encryptionMode: 'asymmetric',
  }
  for (const query of [{ handle: 'ada.lovelace' }, { handle: 'ADA.LOVELACE' }, { public_key: publicKey }]) {
    const answer = await lookUp(query, { origin: 'https://anywhere.example' })
    assert.deepEqual([answer.statusCode, answer.json()], [200, record])
    assert.equal(answer.headers['access-control-allow-origin'], '*')
  }
})

test('LKP-01 LKP-08 a lookup requires one app and exactly one of handle and public key', async () => {
  assert.deepEqual(await refused(lookUp({})), malformed)
  assert.deepEqual(await refused(lookUp({ handle: 'ada.lovelace', public_key: publicKey })), malformed)
  assert.deepEqual(await refused(lookUp({ handle: ['ada.lovelace', 'eve'] })), malformed)
  const nameless = await world.api.inject({ url: '/api/encryption/app-lookup', query: { handle: 'ada.lovelace' } })
  assert.deepEqual([nameless.statusCode, nameless.json().error], malformed)
})

test('LKP-02 a lookup has one error for every missing key, and another one for an unknown app', async () => {
  assert.deepEqual(await refused(lookUp({ client_id: 'app_unknown', handle: 'ada.lovelace' })), [404, 'app_not_found'])
  const [stranger, symmetric] = [await world.person(), await world.person()]
  await app.code(symmetric, { scope: 'openid', encryptedAppKey: 'sealed' })
  const elsewhere = await world.app({ supportsE2ee: true })
  await connect(stranger, elsewhere, newPublicKey())
  const target = [{ handle: 'nobody' }, { handle: stranger.handle }, { handle: symmetric.handle }]
  const answers = await Promise.all([...target, { public_key: newPublicKey() }].map((query) => lookUp(query)))
  for (const answer of answers) {
    assert.deepEqual([answer.statusCode, answer.json().error], notFound)
    assert.equal(answer.body, answers[0]?.body)
    const { date: _, 'x-request-id': __, ...headers } = answer.headers
    const { date: _date, 'x-request-id': _id, ...others } = answers[0]?.headers ?? {}
    assert.deepEqual(headers, others)
  }
})

test('LKP-04 a lookup matches a handle as a whole, never as a pattern', async () => {
  for (const handle of ['@ada.lovelace', ' ada.lovelace', 'ada.lovelace ', 'ada%', 'ada_lovelace', 'ada?lovelace', '%'])
    assert.deepEqual(await refused(lookUp({ handle })), notFound, handle)
  assert.deepEqual(await refused(lookUp({ handle: '' })), malformed)
  assert.deepEqual(await refused(lookUp({ handle: 'ada.lovelace\u0000' })), malformed)
  assert.deepEqual(await refused(lookUp({ handle: 'a'.repeat(201) })), malformed)
})

test('LKP-06 a lookup does not find an identity that has disconnected the app', async () => {
  const leaving = await world.person()
  const key = newPublicKey()
  await connect(leaving, app, key)
  assert.equal((await lookUp({ handle: leaving.handle })).statusCode, 200)
  const { authorizations } = (
    await world.api.inject({ url: '/api/oauth/authorizations', headers: leaving.headers })
  ).json()
  const url = `/api/oauth/authorizations/${authorizations[0].id}`
  await world.api.inject({ method: 'DELETE', url, headers: leaving.headers })
  assert.deepEqual(await refused(lookUp({ handle: leaving.handle })), notFound)
  assert.deepEqual(await refused(lookUp({ public_key: key })), notFound)
})

test('LKP-06 FED-19 a lookup does not find an identity that the app itself has disconnected', async () => {
  const leaving = await world.person()
  const key = newPublicKey()
  await connect(leaving, app, key)
  assert.equal((await lookUp({ handle: leaving.handle })).statusCode, 200)
  const browser = await openBrowser(world, leaving)
  assert.equal((await browser.disconnect(app, leaving.identityId)).statusCode, 200)
  assert.deepEqual(await refused(lookUp({ handle: leaving.handle })), notFound)
  assert.deepEqual(await refused(lookUp({ public_key: key })), notFound)
  await assert.rejects(app.code(leaving, { scope: 'openid e2ee:asymmetric' }), /app_key_required/)
  const another = newPublicKey()
  await connect(leaving, app, another)
  assert.equal((await lookUp({ handle: leaving.handle })).json().publicKey, another)
})

test('a lookup by a replaced key finds no identity', async () => {
  const changing = await world.person()
  const [first, second] = [newPublicKey(), newPublicKey()]
  await connect(changing, app, first)
  const scope = 'openid e2ee:asymmetric e2ee:reset'
  await app.code(changing, { scope, appPublicKey: second, encryptedAppPrivateKey: 'sealed' })
  assert.deepEqual(await refused(lookUp({ public_key: first })), notFound)
  assert.equal((await lookUp({ public_key: second })).json().identityId, changing.identityId)
})

test('LKP-07 a public key has one encoding', async () => {
  const der = Buffer.from(publicKey, 'base64')
  const spellings = [
    der.toString('base64url'),
    publicKey.replaceAll('=', ''),
    ` ${publicKey}`,
    `${publicKey}\n`,
    der.toString('hex'),
    Buffer.concat([der, Buffer.from([0])]).toString('base64'),
    der.subarray(1).toString('base64'),
    'A'.repeat(100_000),
    '',
  ]
  for (const spelling of spellings) {
    const answer = await lookUp({ public_key: spelling })
    assert.ok([400, 414, 431].includes(answer.statusCode), `${spelling.slice(0, 60)} is answered ${answer.statusCode}`)
  }
})

test('LKP-07 a well-formed public key of any kind that no identity has is not found', async () => {
  const pairs = {
    x25519: generateKeyPairSync('x25519'),
    p256: generateKeyPairSync('ec', { namedCurve: 'prime256v1' }),
    ed25519: generateKeyPairSync('ed25519'),
    rsa: generateKeyPairSync('rsa', { modulusLength: 2048 }),
  }
  for (const [kind, pair] of Object.entries(pairs)) {
    const der = pair.publicKey.export({ format: 'der', type: 'spki' })
    assert.deepEqual(await refused(lookUp({ public_key: der.toString('base64') })), notFound, kind)
    const longer = Buffer.concat([der, Buffer.from([0])]).toString('base64')
    assert.deepEqual(await refused(lookUp({ public_key: longer })), malformed, `${kind} with another byte`)
  }
})

test('a lookup reads a plus sign of a key that a client has not escaped', async () => {
  const bob = await world.person()
  let key = newPublicKey()
  while (!key.includes('+')) key = newPublicKey()
  await connect(bob, app, key)
  const found = await world.api.inject({
    url: `/api/encryption/app-lookup?client_id=${app.clientId}&public_key=${key}`,
  })
  assert.deepEqual([found.statusCode, found.json().publicKey], [200, key])
})

test('LKP-05 lookups of many handles are rate limited, also from many addresses', async () => {
  const limiting = await createWorld({ rateLimits: true })
  try {
    const limited = await limiting.app({ supportsE2ee: true })
    const { clientId } = limited
    const look = (remoteAddress: string, handle = 'unknown') => {
      const query = { client_id: clientId, handle }
      return limiting.api.inject({ url: '/api/encryption/app-lookup', query, remoteAddress })
    }
    const one = await Promise.all(Array.from({ length: 61 }, () => look('192.0.2.1')))
    const held = one.filter(({ statusCode }) => statusCode === 429)
    assert.equal(held.length, 1)
    assert.ok(Number(held[0]?.headers['retry-after']) > 0)
    const many = await Promise.all(Array.from({ length: 270 }, (_, index) => look(`198.51.100.${index % 250}`)))
    const more = await Promise.all(Array.from({ length: 271 }, (_, index) => look(`203.0.113.${index % 250}`)))
    assert.deepEqual([...many, ...more].map(({ statusCode }) => statusCode).toSorted(), [
      ...Array<number>(540).fill(404),
      429,
    ])
    const bob = await limiting.person()
    await connect(bob, limited, newPublicKey())
    assert.equal((await look('192.0.2.2', bob.handle)).statusCode, 200, 'what exists is found')
    assert.equal((await look('192.0.2.2')).statusCode, 429)
  } finally {
    await limiting.close()
  }
})

test('REC-08 a lookup finds the new owner of a handle only after they have connected the app', async () => {
  const [former, later] = [await world.person('handed-on'), await world.person()]
  const key = newPublicKey()
  await connect(former, app, key)
  const rename = (identityId: string, headers: Record<string, string>, handle: string) =>
    world.api.inject({ method: 'PATCH', url: `/api/identities/${identityId}`, headers, payload: { handle } })
  assert.equal((await rename(former.identityId, former.headers, 'handed-off')).statusCode, 200)
  assert.deepEqual(await refused(lookUp({ handle: 'handed-on' })), notFound)

  world.pass(90 * 24 * 3600)
  const headers = await later.signIn()
  assert.equal((await rename(later.identityId, headers, 'handed-on')).statusCode, 200)
  assert.deepEqual(await refused(lookUp({ handle: 'handed-on' })), notFound, 'the new owner has not connected it')
  assert.equal((await lookUp({ public_key: key })).json().identityId, former.identityId)

  const own = newPublicKey()
  await connect({ ...later, headers }, app, own)
  const found = (await lookUp({ handle: 'handed-on' })).json()
  assert.deepEqual([found.identityId, found.publicKey], [later.identityId, own])
  assert.equal((await lookUp({ handle: 'handed-off' })).json().publicKey, key)
})
