import assert from 'node:assert/strict'
import { test } from 'node:test'
import { generateMasterKey } from '@countersign/keys/master-key'
import {
  hashKeyEvent,
  identityDigest,
  writeKeyEvent,
  type KeyEvent,
} from '@countersign/protocol/formats/signing/key-event'
import { listMissingKeyProofs, readKeyHistory } from '@countersign/protocol/formats/signing/key-history'
import { asId, type IdentityId } from '@countersign/protocol/ids'
import { nodeSuite } from '@countersign/protocol/signing/receipt-verification'
import { adoptSigningKey, createSigningKey, replaceSigningKey } from '../signing-key.ts'

const log = 'api.example.com/transparency'
const identityId = asId<IdentityId>('01934c2e-7a00-7abc-8def-0123456789ab')
const identity = identityDigest(nodeSuite.sha256, identityId)
const leafOf = (fields: Pick<KeyEvent, 'event' | 'keyVersion' | 'publicKey'> & Partial<KeyEvent>) =>
  writeKeyEvent({ at: '2030-01-01T12:00:00.000Z', identity, previous: null, link: null, possession: null, ...fields })
const hashOf = (leaf: string) => hashKeyEvent(nodeSuite.sha256, leaf)
function missingIn(leaves: string[], keyVersion: number) {
  const indexed = leaves.map((leaf, index) => ({ index, leaf }))
  const history = readKeyHistory(nodeSuite, { log, identityId, leaves: indexed })
  return 'keys' in history ? listMissingKeyProofs(history, keyVersion) : history
}

test('a page proves the key that it creates, and the key that replaces it', async () => {
  const masterKey = generateMasterKey()
  const first = await createSigningKey(masterKey, identityId, log)
  const leaf1 = leafOf({ event: 'created', keyVersion: 1, publicKey: first.publicKey, ...pick(first) })
  assert.deepEqual(missingIn([leaf1], 1), [])
  const current = { ...recordOf(first, 1), chain: { log, previous: hashOf(leaf1) } }
  const { publicKey, previous = null, ...proofs } = await replaceSigningKey(masterKey, current)
  const leaf2 = leafOf({ event: 'rotated', keyVersion: 2, publicKey, previous, ...pick(proofs) })
  assert.deepEqual(missingIn([leaf1, leaf2], 2), [])
})

test('KEY-31 a service that hides the log entry of a key gets no rotation without proofs', async () => {
  const masterKey = generateMasterKey()
  const own = await masterKey.newSigningKey(identityId)
  const hidden = { ...recordOf(own, 1), chain: { log, previous: null } }
  await assert.rejects(replaceSigningKey(masterKey, hidden), { code: 'key_history_changed' })
})

test('KEY-31 a page adopts its own key, with the signature of the former one', async () => {
  const masterKey = generateMasterKey()
  const [first, second] = [await masterKey.newSigningKey(identityId), await masterKey.newSigningKey(identityId)]
  const leaf1 = leafOf({ event: 'created', keyVersion: 1, publicKey: first.publicKey })
  const fields = { keyVersion: 2, publicKey: second.publicKey }
  const leaf2 = leafOf({ ...fields, event: 'rotated', previous: hashOf(leaf1) })
  const chain = { log, previous: hashOf(leaf2), adoption: { former: first } }
  const adoption = await adoptSigningKey(masterKey, { ...recordOf(second, 2), chain })
  const leaf3 = leafOf({ ...fields, event: 'adopted', previous: hashOf(leaf2), ...pick(adoption ?? {}) })
  assert.deepEqual(missingIn([leaf1, leaf2, leaf3], 2), [])
  assert.equal(await adoptSigningKey(masterKey, { ...recordOf(second, 2), chain: { log, previous: null } }), undefined)
})

test('KEY-31 a service that names a key of its own gets no signature for it', async () => {
  const [masterKey, service] = [generateMasterKey(), generateMasterKey()]
  const own = await masterKey.newSigningKey(identityId)
  const named = await service.newSigningKey(identityId)
  const adoption = { former: own }
  const chain = { log, previous: hashOf('leaf'), adoption }
  // Its public key with the user's private key, which is all that the account can decrypt.
  const lies = [named.publicKey, named.publicKey.replace('=', ''), '', Buffer.alloc(32).toString('base64')]
  for (const publicKey of lies)
    await assert.rejects(adoptSigningKey(masterKey, { ...recordOf(own, 2), publicKey, chain }), {
      code: 'foreign_signing_key',
    })
  await assert.rejects(adoptSigningKey(masterKey, { ...recordOf(named, 2), chain }), { name: 'DecryptionError' })
  // A former key that is not the user's signs no link, and takes nothing from the possession.
  const withForeign = { ...chain, adoption: { former: named } }
  const adopted = await adoptSigningKey(masterKey, { ...recordOf(own, 2), chain: withForeign })
  assert.equal(adopted?.link, undefined)
})

function recordOf(key: { publicKey: string; encryptedPrivateKey: string }, keyVersion: number) {
  return {
    ...key,
    identityId,
    keyVersion,
    handle: 'ada',
    hasKey: true as const,
    createdAt: '',
    rotatedAt: null,
    former: [],
  }
}

function pick({ link, possession }: { link?: string | null | undefined; possession?: string | undefined }) {
  return { link: link ?? null, possession: possession ?? null }
}
