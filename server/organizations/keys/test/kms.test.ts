import assert from 'node:assert/strict'
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { after, before, test, type TestContext } from 'node:test'
import { createLocalJWKSet, jwtVerify } from 'jose'
import { sql } from 'kysely'
import { startCustomerKms } from '#testing/customer-kms.ts'
import { createKeyHolder, fingerprintOf, setMode, type KeyHolder } from '#testing/key-holder.ts'
import { businessRequest, join, createOrganization } from '#testing/organization.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const set = (requester: KeyHolder, id: string, url: string) =>
  businessRequest(world, requester, `PUT /organizations/${id}/kms`, { url })
const post = (requester: KeyHolder, id: string, body: object = {}) =>
  businessRequest(world, requester, `POST /organizations/${id}/keys`, body)
const read = (requester: KeyHolder, id: string, keyId: string) =>
  businessRequest(world, requester, `GET /organizations/${id}/keys/${keyId}/wraps`)
const outcomeOf = (answer: Awaited<ReturnType<typeof post>>) => [answer.statusCode, answer.json().error]

async function startKms(t: TestContext) {
  const kms = await startCustomerKms()
  t.after(kms.close)
  return kms
}

type Kms = Awaited<ReturnType<typeof startCustomerKms>>
type Behavior = NonNullable<Parameters<Kms['be']>[0]>

/** Makes a KMS answer one request later than those after it: the first that matches. */
function holdFirst(kms: Kms, isHeld: (...request: Parameters<Behavior>) => boolean = () => true) {
  const [received, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  kms.be((...request) => {
    if (!isHeld(...request)) return undefined
    kms.be()
    kms.holdUntil(answered.promise)
    received.resolve()
    return undefined
  })
  return {
    /** Resolves when the KMS has the request. */
    received: received.promise.then(() => kms.holdUntil(Promise.resolve())),
    answer: answered.resolve,
  }
}

/** Creates an organization in mode enterprise_managed, its owner, and its KMS with one key. */
async function managed(t: TestContext) {
  const kms = await startKms(t)
  const owner = await createKeyHolder(world)
  const { id } = await createOrganization(world, owner)
  const answer = await set(owner, id, kms.url)
  assert.equal(answer.statusCode, 200, answer.body)
  await setMode(world, owner, id, 'enterprise_managed')
  const made = await post(owner, id)
  assert.equal(made.statusCode, 201, made.body)
  return { kms, owner, id, key: made.json().key }
}

test('KMS-06 the KMS of an organization wraps its key, and unwraps it for each request of a member', async (t) => {
  const { kms, owner, id, key } = await managed(t)
  assert.equal(key.keyCustody, 'customer_kms')
  const member = await createKeyHolder(world)
  await join(world, { id, owner, role: 'viewer' }, member)
  const requested = kms.received.length
  for (const holder of [owner, member]) {
    const [own] = (await read(holder, id, key.keyId)).json().wraps
    const opened = await holder.open(own.ciphertext)
    assert.equal(fingerprintOf(opened.key), key.fingerprint)
    const form = opened.key.toString('base64')
    for (const { text } of (
      await sql<{ text: string }>`select k::text as text from organization_key k`.execute(world.db)
    ).rows)
      assert.ok(!text.includes(form) && !text.includes(opened.key.toString('hex')))
  }
  assert.deepEqual(
    kms.received.slice(requested).map(({ operation }) => operation),
    ['unwrap', 'unwrap'],
  )
})

test('KMS-07 a request to a KMS proves the service, the organization and the content', async (t) => {
  const { kms, owner, id, key } = await managed(t)
  await read(owner, id, key.keyId)
  const keySet = createLocalJWKSet((await world.auth.inject({ url: '/.well-known/jwks.json' })).json())
  const identifiers = new Set<unknown>()
  for (const { operation, authorization, body } of kms.received) {
    const { payload } = await jwtVerify(authorization.replace('Bearer ', ''), keySet, {
      issuer: world.config.authUrl.origin,
      audience: kms.url,
      subject: id,
      typ: 'kms+jwt',
      algorithms: ['ES256'],
      currentDate: world.now(),
    })
    assert.equal(payload['operation'], operation)
    assert.equal(payload['body_sha256'], createHash('sha256').update(body).digest('base64url'))
    assert.equal((payload.exp ?? 0) - (payload.iat ?? 0), 60)
    assert.equal(JSON.parse(body).context.organizationId, id)
    identifiers.add(payload.jti)
  }
  assert.equal(identifiers.size, kms.received.length)
  assert.equal(JSON.parse(kms.received.at(-1)?.body ?? '').context.keyId, key.keyId)
})

test('KMS-07 the token of a KMS request is not an access token of the service', async (t) => {
  const { kms } = await managed(t)
  const { authorization } = kms.received[0] ?? { authorization: '' }
  const answer = await world.api.inject({ url: '/api/oauth/userinfo', headers: { authorization } })
  assert.equal(answer.statusCode, 401)
})

test('KMS-08 an organization that shuts down its KMS gets no key any more', async (t) => {
  const { kms, owner, id, key } = await managed(t)
  const other = randomBytes(32).toString('base64')
  const moods = [
    { status: 403, body: '{}' },
    { status: 200, body: 'not json' },
    { status: 200, body: JSON.stringify({ plaintext: other }) },
    { status: 200, body: JSON.stringify({ plaintext: 'not base64' }) },
    { status: 200, body: JSON.stringify({ plaintext: 'A'.repeat(100_000) }) },
    { status: 302, body: '' },
  ]
  for (const mood of moods) {
    kms.be(() => mood)
    const answer = await read(owner, id, key.keyId)
    assert.deepEqual(outcomeOf(answer), [503, 'kms_unavailable'], JSON.stringify(mood).slice(0, 80))
    assert.equal(answer.headers['retry-after'], '30')
    assert.ok(!answer.body.includes(other))
  }
  kms.be(() => ({ status: 500, body: '{}' }))
  assert.deepEqual(outcomeOf(await post(owner, id, { replaces: key.keyId })), [503, 'kms_unavailable'])
  kms.be()
  assert.equal((await read(owner, id, key.keyId)).json().wraps[0].granted, true)
})

test('KMS-09 a member who is removed during the KMS request gets no key', async (t) => {
  const { kms, owner, id, key } = await managed(t)
  const member = await createKeyHolder(world)
  const { memberId } = await join(world, { id, owner, role: 'member' }, member)
  const held = holdFirst(kms)
  const reading = read(member, id, key.keyId)
  await held.received
  assert.equal((await businessRequest(world, owner, `DELETE /organizations/${id}/members/${memberId}`)).statusCode, 204)
  held.answer()
  assert.deepEqual(outcomeOf(await reading), [404, 'organization_not_found'])
})

test('KMS-12 no key is created in the former mode, or by the former KMS, if either changes meanwhile', async (t) => {
  const { kms, owner, id, key } = await managed(t)
  const create = async (change: () => Promise<void>) => {
    const held = holdFirst(kms)
    const creating = post(owner, id, { replaces: key.keyId })
    await held.received
    await change()
    held.answer()
    return outcomeOf(await creating)
  }
  assert.deepEqual(await create(() => setMode(world, owner, id, 'standard')), [409, 'key_changed'])
  await setMode(world, owner, id, 'enterprise_managed')
  const moveKms = async () => {
    const moved = await set(owner, id, `${kms.url}/`)
    assert.equal(moved.statusCode, 200, moved.body)
  }
  assert.deepEqual(await create(moveKms), [409, 'key_changed'])
  const { keys } = (await businessRequest(world, owner, `GET /organizations/${id}/keys`)).json()
  assert.deepEqual(
    keys.map(({ keyId }: { keyId: string }) => keyId),
    [key.keyId],
  )
})

test('KMS-12 a KMS is not set if a key is created meanwhile, which it has not unwrapped', async (t) => {
  const { kms, owner, id, key } = await managed(t)
  const held = holdFirst(kms, (operation, { context }) => operation === 'unwrap' && context.keyId === key.keyId)
  const setting = set(owner, id, `${kms.url}/`)
  await held.received
  const made = await post(owner, id, { replaces: key.keyId })
  assert.equal(made.statusCode, 201, made.body)
  held.answer()
  assert.deepEqual(outcomeOf(await setting), [409, 'kms_changed'])
  const { kms: found } = (await businessRequest(world, owner, `GET /organizations/${id}/kms`)).json()
  assert.equal(found.url, kms.url)
})

test('KMS-10 a KMS is set only if it unwraps what it wrapped', async (t) => {
  const owner = await createKeyHolder(world)
  const { id } = await createOrganization(world, owner)
  const moods = [
    () => ({ status: 500, body: '{}' }),
    () => ({ status: 200, body: '{}' }),
    (operation: string) =>
      operation === 'unwrap'
        ? { status: 200, body: JSON.stringify({ plaintext: randomBytes(32).toString('base64') }) }
        : undefined,
    (operation: string, { plaintext = '', ciphertext = '' }) => ({
      status: 200,
      body: JSON.stringify(
        operation === 'wrap' ? { ciphertext: `v1:${plaintext}` } : { plaintext: ciphertext.slice(3) },
      ),
    }),
  ]
  const setTo = async (mood: (typeof moods)[number]) => {
    const kms = await startKms(t)
    kms.be(mood)
    return outcomeOf(await set(owner, id, kms.url))
  }
  for (const answer of await Promise.all(moods.map(setTo))) assert.deepEqual(answer, [400, 'invalid_kms'])
  assert.deepEqual(outcomeOf(await businessRequest(world, owner, `GET /organizations/${id}/kms`)), [
    404,
    'kms_not_found',
  ])
  const kms = await startKms(t)
  assert.equal((await set(owner, id, kms.url)).statusCode, 200)
  const { kms: found } = (await businessRequest(world, owner, `GET /organizations/${id}/kms`)).json()
  assert.deepEqual(found, { url: kms.url, checkedAt: world.now().toISOString() })
})

test('SRF-01 SRF-05 SRF-08 a URL that is not a KMS is rejected without revealing what is there', async (t) => {
  const kms = await startKms(t)
  const owner = await createKeyHolder(world)
  const { id } = await createOrganization(world, owner)
  for (const url of [
    'file:///etc/passwd',
    'http://10.0.0.1/',
    'https://user:pass@kms.example/',
    `${kms.url}?key=secret`,
    'gopher://kms.example',
  ])
    assert.deepEqual(outcomeOf(await set(owner, id, url)), [400, 'invalid_kms'], url)
  kms.be(() => ({ status: 404, body: 'a secret page' }))
  const [closed, other] = await Promise.all(['http://localhost:1/', kms.url].map((url) => set(owner, id, url)))
  assert.deepEqual(closed?.json(), other?.json())
})

test('KMS-10 a KMS with keys is kept, or replaced by one that unwraps the existing keys', async (t) => {
  const { kms, owner, id, key } = await managed(t)
  const stranger = await startKms(t)
  assert.deepEqual(outcomeOf(await set(owner, id, stranger.url)), [409, 'kms_cannot_unwrap'])
  assert.equal((await read(owner, id, key.keyId)).json().wraps[0].granted, true)
  assert.equal((await set(owner, id, `${kms.url}/`)).statusCode, 200)
  assert.equal((await read(owner, id, key.keyId)).json().wraps[0].granted, true)

  const remove = () => businessRequest(world, owner, `DELETE /organizations/${id}/kms`)
  assert.deepEqual(outcomeOf(await remove()), [409, 'kms_in_use'])
  await setMode(world, owner, id, 'standard')
  assert.deepEqual(outcomeOf(await remove()), [409, 'kms_in_use'])
  const empty = await createOrganization(world, owner, 'Empty')
  assert.equal((await set(owner, empty.id, kms.url)).statusCode, 200)
  const gone = await businessRequest(world, owner, `DELETE /organizations/${empty.id}/kms`)
  assert.equal(gone.statusCode, 204)
  const again = await businessRequest(world, owner, `DELETE /organizations/${empty.id}/kms`)
  assert.deepEqual(outcomeOf(again), [404, 'kms_not_found'])
})

test('KMS-10 each request to a slow KMS is signed when it is sent', { timeout: 120_000 }, async (t) => {
  const { kms, owner, id, key } = await managed(t)
  let replaces: string = key.keyId
  for (let count = 1; count < 7; count += 1) replaces = (await post(owner, id, { replaces })).json().key.keyId
  const earlier = kms.received.length
  const arrivals: Date[] = []
  const [several, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  kms.be(() => {
    arrivals.push(world.now())
    // Two requests are a test. Five keys follow at once, and two after them.
    if (arrivals.length <= 2) world.pass(31)
    if (arrivals.length === 3) kms.holdUntil(answered.promise)
    if (arrivals.length !== 7) return undefined
    world.pass(61)
    several.resolve()
    return undefined
  })
  const moving = set(owner, id, `${kms.url}/`)
  await several.promise
  answered.resolve()
  assert.equal((await moving).statusCode, 200)
  assert.equal(arrivals.length, 9)
  const keySet = createLocalJWKSet((await world.auth.inject({ url: '/.well-known/jwks.json' })).json())
  for (const [index, currentDate] of arrivals.entries()) {
    const { authorization = '' } = kms.received[earlier + index] ?? {}
    await jwtVerify(authorization.replace('Bearer ', ''), keySet, { currentDate })
  }
})

test('KMS-11 a key of another organization cannot be unwrapped, even if both use the same KMS', async (t) => {
  const { kms, id, key } = await managed(t)
  const other = await createKeyHolder(world)
  const { id: theirs } = await createOrganization(world, other)
  await set(other, theirs, kms.url)
  await setMode(world, other, theirs, 'enterprise_managed')
  const { keyId } = (await post(other, theirs)).json().key
  const own = world.db.selectFrom('organization_key').select('sealed_key').where('key_id', '=', key.keyId)
  const { sealed_key: sealed } = await own.executeTakeFirstOrThrow()
  await world.db.updateTable('organization_key').set({ sealed_key: sealed }).where('key_id', '=', keyId).execute()
  assert.deepEqual(outcomeOf(await read(other, theirs, keyId)), [503, 'kms_unavailable'])
  assert.notEqual(id, theirs)
  assert.deepEqual(outcomeOf(await read(other, theirs, randomUUID())), [404, 'key_not_found'])
})
