import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { backupMediaType } from '@countersign/protocol/operations/backup'
import { fromCanonicalBase64 } from '@countersign/protocol/formats/base64'
import { verifyCheckpoint } from '@countersign/protocol/formats/signing/key-inclusion'
import { isConsistent } from '@countersign/protocol/formats/signing/merkle-tree'
import { nodeSuite } from '@countersign/protocol/signing/receipt-verification'
import { ConfigError } from '#platform/config/config.ts'
import { createKeyring } from '#platform/crypto/keyring.ts'
import { Secret } from '#platform/crypto/secret.ts'
import { createSigner } from '#testing/signer.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'
import { initializeLog, reencryptLogKey } from '#signing/transparency/log.ts'

const secretKey = 'a-secret-key-for-tests-of-32-characters'
let world: TestWorld
before(async () => {
  world = await createWorld({ secretKey, environment: { DEMO: 'off' } })
})
after(() => world.close())

const ringOf = (...roots: string[]) => createKeyring(roots.map((root) => new Secret(root)))
const checkpoint = async ({ api }: TestWorld) => (await api.inject({ url: '/api/transparency/checkpoint' })).body
const jwks = async ({ api }: TestWorld) => (await api.inject({ url: '/api/transparency/jwks' })).json()

test('the log key is re-encrypted after SECRET_KEY was replaced, and stays the same key', async () => {
  const young = 'another-secret-key-of-32-characters'
  const both = ringOf(young, secretKey)
  const key = await jwks(world)
  await reencryptLogKey({ db: world.db, keyring: world.kernel.keyring })
  await reencryptLogKey({ db: world.db, keyring: both })
  await initializeLog({ ...world.kernel, keyring: ringOf(young) }, world.now())
  await assert.rejects(initializeLog(world.kernel, world.now()), ConfigError)
  assert.deepEqual(await jwks(world), key)
  await reencryptLogKey({ db: world.db, keyring: ringOf(secretKey, young) })
  await initializeLog(world.kernel, world.now())
})

test('the private key appears nowhere in clear', async () => {
  const { sealed_private_key: sealed } = await world.db
    .selectFrom('transparency_log')
    .selectAll()
    .executeTakeFirstOrThrow()
  assert.equal(sealed.split('.').length, 5)
  assert.deepEqual(Object.keys((await jwks(world)).keys[0]).toSorted(), ['alg', 'crv', 'kid', 'kty', 'use', 'x'])
})

test('STO-18 a restored server continues the same log', async (t) => {
  await createSigner(world)
  await createSigner(world)
  const before = await checkpoint(world)
  const backup = await world.api.inject({ url: '/api/admin/backup', headers: world.admin })
  const restored = await createWorld({ secretKey, environment: { DEMO: 'off' } })
  t.after(() => restored.close())
  assert.notEqual(await checkpoint(restored), before)
  const headers = { ...restored.admin, 'content-type': backupMediaType }
  const answer = await restored.api.inject({
    method: 'POST',
    url: '/api/admin/restore',
    headers,
    payload: backup.rawPayload,
  })
  assert.equal(answer.statusCode, 200, answer.body)
  assert.equal(await checkpoint(restored), before)

  await createSigner(restored)
  const { origin, keys } = await jwks(world)
  const key = { name: origin, publicKey: Buffer.from(keys[0].x, 'base64url') }
  const headOf = (note: string) =>
    verifyCheckpoint(nodeSuite, note, key) ?? assert.fail('the checkpoint is signed with another key')
  const [from, to] = [headOf(before), headOf(await checkpoint(restored))]
  assert.deepEqual([from.size, to.size], [2, 3])
  const proof = await restored.api.inject({ url: '/api/transparency/consistency?from=2&to=3' })
  const hashes = proof.json().hashes.map((hash: string) => fromCanonicalBase64(hash) ?? assert.fail())
  assert.ok(isConsistent(nodeSuite.sha256, { from, to, hashes }))
})
