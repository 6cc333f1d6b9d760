import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { IdentityId } from '@countersign/protocol/ids'
import { createSigner, newSigningPair, rotationOf } from '#testing/signer.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

type Answer = { statusCode: number; json: () => { error?: string } }
const errorOf = (answer: Answer) => [answer.statusCode, answer.json().error]
const lookUp = (handle: string, at?: string, identityId?: IdentityId) => {
  const query = new URLSearchParams({ ...(at !== undefined && { at }), ...(identityId && { identityId }) })
  return world.api.inject({ url: `/api/signing/public-key/${handle}?${query}` })
}
const instant = (seconds: number) => new Date(world.now().getTime() + seconds * 1000).toISOString()

test('KEY-11 a key is found by its handle in any case, without other data of its owner', async () => {
  const ada = await createSigner(world, 'Ada-Signs')
  const key = {
    handle: 'Ada-Signs',
    publicKey: ada.pair.publicKey,
    createdAt: world.now().toISOString(),
    endedAt: null,
    keyVersion: 1,
    recoveredAt: null,
  }
  for (const handle of ['Ada-Signs', 'ada-signs', 'ADA-SIGNS']) {
    const answer = await lookUp(handle)
    assert.equal(answer.statusCode, 200)
    assert.deepEqual(answer.json(), key)
  }
  const keyless = await world.person()
  assert.deepEqual(errorOf(await lookUp(keyless.handle)), [404, 'no_signing_key'])
  assert.equal((await lookUp(keyless.handle)).json().error_description, 'The identity has no signing key.')
  const past = (await lookUp(keyless.handle, instant(0))).json()
  assert.equal(past.error_description, 'The identity had no signing key at that time.')
  assert.deepEqual(errorOf(await lookUp('nobody-has-this')), [404, 'identity_not_found'])
  for (const wrong of ['a', '-ada', 'ada%20signs', '%00', 'ada%2f..', 'x'.repeat(33)])
    assert.ok([400, 404].includes((await lookUp(wrong)).statusCode), wrong)
})

test('KEY-12 a former handle finds no key of today, and answers are not cached', async () => {
  const ada = await createSigner(world, 'before-marriage')
  const url = `/api/identities/${ada.identityId}`
  assert.match(String((await lookUp('before-marriage')).headers['cache-control']), /no-store/)
  const payload = { handle: 'after-marriage' }
  const changed = await world.api.inject({ method: 'PATCH', url, headers: ada.headers, payload })
  assert.equal(changed.statusCode, 200, changed.body)
  assert.deepEqual(errorOf(await lookUp('before-marriage')), [404, 'identity_not_found'])
  assert.deepEqual(errorOf(await lookUp('before-marriage', instant(-1))), [404, 'identity_not_found'])
  const { handle, publicKey } = (await lookUp('after-marriage')).json()
  assert.deepEqual([handle, publicKey], ['after-marriage', ada.pair.publicKey])
})

test('KEY-43 the past of a handle is not that of an identity which took it later', async () => {
  const [alice, mallory] = [await createSigner(world, 'alice'), await createSigner(world, 'mallory')]
  const rename = async ({ identityId, signIn }: typeof alice, handle: string) => {
    const url = `/api/identities/${identityId}`
    const renamed = await world.api.inject({ method: 'PATCH', url, headers: await signIn(), payload: { handle } })
    assert.equal(renamed.statusCode, 200, renamed.body)
  }
  const keyOf = async (...lookup: Parameters<typeof lookUp>) => {
    const { publicKey, error } = (await lookUp(...lookup)).json()
    return publicKey ?? error
  }
  const signedAt = instant(0)
  assert.equal(await keyOf('alice', signedAt), alice.pair.publicKey)
  world.pass(60)
  await rename(alice, 'alice-2')
  world.pass(60)
  await rename(alice, 'alice')
  assert.equal(await keyOf('alice', signedAt), alice.pair.publicKey, 'no other had it in between')
  assert.equal(await keyOf('alice-2', signedAt), 'identity_not_found', 'it is a former name')
  await rename(alice, 'alice-3')
  assert.equal(await keyOf('alice-3', signedAt), 'no_signing_key')
  assert.equal(await keyOf('alice-3', signedAt, alice.identityId), alice.pair.publicKey)

  world.pass(90 * 24 * 3600)
  await rename(mallory, 'alice')
  const own = mallory.pair.publicKey
  for (const at of [signedAt, instant(-0.001)]) assert.equal(await keyOf('alice', at), 'no_signing_key', at)
  assert.deepEqual([await keyOf('alice'), await keyOf('alice', instant(0))], [own, own])
  assert.equal(await keyOf('alice', signedAt, alice.identityId), 'identity_not_found')
  assert.equal(await keyOf('alice', signedAt, mallory.identityId), own)
  world.pass(60)
  await rename(mallory, 'ALICE')
  assert.equal(await keyOf('alice', instant(-60)), own, 'another letter case is the same handle')
})

test('KEY-44 a former handle that is reserved finds the key of the time in which its identity had it', async () => {
  const ada = await createSigner(world, 'Before-Fame')
  const url = `/api/identities/${ada.identityId}`
  const rename = async (handle: string) => {
    const payload = { handle }
    const renamed = await world.api.inject({ method: 'PATCH', url, headers: await ada.signIn(), payload })
    assert.equal(renamed.statusCode, 200, renamed.body)
  }
  const [first, second] = [instant(0), newSigningPair()]
  world.pass(60)
  await rename('after-fame')
  assert.equal((await ada.rotate(rotationOf(ada.identityId, ada.pair, second))).statusCode, 200)
  const released = instant(0)
  world.pass(60)

  const key = { handle: 'before-fame', publicKey: ada.pair.publicKey, createdAt: first, keyVersion: 1 }
  for (const at of [first, instant(-60.001)]) {
    const found = await lookUp('BEFORE-Fame', at)
    assert.deepEqual(found.json(), { ...key, endedAt: released, recoveredAt: null }, at)
    assert.doesNotMatch(found.body + JSON.stringify(found.headers), /after-fame/i, 'the present handle')
    assert.ok(!found.body.includes(ada.identityId))
  }
  const unknown = [404, 'identity_not_found']
  for (const at of [instant(-120.001), released, instant(0), '9999-12-31T23:59:59Z'])
    assert.deepEqual(errorOf(await lookUp('before-fame', at)), unknown, at)
  assert.deepEqual(errorOf(await lookUp('before-fame')), unknown, 'it names no one now')
  const stranger = await world.person()
  assert.equal((await lookUp('before-fame', first, ada.identityId)).json().publicKey, ada.pair.publicKey)
  assert.deepEqual(errorOf(await lookUp('before-fame', first, stranger.identityId)), unknown)
  assert.deepEqual(errorOf(await lookUp('before-fame', undefined, ada.identityId)), unknown)
  assert.equal((await lookUp('after-fame')).json().publicKey, second.publicKey)

  world.pass(90 * 24 * 3600 - 60)
  assert.deepEqual(errorOf(await lookUp('before-fame', first)), unknown, 'after the reservation')
})

test('KEY-44 former handles of a deleted identity, and of one without a key, find no key', async () => {
  const [ada, keyless] = [await createSigner(world, 'deleted-name'), await world.person('keyless-name')]
  const at = instant(0)
  world.pass(60)
  for (const { identityId, signIn } of [ada, keyless]) {
    const [url, payload] = [`/api/identities/${identityId}`, { handle: `later-${identityId.slice(0, 8)}` }]
    const renamed = await world.api.inject({ method: 'PATCH', url, headers: await signIn(), payload })
    assert.equal(renamed.statusCode, 200, renamed.body)
  }
  assert.equal((await lookUp('deleted-name', at)).json().publicKey, ada.pair.publicKey)
  assert.deepEqual(errorOf(await lookUp('keyless-name', at)), [404, 'no_signing_key'])
  const headers = await ada.signIn()
  const deleted = await world.api.inject({ method: 'DELETE', url: '/api/account', headers })
  assert.equal(deleted.statusCode, 204, deleted.body)
  assert.deepEqual(errorOf(await lookUp('deleted-name', at)), [404, 'identity_not_found'])
})

test('a handle of unknown age is looked up for every instant, as before its age was recorded', async () => {
  const ada = await createSigner(world)
  const first = instant(0)
  const row = world.db.updateTable('identity_handle').where('identity_id', '=', ada.identityId)
  await row.set({ claimed_at: null }).execute()
  assert.equal((await lookUp(ada.handle, first)).json().publicKey, ada.pair.publicKey)
  assert.deepEqual(errorOf(await lookUp(ada.handle, instant(-1))), [404, 'no_signing_key'])
})

test('the key of an identity can be looked up for every instant', async () => {
  const ada = await createSigner(world)
  const pairs = [ada.pair, newSigningPair(), newSigningPair()]
  const [first, second, third] = pairs as [typeof ada.pair, typeof ada.pair, typeof ada.pair]
  world.pass(60)
  assert.equal((await ada.rotate(rotationOf(ada.identityId, first, second))).statusCode, 200)
  world.pass(60)
  assert.equal((await ada.rotate(rotationOf(ada.identityId, second, third))).statusCode, 200)

  const versionAt = async (at: string) => {
    const { keyVersion, publicKey, error } = (await lookUp(ada.handle, at)).json()
    if (error !== undefined) return error
    assert.equal(publicKey, pairs[keyVersion - 1]?.publicKey)
    return keyVersion
  }
  const known = {
    [instant(-120.001)]: 'no_signing_key',
    [instant(-120)]: 1,
    [instant(-60.001)]: 1,
    [instant(-60)]: 2,
    [instant(-0.001)]: 2,
    [instant(0)]: 3,
    [instant(3600)]: 3,
    '0000-01-01T00:00:00Z': 'no_signing_key',
    '9999-12-31T23:59:59Z': 3,
    '2030-01-01T00:00:00+14:00': 'no_signing_key',
  }
  for (const [at, version] of Object.entries(known)) assert.equal(await versionAt(at), version, at)
  // The same instants in another time zone.
  const elsewhere = new Date(world.now().getTime() - 60_000 + 5.5 * 3600_000).toISOString().replace('Z', '+05:30')
  assert.equal(await versionAt(elsewhere), 2)
  const { createdAt, endedAt } = (await lookUp(ada.handle, instant(-60))).json()
  assert.deepEqual([createdAt, endedAt], [instant(-60), instant(0)])
})

test('an invalid timestamp is rejected', async () => {
  const ada = await createSigner(world)
  const wrong = [' ', 'now', '1', '1764000000', '2030-01-01', '2030-13-01T00:00:00Z', '2030-02-30T00:00:00Z']
  for (const at of [
    ...wrong,
    '2030-01-01T25:00:00Z',
    '2030-01-01T00:00:00',
    '+275760-09-13T00:00:00Z',
    '\0',
    "' or 1=1",
  ])
    assert.deepEqual(errorOf(await lookUp(ada.handle, at)), [400, 'invalid_request'], at)
})
