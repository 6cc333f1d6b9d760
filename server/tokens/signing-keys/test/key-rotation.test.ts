import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify } from 'jose'
import type { SigningKeyList } from '@countersign/protocol/oauth/token-keys'
import { openTestStorage } from '#testing/database.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'
import { pruneKeys, rotateKeysWhenDue } from '#tokens/signing-keys/rotation.ts'
import { loadTokenSigningKeys } from '#tokens/signing-keys/signing-keys.ts'
import { signJwt } from '#tokens/signing-keys/jwt.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const minute = 60
const hour = 60 * minute
const day = 24 * hour

const rotate = (payload?: object) =>
  world.api.inject({ method: 'POST', url: '/api/admin/keys/rotate', headers: world.admin, ...(payload && { payload }) })
const list = async () =>
  (await world.api.inject({ url: '/api/admin/keys', headers: world.admin })).json<SigningKeyList>().keys
const keySet = () => world.auth.inject({ url: '/.well-known/jwks.json' })
const kids = async () => (await keySet()).json().keys.map(({ kid }: { kid: string }) => kid)
const kidOf = (jwt: string) => decodeProtectedHeader(jwt).kid ?? ''

async function signedIn() {
  const app = await world.app()
  return app.tokens(await world.person())
}

/** Returns the kid that signs ID tokens now, after checking that a published key verifies it. */
async function signingKid() {
  const { id_token = '' } = await signedIn()
  await jwtVerify(id_token, createLocalJWKSet((await keySet()).json()), { currentDate: world.now() })
  return kidOf(id_token)
}

test('rotation publishes new keys two hours before they sign and old keys two hours after', async () => {
  const [before, published] = [await keySet(), await kids()]
  const old = await signingKid()
  const answer = await rotate()
  assert.equal(answer.statusCode, 201, answer.body)
  assert.equal(answer.json<SigningKeyList>().keys.length, 6)

  const both = await keySet()
  assert.notEqual(both.headers.etag, before.headers.etag)
  assert.equal((await kids()).length, 6)
  world.pass(2 * hour - 1)
  assert.equal(await signingKid(), old)
  const last = await signedIn()
  world.pass(1)
  const young = await signingKid()
  assert.ok(!published.includes(young))

  world.pass(hour - 2)
  await jwtVerify(last.id_token ?? '', createLocalJWKSet((await keySet()).json()), { currentDate: world.now() })
  world.pass(hour + 1)
  assert.ok((await kids()).includes(old))
  world.pass(2 * minute)
  assert.deepEqual((await kids()).length, 3)
  assert.ok(!(await kids()).includes(old))
  assert.equal(await signingKid(), young)
})

test('the operator sees the state of each key and the rotation in the audit log', async () => {
  const states = async () => [...new Set((await list()).map(({ state }) => state))]
  assert.deepEqual(await states(), ['signing'])
  await rotate({})
  assert.deepEqual(await states(), ['published', 'signing'])
  world.pass(2 * hour)
  assert.deepEqual(await states(), ['signing', 'retired'])
  const { entries } = (await world.api.inject({ url: '/api/admin/audit', headers: world.admin })).json()
  const [latest] = entries.filter(({ action }: { action: string }) => action === 'token_signing_key.rotated')
  assert.equal(latest.actor.kind, 'break_glass')
  assert.equal(latest.details.keys.length, 3)
  world.pass(3 * hour)
})

test('a second rotation is rejected while keys wait to sign, except for an emergency', async () => {
  assert.equal((await rotate()).statusCode, 201)
  assert.deepEqual([(await rotate()).statusCode, (await rotate()).json().error], [409, 'rotation_in_progress'])
  const waiting = (await list()).filter(({ state }) => state === 'published').map(({ kid }) => kid)

  const old = await signingKid()
  assert.equal((await rotate({ atOnce: true })).statusCode, 201)
  assert.equal((await rotate({ atOnce: true })).statusCode, 409)
  world.pass(89)
  assert.equal(await signingKid(), old)
  world.pass(1)
  const young = await signingKid()
  assert.notEqual(young, old)
  world.pass(2 * hour)
  assert.equal(await signingKid(), young, 'keys that were skipped never sign')
  world.pass(3 * hour)
  assert.ok(!(await kids()).some((kid: string) => waiting.includes(kid)))
})

test('of concurrent rotations only one takes effect', async () => {
  const answers = await Promise.all(Array.from({ length: 6 }, () => rotate()))
  assert.deepEqual(answers.map(({ statusCode }) => statusCode).toSorted(), [201, 409, 409, 409, 409, 409])
  world.pass(5 * hour)
  assert.equal((await kids()).length, 3)
})

test('keys are rotated every ninety days, once, by the first process', async () => {
  const old = await signingKid()
  world.pass(89 * day - 6 * hour)
  await rotateKeysWhenDue(world.kernel, world.now())
  assert.equal((await list()).length, 3, 'no rotation is due')
  world.pass(6 * hour)
  await Promise.all([1, 2, 3].map(() => rotateKeysWhenDue(world.kernel, world.now())))
  await rotateKeysWhenDue(world.kernel, world.now())
  assert.equal((await list()).length, 6)
  world.pass(day - 1)
  assert.equal(await signingKid(), old)
  world.pass(1)
  assert.notEqual(await signingKid(), old)
})

test('cleanup deletes a private key after its signatures expire and the public key after its sessions', async () => {
  await rotate()
  const halves = async () => {
    const rows = await world.db.selectFrom('token_signing_key').select(['kid', 'sealed_private_key']).execute()
    return [rows.length, rows.filter(({ sealed_private_key: half }) => half !== null).length]
  }
  world.pass(4 * hour - 1)
  const all = (await halves())[0] ?? 0
  await pruneKeys(world.db, world.now())
  assert.deepEqual((await halves())[1], 6)
  world.pass(1)
  assert.equal(await pruneKeys(world.db, world.now()), 3)
  assert.deepEqual((await halves())[1], 3)
  world.pass(90 * day)
  await pruneKeys(world.db, world.now())
  assert.deepEqual(await halves(), [3, 3])
  assert.ok(all > 6)
  await signingKid()
})

test('JWT-13 another process knows new keys within a minute, before any of them signs', async () => {
  const there = await loadTokenSigningKeys(world.kernel)
  await rotate({ atOnce: true })
  const young = (await list()).filter(({ state }) => state === 'published').map(({ kid }) => kid)
  const known = async () => (await there.keySet()).keys.filter(({ kid }) => young.includes(kid)).length
  assert.equal(await known(), 0)
  world.pass(60)
  assert.equal(await known(), 3)
  world.pass(30)
  assert.ok(young.includes(kidOf(await signJwt(there, 'ES256', 'JWT', {}))))
})

test('JWT-17 an unknown key ID causes one look-up, and made-up key IDs cause no more', async () => {
  world.pass(5 * hour)
  const there = await loadTokenSigningKeys(world.kernel)
  world.pass(10)
  await rotate({ atOnce: true })
  const [fresh] = (await list()).filter(({ state, algorithm }) => state === 'published' && algorithm === 'ES256')
  assert.ok(await there.verifier('ES256', fresh?.kid ?? ''), 'keys are reloaded')
  assert.equal(await there.verifier('RS256', fresh?.kid ?? ''), undefined, 'a key serves one algorithm')

  world.pass(5 * hour)
  assert.equal(await there.verifier('ES256', 'made-up'), undefined)
  await rotate({ atOnce: true })
  const [late] = (await list()).filter(({ state, algorithm }) => state === 'published' && algorithm === 'ES256')
  assert.equal(await there.verifier('ES256', late?.kid ?? ''), undefined, 'not within five seconds')
  world.pass(5)
  assert.ok(await there.verifier('ES256', late?.kid ?? ''))
})

test('tokens are signed and verified while the database is unavailable', async () => {
  const storage = await openTestStorage()
  const keys = await loadTokenSigningKeys({ ...world.kernel, db: storage.db })
  const set = await keys.keySet()
  await storage.close()
  world.pass(5 * minute)
  const jwt = await signJwt(keys, 'EdDSA', 'JWT', {})
  assert.ok(await keys.verifier('EdDSA', kidOf(jwt)))
  assert.equal(await keys.keySet(), set)
})
