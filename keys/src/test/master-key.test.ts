import assert from 'node:assert/strict'
import { createPublicKey, randomBytes, verify } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { inspect } from 'node:util'
import { fromCanonicalBase64, toBase64 } from '@countersign/protocol/formats/base64'
import { limits } from '@countersign/protocol/formats/limits'
import { compactDecrypt } from 'jose/jwe/compact/decrypt'
import { CompactEncrypt } from 'jose/jwe/compact/encrypt'
import vectors from '../../vectors.json' with { type: 'json' }
import { DecryptionError, importEnvelopeKey, seal } from '../envelope.ts'
import { MasterKey, generateMasterKey, unwrapMasterKey } from '../master-key.ts'
import { KeyEncryptionKey, deriveKeyFromPrf } from '../prf.ts'
import { deriveKeyFromRecoveryCode, generateRecoveryCode } from '../recovery-code.ts'

const { userId, identityId, wraps, signingKey, encryptionKeys } = vectors.masterKey
const otherId = '0198a3c2-7f10-7a11-8b22-00000000ffff'
const fromHex = (text: string) => Uint8Array.from(Buffer.from(text, 'hex'))
const newPasskey = () => deriveKeyFromPrf(crypto.getRandomValues(new Uint8Array(32)))

const vectorWrappings = {
  'its passkey': async () => ({ wrapping: await deriveKeyFromPrf(fromHex(wraps.prf.output)), ...wraps.prf }),
  'its recovery code': async () => ({
    wrapping: await deriveKeyFromRecoveryCode(wraps.recoveryCode.code),
    ...wraps.recoveryCode,
  }),
}

for (const [what, unwrap] of Object.entries(vectorWrappings)) {
  test(`a master key wrapped elsewhere is unwrapped with ${what}, and signs and decrypts`, async () => {
    const { ciphertext, wrapping } = await unwrap()
    const masterKey = await unwrapMasterKey(ciphertext, wrapping, userId)

    const privateKey = await masterKey.openSigningKey(identityId, signingKey.encryptedPrivateKey)
    const signature = await crypto.subtle.sign('Ed25519', privateKey, Buffer.from(signingKey.message))
    assert.equal(toBase64(new Uint8Array(signature)), signingKey.signature)

    for (const { curve, encryptedPrivateKey, peerPublicKey, sharedSecret } of encryptionKeys) {
      const key = await masterKey.openEncryptionKey(identityId, encryptedPrivateKey)
      assert.equal(Buffer.from(await agree(key, curve, peerPublicKey)).toString('hex'), sharedSecret)
    }
  })
}

test('an account created with a passkey is unlocked by that passkey and by the recovery code', async () => {
  const [passkey, code] = [await newPasskey(), generateRecoveryCode()]
  const masterKey = generateMasterKey()
  const made = await masterKey.newSigningKey(identityId)
  const byPasskey = await masterKey.wrap(passkey, userId)
  const byCode = await masterKey.wrap(await deriveKeyFromRecoveryCode(code), userId)
  masterKey.forget()

  const again = [
    await unwrapMasterKey(byPasskey, passkey, userId),
    await unwrapMasterKey(byCode, await deriveKeyFromRecoveryCode(code.toLowerCase()), userId),
  ]
  for (const opened of again) await assertSigns(opened, made)
})

test('a self-record opens for its user, at its place and with its master key alone', async () => {
  const [masterKey, other] = [generateMasterKey(), generateMasterKey()]
  const sealed = await masterKey.sealSelfRecord(userId, 'service', 'what I know of my keys')
  assert.equal(await masterKey.openSelfRecord(userId, 'service', sealed), 'what I know of my keys')
  await assert.rejects(masterKey.openSelfRecord(userId, 'device', sealed), DecryptionError)
  await assert.rejects(masterKey.openSelfRecord(otherId, 'service', sealed), DecryptionError)
  await assert.rejects(other.openSelfRecord(userId, 'service', sealed), DecryptionError)
})

test('SLF-01 a master key owns the signing keys that it has sealed, under their public keys', async () => {
  const [masterKey, other] = [generateMasterKey(), generateMasterKey()]
  const [made, second] = [await masterKey.newSigningKey(identityId), await masterKey.newSigningKey(identityId)]
  assert.equal(await masterKey.ownsSigningKey(identityId, made), true)
  assert.equal(await masterKey.ownsSigningKey(otherId, made), false)
  assert.equal(await masterKey.ownsSigningKey(identityId, { ...made, publicKey: second.publicKey }), false)
  assert.equal(await masterKey.ownsSigningKey(identityId, { ...made, publicKey: '' }), false)
  assert.equal(await masterKey.ownsSigningKey(identityId, { ...made, encryptedPrivateKey: 'a.b.c.d.e' }), false)
  assert.equal(await other.ownsSigningKey(identityId, made), false)
})

test('ACT-90 a master key owns the encryption keys that it has sealed, under their public keys', async (t) => {
  const [masterKey, other] = [generateMasterKey(), generateMasterKey()]
  const make = () => masterKey.newEncryptionKey(identityId)
  const [made, second] = [await make(), await make()]
  assert.equal(await masterKey.ownsEncryptionKey(identityId, made), true)
  assert.equal(await masterKey.ownsEncryptionKey(otherId, made), false)
  assert.equal(await masterKey.ownsEncryptionKey(identityId, { ...made, publicKey: second.publicKey }), false)
  assert.equal(await masterKey.ownsEncryptionKey(identityId, { ...made, encryptedPrivateKey: 'a.b.c.d.e' }), false)
  assert.equal(await other.ownsEncryptionKey(identityId, made), false)
  failAtX25519(t, 'NotSupportedError')
  const [older, another] = [await make(), await make()]
  assert.equal(await masterKey.ownsEncryptionKey(identityId, older), true)
  assert.equal(await masterKey.ownsEncryptionKey(identityId, { ...older, publicKey: another.publicKey }), false)
})

test('a second passkey unlocks the keys that were created before it', async () => {
  const [first, second] = [await newPasskey(), await newPasskey()]
  const masterKey = generateMasterKey()
  const made = await masterKey.newSigningKey(identityId)
  const wrapped = await masterKey.wrap(first, userId)

  const bySecond = await (await unwrapMasterKey(wrapped, first, userId)).wrap(second, userId)
  await assertSigns(await unwrapMasterKey(bySecond, second, userId), made)
  await assert.rejects(unwrapMasterKey(wrapped, second, userId), DecryptionError)
  await assert.rejects(unwrapMasterKey(bySecond, first, userId), DecryptionError)
})

test('the key wrap of one user cannot be unwrapped as that of another', async () => {
  const passkey = await newPasskey()
  await assert.rejects(
    unwrapMasterKey(await generateMasterKey().wrap(passkey, userId), passkey, otherId),
    DecryptionError,
  )
})

test('a signing key is an Ed25519 key whose signatures others verify', async () => {
  const masterKey = generateMasterKey()
  const made = await masterKey.newSigningKey(identityId)
  assert.equal(fromCanonicalBase64(made.publicKey)?.length, 32)
  await assertSigns(masterKey, made)
})

test('an encryption key decrypts content that others encrypt to it', async () => {
  const masterKey = generateMasterKey()
  const { publicKey, encryptedPrivateKey } = await masterKey.newEncryptionKey(identityId)
  assert.equal(spkiOf(publicKey).asymmetricKeyType, 'x25519')
  const key = await masterKey.openEncryptionKey(identityId, encryptedPrivateKey)
  await assertDecrypts(key, publicKey)
})

test('a runtime without X25519 generates and decrypts P-256 encryption keys', async (t) => {
  failAtX25519(t, 'NotSupportedError')
  const masterKey = generateMasterKey()
  const { publicKey, encryptedPrivateKey } = await masterKey.newEncryptionKey(identityId)
  assert.equal(spkiOf(publicKey).asymmetricKeyDetails?.namedCurve, 'prime256v1')
  await assertDecrypts(await masterKey.openEncryptionKey(identityId, encryptedPrivateKey), publicKey)
})

test('a runtime that fails at X25519 for another reason does not fall back', async (t) => {
  failAtX25519(t, 'OperationError')
  await assert.rejects(generateMasterKey().newEncryptionKey(identityId), { name: 'OperationError' })
})

test('decrypted private keys are not extractable, and have a single use', async () => {
  const masterKey = generateMasterKey()
  const [signing, encryption] = [
    await masterKey.newSigningKey(identityId),
    await masterKey.newEncryptionKey(identityId),
  ]
  const opened = {
    sign: await masterKey.openSigningKey(identityId, signing.encryptedPrivateKey),
    deriveBits: await masterKey.openEncryptionKey(identityId, encryption.encryptedPrivateKey),
  }
  for (const [usage, key] of Object.entries(opened)) {
    assert.deepEqual(key.usages, [usage])
    for (const format of ['jwk', 'pkcs8'] as const)
      await assert.rejects(crypto.subtle.exportKey(format, key), { name: 'InvalidAccessError' })
  }
})

test('a private key is not decrypted for another identity or use, or with another master key', async () => {
  const masterKey = generateMasterKey()
  const { encryptedPrivateKey: signing } = await masterKey.newSigningKey(identityId)
  const { encryptedPrivateKey: encryption } = await masterKey.newEncryptionKey(identityId)
  await assert.rejects(masterKey.openSigningKey(otherId, signing), DecryptionError)
  await assert.rejects(masterKey.openEncryptionKey(otherId, encryption), DecryptionError)
  await assert.rejects(masterKey.openSigningKey(identityId, encryption), DecryptionError)
  await assert.rejects(masterKey.openEncryptionKey(identityId, signing), DecryptionError)
  await assert.rejects(generateMasterKey().openSigningKey(identityId, signing), DecryptionError)
  await masterKey.openSigningKey(identityId, signing)
})

test('every ciphertext is far below the size limit of the server', async () => {
  const masterKey = generateMasterKey()
  const ciphertexts = [
    await masterKey.wrap(await newPasskey(), userId),
    (await masterKey.newSigningKey(identityId)).encryptedPrivateKey,
    (await masterKey.newEncryptionKey(identityId)).encryptedPrivateKey,
  ]
  for (const { length } of ciphertexts) assert.ok(length * 16 < limits.ciphertextBytesMax)
})

test('a forgotten master key is unusable, and its bytes are zeros', async () => {
  const bytes = randomBytes(32)
  const masterKey = new MasterKey(bytes)
  const passkey = await newPasskey()
  const { encryptedPrivateKey } = await masterKey.newSigningKey(identityId)
  masterKey.forget()
  masterKey.forget()

  assert.deepEqual(bytes, Buffer.alloc(32))
  const uses = [
    () => masterKey.wrap(passkey, userId),
    () => masterKey.newSigningKey(identityId),
    () => masterKey.newEncryptionKey(identityId),
    () => masterKey.openSigningKey(identityId, encryptedPrivateKey),
    () => masterKey.openEncryptionKey(identityId, encryptedPrivateKey),
  ]
  for (const use of uses) await assert.rejects(use, /forgotten/)
})

test('forgetting the master key during an operation neither wraps zeros nor encrypts with them', async () => {
  const bytes = randomBytes(32)
  const [masterKey, kept] = [new MasterKey(bytes), new MasterKey(Buffer.from(bytes))]
  const passkey = await newPasskey()
  const working = Promise.all([masterKey.wrap(passkey, userId), masterKey.newSigningKey(identityId)])
  masterKey.forget()

  const [wrapped, made] = await working
  await assertSigns(kept, made)
  await assertSigns(await unwrapMasterKey(wrapped, passkey, userId), made)
})

test('no operation leaves a copy of the master key', async (t) => {
  const importKey = t.mock.method(crypto.subtle, 'importKey')
  const bytes = randomBytes(32)
  const masterKey = new MasterKey(bytes)
  const { encryptedPrivateKey } = await masterKey.newSigningKey(identityId)
  await masterKey.openSigningKey(identityId, encryptedPrivateKey)

  const imported = importKey.mock.calls.flatMap(({ arguments: [format, data] }) => (format === 'raw' ? [data] : []))
  assert.deepEqual(imported, [new Uint8Array(32), new Uint8Array(32)])
  assert.notDeepEqual(bytes, Buffer.alloc(32))
})

test('neither a master key nor a wrapping key prints, serializes or clones its bytes', async () => {
  const bytes = randomBytes(32)
  const secret = bytes.toString('hex')
  const masterKey = new MasterKey(bytes)
  for (const key of [masterKey, await KeyEncryptionKey.derive(bytes, 'test')]) {
    assert.deepEqual(Reflect.ownKeys(key), [])
    assert.equal(JSON.stringify(key), '{}')
    const value: unknown = key
    assert.equal(String(value), '[object Object]')
    assert.deepEqual(structuredClone(key), {})
    const shown = inspect(key, { showHidden: true, depth: null, showProxy: true })
    assert.ok(!shown.includes(secret) && !shown.includes(inspect(bytes).slice(8, 20)))
  }
})

for (const content of ['no JSON, but secret', '"a string"', 'null', '']) {
  test(`an encrypted private key with content ${content || 'nothing'} is rejected without being quoted`, async () => {
    const bytes = randomBytes(32)
    const key = await importEnvelopeKey(Buffer.from(bytes))
    const ciphertext = await seal(key, `signing-key:${identityId}`, Buffer.from(content))
    await assert.rejects(new MasterKey(bytes).openSigningKey(identityId, ciphertext), (error) => {
      return error instanceof DecryptionError && error.cause === undefined && !inspect(error).includes('but secret')
    })
  })
}

for (const length of [0, 16, 31, 33]) {
  test(`${length} bytes are not a master key`, () => {
    assert.throws(() => new MasterKey(new Uint8Array(length)), RangeError)
  })
}

async function assertSigns(masterKey: MasterKey, made: { publicKey: string; encryptedPrivateKey: string }) {
  const key = await masterKey.openSigningKey(identityId, made.encryptedPrivateKey)
  const signature = await crypto.subtle.sign('Ed25519', key, Buffer.from('text'))
  const x = Buffer.from(made.publicKey, 'base64').toString('base64url')
  const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  assert.ok(verify(null, Buffer.from('text'), publicKey, Buffer.from(signature)))
}

function failAtX25519(t: TestContext, name: string) {
  const generateKey = crypto.subtle.generateKey.bind(crypto.subtle)
  t.mock.method(crypto.subtle, 'generateKey', async (...given: Parameters<typeof generateKey>) => {
    if (given[0] === 'X25519') throw new DOMException('Not with this curve.', name)
    return generateKey(...given)
  })
}

async function assertDecrypts(key: CryptoKey, publicKey: string) {
  const sent = await new CompactEncrypt(Buffer.from('text'))
    .setProtectedHeader({ alg: 'ECDH-ES+A256KW', enc: 'A256GCM' })
    .encrypt(spkiOf(publicKey))
  const { plaintext } = await compactDecrypt(sent, key)
  assert.equal(Buffer.from(plaintext).toString(), 'text')
}

function spkiOf(publicKey: string) {
  return createPublicKey({ key: Buffer.from(publicKey, 'base64'), format: 'der', type: 'spki' })
}

async function agree(key: CryptoKey, curve: string, peerPublicKey: string): Promise<ArrayBuffer> {
  const algorithm = curve === 'X25519' ? { name: 'X25519' } : { name: 'ECDH', namedCurve: curve }
  const peer = await crypto.subtle.importKey('spki', Buffer.from(peerPublicKey, 'base64'), algorithm, false, [])
  return crypto.subtle.deriveBits({ name: algorithm.name, public: peer }, key, 256)
}
