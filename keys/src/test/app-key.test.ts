import assert from 'node:assert/strict'
import { createPrivateKey, createPublicKey, diffieHellman, generateKeyPairSync, randomBytes } from 'node:crypto'
import { test, type TestContext } from 'node:test'
import {
  withRedirect,
  writeAppKeyEnvelope,
  type AppKeyPlaces,
} from '@countersign/protocol/formats/encryption/app-key-envelope'
import { parseAppKeyFragment, formatAppKeyFragment } from '@countersign/protocol/formats/encryption/app-key-fragment'
import { toBase64 } from '@countersign/protocol/formats/base64'
import { limits } from '@countersign/protocol/formats/limits'
import vectors from '../../vectors.json' with { type: 'json' }
import type { OpenedAppKey } from '../app-key.ts'
import { DecryptionError, importEnvelopeKey, seal } from '../envelope.ts'
import { MasterKey, generateMasterKey } from '../master-key.ts'

const { identityId, appKeys } = vectors.masterKey
const { clientId } = appKeys
const places = {
  consentedAt: '2030-01-01T12:00:00.000Z',
  recipient: null,
  redirects: ['https://notes.example/callback'],
}
const other = { identityId: '0198a3c2-7f10-7a11-8b22-00000000ffff', clientId: 'app_ffffffffffffffffffffffffffffffff' }
const masterKeyOf = (hex: string) => new MasterKey(Buffer.from(hex, 'hex'))

type SealedVector = (typeof appKeys.keys)[number]

for (const vector of appKeys.keys) {
  test(`an app key encrypted elsewhere is decrypted, and gives the same fragment: ${vector.mode}`, async () => {
    const { appKey, places: found } = await openVector(masterKeyOf(vectors.masterKey.masterKey), vector)
    assert.deepEqual(found, vector.places)
    const key = appKey.mode === 'symmetric' ? appKey : { mode: appKey.mode, privateKey: appKey.privateKey }
    assert.equal(new TextDecoder().decode(writeAppKeyEnvelope({ key, places: found })), vector.envelope)
    assert.equal(formatAppKeyFragment({ appKey }), vector.fragment)
    assert.deepEqual(parseAppKeyFragment(vector.fragment), { appKey })
    if (appKey.mode === 'symmetric') assert.equal(Buffer.from(appKey.key).toString('hex'), vector.key)
    if (appKey.mode === 'asymmetric') assertAgree(appKey)
  })
}

test('a symmetric app key stays the same, and differs for each app and identity', async () => {
  const masterKey = generateMasterKey()
  const owners = [
    [identityId, clientId],
    [identityId, clientId],
    [other.identityId, clientId],
    [identityId, other.clientId],
  ] as const
  const seen = new Set<string>()
  for (const owner of owners) {
    const sealed = await masterKey.newAppKey(...owner, places)
    const { mode, key } = (await masterKey.openAppKey(...owner, sealed)).appKey
    assert.equal(mode, 'symmetric')
    assert.equal(key.length, 32)
    assert.deepEqual(await masterKey.openAppKey(...owner, sealed), { appKey: { mode, key }, places })
    seen.add(toBase64(key))
  }
  assert.equal(seen.size, owners.length)
})

test('a key pair of an app agrees with the keys of others, and stays the same', async () => {
  const masterKey = generateMasterKey()
  const sealed = await masterKey.newAppKeyPair(identityId, clientId, places)
  const { appKey } = await masterKey.openAppKeyPair(identityId, clientId, sealed)
  assert.equal(toBase64(appKey.publicKey), sealed.appPublicKey)
  assert.equal(publicKeyOf(appKey).asymmetricKeyType, 'x25519')
  assertAgree(appKey)
  assert.deepEqual(await masterKey.openAppKeyPair(identityId, clientId, sealed), { appKey, places })
})

test('a runtime without X25519 generates and decrypts pairs of P-256', async (t) => {
  failAtX25519(t)
  const masterKey = generateMasterKey()
  const sealed = await masterKey.newAppKeyPair(identityId, clientId, places)
  const { appKey } = await masterKey.openAppKeyPair(identityId, clientId, sealed)
  assert.equal(publicKeyOf(appKey).asymmetricKeyDetails?.namedCurve, 'prime256v1')
  assertAgree(appKey)
})

test('E2E-05 an app key of another identity, app or user is not decrypted', async () => {
  const masterKey = generateMasterKey()
  const sealed = await masterKey.newAppKey(identityId, clientId, places)
  const pair = await masterKey.newAppKeyPair(identityId, clientId, places)
  const elsewhere = [
    [masterKey, other.identityId, clientId],
    [masterKey, identityId, other.clientId],
    [masterKey, clientId, identityId],
    [masterKey, `${identityId}:${clientId}`, ''],
    [generateMasterKey(), identityId, clientId],
  ] as const
  for (const [opener, identity, client] of elsewhere) {
    await assert.rejects(opener.openAppKey(identity, client, sealed), DecryptionError)
    await assert.rejects(opener.openAppKeyPair(identity, client, pair), DecryptionError)
  }
})

test('a key of one kind is not decrypted as the other kind', async () => {
  const masterKey = generateMasterKey()
  const sealed = await masterKey.newAppKey(identityId, clientId, places)
  const pair = await masterKey.newAppKeyPair(identityId, clientId, places)
  await assert.rejects(masterKey.openAppKey(identityId, clientId, pair.encryptedAppPrivateKey), DecryptionError)
  const asPair = { ...pair, encryptedAppPrivateKey: sealed }
  await assert.rejects(masterKey.openAppKeyPair(identityId, clientId, asPair), DecryptionError)
  const { encryptedPrivateKey } = await masterKey.newEncryptionKey(identityId)
  await assert.rejects(masterKey.openAppKey(identityId, clientId, encryptedPrivateKey), DecryptionError)
})

test('a public key that does not belong to the private key is rejected', async (t) => {
  const masterKey = generateMasterKey()
  const pair = await masterKey.newAppKeyPair(identityId, clientId, places)
  const another = await masterKey.newAppKeyPair(identityId, clientId, places)
  failAtX25519(t)
  const ofP256 = await masterKey.newAppKeyPair(identityId, clientId, places)
  const anotherOfP256 = await masterKey.newAppKeyPair(identityId, clientId, places)
  const falsified: [{ encryptedAppPrivateKey: string }, string][] = [
    [pair, another.appPublicKey],
    [ofP256, anotherOfP256.appPublicKey],
    [pair, ofP256.appPublicKey],
    [ofP256, pair.appPublicKey],
    [pair, ''],
    [pair, `${pair.appPublicKey} `],
    [pair, pair.appPublicKey.replaceAll('=', '')],
  ]
  for (const [{ encryptedAppPrivateKey }, appPublicKey] of falsified) {
    const stored = { encryptedAppPrivateKey, appPublicKey }
    await assert.rejects(masterKey.openAppKeyPair(identityId, clientId, stored), DecryptionError)
  }
})

test('APK-06 an envelope of version 1, which is the bare key, is not decrypted', async () => {
  const bytes = randomBytes(32)
  const envelopeKey = await importEnvelopeKey(Buffer.from(bytes))
  const masterKey = new MasterKey(bytes)
  const pair = await masterKey.newAppKeyPair(identityId, clientId, places)
  const { privateKey } = (await masterKey.openAppKeyPair(identityId, clientId, pair)).appKey
  for (const context of [`app-key:${identityId}:${clientId}`, `app-key/2:${identityId}:${clientId}`])
    for (const bare of [randomBytes(32), privateKey, randomBytes(0), randomBytes(138)]) {
      const sealed = await seal(envelopeKey, context, bare)
      await assert.rejects(masterKey.openAppKey(identityId, clientId, sealed), DecryptionError)
      const asPair = { ...pair, encryptedAppPrivateKey: sealed }
      await assert.rejects(masterKey.openAppKeyPair(identityId, clientId, asPair), DecryptionError)
    }
})

test('APK-06 the places of a key are part of its ciphertext, and only the master key changes them', async () => {
  const masterKey = generateMasterKey()
  const sealed = await masterKey.newAppKey(identityId, clientId, places)
  const { appKey } = await masterKey.openAppKey(identityId, clientId, sealed)
  const more = { ...places, redirects: [...places.redirects, 'https://evil.example/callback'] }
  const moved = await masterKey.sealAppKey(identityId, clientId, { appKey, places: more })
  assert.deepEqual(await masterKey.openAppKey(identityId, clientId, moved), { appKey, places: more })
  const [header, none, iv, body = '', tag] = moved.split('.')
  const [, , ivBefore, bodyBefore = '', tagBefore] = sealed.split('.')
  for (const mixed of [
    [header, none, iv, bodyBefore, tag],
    [header, none, ivBefore, body, tagBefore],
    [header, none, iv, body.slice(0, bodyBefore.length), tag],
  ])
    await assert.rejects(masterKey.openAppKey(identityId, clientId, mixed.join('.')), DecryptionError)
})

test('an encrypted app key with all its places is within the size limit of the server', async (t) => {
  failAtX25519(t)
  const masterKey = generateMasterKey()
  const long = `https://notes.example/${'a'.repeat(limits.appKeyRedirectCharactersMax - 30)}`
  let full: AppKeyPlaces = places
  for (let index = 0; index < 30; index += 1) full = withRedirect(full, `${long}${index}`)
  const { encryptedAppPrivateKey } = await masterKey.newAppKeyPair(identityId, clientId, full)
  for (const ciphertext of [await masterKey.newAppKey(identityId, clientId, full), encryptedAppPrivateKey])
    assert.ok(ciphertext.length <= limits.ciphertextBytesMax, String(ciphertext.length))
})

test('a forgotten master key neither generates nor decrypts app keys', async () => {
  const masterKey = generateMasterKey()
  const sealed = await masterKey.newAppKey(identityId, clientId, places)
  const pair = await masterKey.newAppKeyPair(identityId, clientId, places)
  masterKey.forget()
  const uses = [
    () => masterKey.newAppKey(identityId, clientId, places),
    () => masterKey.newAppKeyPair(identityId, clientId, places),
    () => masterKey.openAppKey(identityId, clientId, sealed),
    () => masterKey.openAppKeyPair(identityId, clientId, pair),
  ]
  for (const use of uses) await assert.rejects(use, /forgotten/)
})

async function openVector(masterKey: MasterKey, vector: SealedVector): Promise<OpenedAppKey> {
  const { encryptedAppKey, appPublicKey = '', encryptedAppPrivateKey = '' } = vector
  if (encryptedAppKey !== undefined) return masterKey.openAppKey(identityId, clientId, encryptedAppKey)
  return masterKey.openAppKeyPair(identityId, clientId, { appPublicKey, encryptedAppPrivateKey })
}

function publicKeyOf({ publicKey }: { publicKey: Uint8Array }) {
  return createPublicKey({ key: Buffer.from(publicKey), format: 'der', type: 'spki' })
}

/** Checks that the owner of the pair and another party derive the same secret. */
function assertAgree(pair: { privateKey: Uint8Array; publicKey: Uint8Array }) {
  const publicKey = publicKeyOf(pair)
  const privateKey = createPrivateKey({ key: Buffer.from(pair.privateKey), format: 'der', type: 'pkcs8' })
  const sender =
    publicKey.asymmetricKeyType === 'x25519'
      ? generateKeyPairSync('x25519')
      : generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const mine = diffieHellman({ privateKey, publicKey: sender.publicKey })
  assert.deepEqual(mine, diffieHellman({ privateKey: sender.privateKey, publicKey }))
}

function failAtX25519(t: TestContext) {
  const generateKey = crypto.subtle.generateKey.bind(crypto.subtle)
  t.mock.method(crypto.subtle, 'generateKey', async (...given: Parameters<typeof generateKey>) => {
    if (given[0] === 'X25519') throw new DOMException('Not with this curve.', 'NotSupportedError')
    return generateKey(...given)
  })
}
