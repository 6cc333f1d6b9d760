import assert from 'node:assert/strict'
import { createPrivateKey, createPublicKey, diffieHellman, generateKeyPairSync, randomBytes } from 'node:crypto'
import { test, type TestContext } from 'node:test'
import {
  readAppKeyFragment,
  writeAppKeyFragment,
  type AppKey,
} from '@countersign/protocol/formats/encryption/app-key-fragment'
import { toBase64 } from '@countersign/protocol/formats/base64'
import { limits } from '@countersign/protocol/formats/limits'
import vectors from '../../vectors.json' with { type: 'json' }
import { CannotOpen, importEnvelopeKey, seal } from '../envelope.ts'
import { MasterKey, newMasterKey } from '../master-key.ts'

const { identityId, appKeys } = vectors.masterKey
const { clientId } = appKeys
const other = { identityId: '0198a3c2-7f10-7a11-8b22-00000000ffff', clientId: 'app_ffffffffffffffffffffffffffffffff' }
const masterKeyOf = (hex: string) => new MasterKey(Buffer.from(hex, 'hex'))

type SealedVector = (typeof appKeys.keys)[number]

for (const vector of appKeys.keys) {
  test(`an app key sealed elsewhere opens, and is written into the same fragment: ${vector.mode}`, async () => {
    const appKey = await openVector(masterKeyOf(vectors.masterKey.masterKey), vector)
    assert.equal(writeAppKeyFragment({ appKey }), vector.fragment)
    assert.deepEqual(readAppKeyFragment(vector.fragment), { appKey })
    if (appKey.mode === 'symmetric') assert.equal(Buffer.from(appKey.key).toString('hex'), vector.key)
    if (appKey.mode === 'asymmetric') assertAgree(appKey)
  })
}

test('a symmetric app key is the same whenever it is opened, and another for each app and identity', async () => {
  const masterKey = newMasterKey()
  const places = [
    [identityId, clientId],
    [identityId, clientId],
    [other.identityId, clientId],
    [identityId, other.clientId],
  ] as const
  const seen = new Set<string>()
  for (const place of places) {
    const sealed = await masterKey.newAppKey(...place)
    const { mode, key } = await masterKey.openAppKey(...place, sealed)
    assert.equal(mode, 'symmetric')
    assert.equal(key.length, 32)
    assert.deepEqual(await masterKey.openAppKey(...place, sealed), { mode, key })
    seen.add(toBase64(key))
  }
  assert.equal(seen.size, places.length)
})

test('a key pair of an app agrees with the keys of others, and is the same whenever it is opened', async () => {
  const masterKey = newMasterKey()
  const sealed = await masterKey.newAppKeyPair(identityId, clientId)
  const appKey = await masterKey.openAppKeyPair(identityId, clientId, sealed)
  assert.equal(toBase64(appKey.publicKey), sealed.appPublicKey)
  assert.equal(publicKeyOf(appKey).asymmetricKeyType, 'x25519')
  assertAgree(appKey)
  assert.deepEqual(await masterKey.openAppKeyPair(identityId, clientId, sealed), appKey)
})

test('a runtime without X25519 makes and opens pairs of P-256', async (t) => {
  failAtX25519(t)
  const masterKey = newMasterKey()
  const sealed = await masterKey.newAppKeyPair(identityId, clientId)
  const appKey = await masterKey.openAppKeyPair(identityId, clientId, sealed)
  assert.equal(publicKeyOf(appKey).asymmetricKeyDetails?.namedCurve, 'prime256v1')
  assertAgree(appKey)
})

test('E2E-05 an app key of another identity, another app or another person does not open', async () => {
  const masterKey = newMasterKey()
  const sealed = await masterKey.newAppKey(identityId, clientId)
  const pair = await masterKey.newAppKeyPair(identityId, clientId)
  const elsewhere = [
    [masterKey, other.identityId, clientId],
    [masterKey, identityId, other.clientId],
    [masterKey, clientId, identityId],
    [masterKey, `${identityId}:${clientId}`, ''],
    [newMasterKey(), identityId, clientId],
  ] as const
  for (const [opener, identity, client] of elsewhere) {
    await assert.rejects(opener.openAppKey(identity, client, sealed), CannotOpen)
    await assert.rejects(opener.openAppKeyPair(identity, client, pair), CannotOpen)
  }
})

test('a key of one kind does not open as one of the other', async () => {
  const masterKey = newMasterKey()
  const sealed = await masterKey.newAppKey(identityId, clientId)
  const pair = await masterKey.newAppKeyPair(identityId, clientId)
  await assert.rejects(masterKey.openAppKey(identityId, clientId, pair.encryptedAppPrivateKey), CannotOpen)
  const asPair = { ...pair, encryptedAppPrivateKey: sealed }
  await assert.rejects(masterKey.openAppKeyPair(identityId, clientId, asPair), CannotOpen)
  const { encryptedPrivateKey } = await masterKey.newEncryptionKey(identityId)
  await assert.rejects(masterKey.openAppKey(identityId, clientId, encryptedPrivateKey), CannotOpen)
})

test('whoever answers with another public key than the one of the private key is not believed', async (t) => {
  const masterKey = newMasterKey()
  const pair = await masterKey.newAppKeyPair(identityId, clientId)
  const another = await masterKey.newAppKeyPair(identityId, clientId)
  failAtX25519(t)
  const ofP256 = await masterKey.newAppKeyPair(identityId, clientId)
  const anotherOfP256 = await masterKey.newAppKeyPair(identityId, clientId)
  const lies: [{ encryptedAppPrivateKey: string }, string][] = [
    [pair, another.appPublicKey],
    [ofP256, anotherOfP256.appPublicKey],
    [pair, ofP256.appPublicKey],
    [ofP256, pair.appPublicKey],
    [pair, ''],
    [pair, `${pair.appPublicKey} `],
    [pair, pair.appPublicKey.replaceAll('=', '')],
  ]
  for (const [{ encryptedAppPrivateKey }, appPublicKey] of lies) {
    const lie = { encryptedAppPrivateKey, appPublicKey }
    await assert.rejects(masterKey.openAppKeyPair(identityId, clientId, lie), CannotOpen)
  }
})

for (const length of [0, 16, 31, 33, 48, 138]) {
  test(`${length} bytes that were sealed as an app key are none`, async () => {
    const bytes = randomBytes(32)
    const envelopeKey = await importEnvelopeKey(Buffer.from(bytes))
    const sealed = await seal(envelopeKey, `app-key:${identityId}:${clientId}`, randomBytes(length))
    const masterKey = new MasterKey(bytes)
    const { appPublicKey } = await masterKey.newAppKeyPair(identityId, clientId)
    await assert.rejects(masterKey.openAppKey(identityId, clientId, sealed), CannotOpen)
    const pair = { appPublicKey, encryptedAppPrivateKey: sealed }
    await assert.rejects(masterKey.openAppKeyPair(identityId, clientId, pair), CannotOpen)
  })
}

test('every sealed app key is far below the size that the server stores', async (t) => {
  failAtX25519(t)
  const masterKey = newMasterKey()
  const { encryptedAppPrivateKey } = await masterKey.newAppKeyPair(identityId, clientId)
  for (const ciphertext of [await masterKey.newAppKey(identityId, clientId), encryptedAppPrivateKey])
    assert.ok(ciphertext.length * 16 < limits.ciphertextBytesMax)
})

test('a forgotten master key makes and opens no app key', async () => {
  const masterKey = newMasterKey()
  const sealed = await masterKey.newAppKey(identityId, clientId)
  const pair = await masterKey.newAppKeyPair(identityId, clientId)
  masterKey.forget()
  const uses = [
    () => masterKey.newAppKey(identityId, clientId),
    () => masterKey.newAppKeyPair(identityId, clientId),
    () => masterKey.openAppKey(identityId, clientId, sealed),
    () => masterKey.openAppKeyPair(identityId, clientId, pair),
  ]
  for (const use of uses) await assert.rejects(use, /forgotten/)
})

async function openVector(masterKey: MasterKey, vector: SealedVector): Promise<AppKey> {
  const { encryptedAppKey, appPublicKey = '', encryptedAppPrivateKey = '' } = vector
  if (encryptedAppKey !== undefined) return masterKey.openAppKey(identityId, clientId, encryptedAppKey)
  return masterKey.openAppKeyPair(identityId, clientId, { appPublicKey, encryptedAppPrivateKey })
}

function publicKeyOf({ publicKey }: { publicKey: Uint8Array }) {
  return createPublicKey({ key: Buffer.from(publicKey), format: 'der', type: 'spki' })
}

/** That the owner of the pair and somebody else come to the same secret. */
function assertAgree(pair: { privateKey: Uint8Array; publicKey: Uint8Array }) {
  const publicKey = publicKeyOf(pair)
  const privateKey = createPrivateKey({ key: Buffer.from(pair.privateKey), format: 'der', type: 'pkcs8' })
  const somebody =
    publicKey.asymmetricKeyType === 'x25519'
      ? generateKeyPairSync('x25519')
      : generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const mine = diffieHellman({ privateKey, publicKey: somebody.publicKey })
  assert.deepEqual(mine, diffieHellman({ privateKey: somebody.privateKey, publicKey }))
}

function failAtX25519(t: TestContext) {
  const generateKey = crypto.subtle.generateKey.bind(crypto.subtle)
  t.mock.method(crypto.subtle, 'generateKey', async (...given: Parameters<typeof generateKey>) => {
    if (given[0] === 'X25519') throw new DOMException('Not with this curve.', 'NotSupportedError')
    return generateKey(...given)
  })
}
