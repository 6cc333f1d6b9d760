import { writeAppKeyEnvelope, type AppKeyPlaces } from '@countersign/protocol/formats/encryption/app-key-envelope'
import type { AppKeyPair, SymmetricAppKey } from '@countersign/protocol/formats/encryption/app-key-fragment'
import { fromCanonicalBase64, toBase64, toBase64Url } from '@countersign/protocol/formats/base64'
import { ciphertextContext } from '@countersign/protocol/formats/encryption/ciphertext-context'
import {
  generateAppKeyPair,
  generateSymmetricAppKey,
  parseAppKeyPair,
  parseSymmetricAppKey,
  type OpenedAppKey,
  type SealedAppKeyPair,
} from './app-key.ts'
import { DecryptionError, importEnvelopeKey, open, seal } from './envelope.ts'
import {
  encryptionPublicKeyOf,
  importEncryptionKey,
  importSigningKey,
  generateEncryptionKeyPair,
  generateSigningKeyPair,
  type KeyPair,
} from './key-pair.ts'
import type { KeyEncryptionKey } from './prf.ts'

/** A key pair of an identity as the server stores it: the private key is encrypted with the master key. */
export type EncryptedKeyPair = { publicKey: string; encryptedPrivateKey: string }

const masterKeyBytes = 32

/** Generates a master key. It is lost with the page unless it is wrapped. */
export function generateMasterKey(): MasterKey {
  return new MasterKey(crypto.getRandomValues(new Uint8Array(masterKeyBytes)))
}

/** Unwraps a user's master key. Throws `DecryptionError`. */
export async function unwrapMasterKey(
  ciphertext: string,
  wrapping: KeyEncryptionKey,
  userId: string,
): Promise<MasterKey> {
  return new MasterKey(await wrapping.open(ciphertextContext.masterKey(userId), ciphertext))
}

/** Decrypts a master key that another device of the user has encrypted for this one. Throws `DecryptionError`. */
export async function openTransferredMasterKey(
  ciphertext: string,
  wrapping: KeyEncryptionKey,
  approvalId: string,
): Promise<MasterKey> {
  return new MasterKey(await wrapping.open(ciphertextContext.deviceApproval(approvalId), ciphertext))
}

/**
 * The key that encrypts a user's private keys and app keys. It neither prints nor serializes its bytes. A call that
 * started before `forget` completes; a call that starts afterwards throws.
 */
export class MasterKey {
  readonly #bytes: Uint8Array
  #forgotten = false

  /** Takes ownership of the 32 bytes; `forget` zeroes them. */
  constructor(bytes: Uint8Array) {
    if (bytes.length !== masterKeyBytes) throw new RangeError(`A master key must have ${masterKeyBytes} bytes`)
    this.#bytes = bytes
  }

  /** Wraps this key for `unwrapMasterKey`, with the same wrapping key and user. */
  async wrap(wrapping: KeyEncryptionKey, userId: string): Promise<string> {
    return this.#withBytes((bytes) => wrapping.seal(ciphertextContext.masterKey(userId), bytes))
  }

  /** Encrypts this key for `openTransferredMasterKey` on the requesting device. */
  async handOver(wrapping: KeyEncryptionKey, approvalId: string): Promise<string> {
    return this.#withBytes((bytes) => wrapping.seal(ciphertextContext.deviceApproval(approvalId), bytes))
  }

  async newSigningKey(identityId: string): Promise<EncryptedKeyPair> {
    return this.#sealPair(ciphertextContext.signingKey(identityId), generateSigningKeyPair)
  }

  async newEncryptionKey(identityId: string): Promise<EncryptedKeyPair> {
    return this.#sealPair(ciphertextContext.encryptionKey(identityId), generateEncryptionKeyPair)
  }

  /** Decrypts an identity's Ed25519 private key, for `sign` only and not extractable. Throws `DecryptionError`. */
  async openSigningKey(identityId: string, encryptedPrivateKey: string): Promise<CryptoKey> {
    return importSigningKey(await this.#openJwk(ciphertextContext.signingKey(identityId), encryptedPrivateKey))
  }

  /**
   * Decrypts an identity's X25519 or P-256 private key, for `deriveBits` only and not extractable. Throws
   * `DecryptionError`.
   */
  async openEncryptionKey(identityId: string, encryptedPrivateKey: string): Promise<CryptoKey> {
    return importEncryptionKey(await this.#openJwk(ciphertextContext.encryptionKey(identityId), encryptedPrivateKey))
  }

  /**
   * Checks whether this key opens the private half of a signing key. The service cannot seal one, so it cannot name
   * a key of its own.
   */
  async ownsSigningKey(identityId: string, { publicKey, encryptedPrivateKey }: EncryptedKeyPair): Promise<boolean> {
    try {
      const { x } = await this.#openJwk(ciphertextContext.signingKey(identityId), encryptedPrivateKey)
      return x !== undefined && x === toBase64Url(fromCanonicalBase64(publicKey) ?? new Uint8Array())
    } catch (error) {
      if (!(error instanceof DecryptionError)) throw error
      return false
    }
  }

  /** Checks whether the public half of an encryption key is that of the private half, which this key opens. */
  async ownsEncryptionKey(identityId: string, { publicKey, encryptedPrivateKey }: EncryptedKeyPair): Promise<boolean> {
    try {
      const context = ciphertextContext.encryptionKey(identityId)
      return publicKey === (await encryptionPublicKeyOf(await this.#openJwk(context, encryptedPrivateKey)))
    } catch (error) {
      if (!(error instanceof DecryptionError)) throw error
      return false
    }
  }

  /** Seals the text of a self-record for the service, or of what a device remembers for the device itself. */
  async sealSelfRecord(userId: string, place: 'service' | 'device', text: string): Promise<string> {
    const key = await this.#withBytes(importEnvelopeKey)
    return seal(key, ciphertextContext.selfRecord(userId, place), new TextEncoder().encode(text))
  }

  /** Opens what `sealSelfRecord` has sealed for the same user and place. Throws `DecryptionError`. */
  async openSelfRecord(userId: string, place: 'service' | 'device', ciphertext: string): Promise<string> {
    return new TextDecoder().decode(await this.#open(ciphertextContext.selfRecord(userId, place), ciphertext))
  }

  /** Generates a symmetric app key of an identity, as the ciphertext that the server stores. */
  async newAppKey(identityId: string, clientId: string, places: AppKeyPlaces): Promise<string> {
    return this.sealAppKey(identityId, clientId, { appKey: generateSymmetricAppKey(), places })
  }

  async newAppKeyPair(identityId: string, clientId: string, places: AppKeyPlaces): Promise<SealedAppKeyPair> {
    const appKey = await generateAppKeyPair()
    const encryptedAppPrivateKey = await this.sealAppKey(identityId, clientId, { appKey, places })
    return { appPublicKey: toBase64(appKey.publicKey), encryptedAppPrivateKey }
  }

  /** Encrypts an app key for the server, with the places to which it may be delivered. */
  async sealAppKey(identityId: string, clientId: string, { appKey: key, places }: OpenedAppKey): Promise<string> {
    const envelopeKey = await this.#withBytes(importEnvelopeKey)
    return seal(envelopeKey, ciphertextContext.appKey(identityId, clientId), writeAppKeyEnvelope({ key, places }))
  }

  /** Decrypts the symmetric key for the app. Throws `DecryptionError`, also for the private key of a pair. */
  async openAppKey(
    identityId: string,
    clientId: string,
    encryptedAppKey: string,
  ): Promise<OpenedAppKey<SymmetricAppKey>> {
    return parseSymmetricAppKey(await this.#open(ciphertextContext.appKey(identityId, clientId), encryptedAppKey))
  }

  /** Decrypts the key pair for the app. Throws `DecryptionError`, also if its keys do not belong together. */
  async openAppKeyPair(
    identityId: string,
    clientId: string,
    sealed: SealedAppKeyPair,
  ): Promise<OpenedAppKey<AppKeyPair>> {
    const context = ciphertextContext.appKey(identityId, clientId)
    return parseAppKeyPair(await this.#open(context, sealed.encryptedAppPrivateKey), sealed.appPublicKey)
  }

  /** Zeroes the key. It cannot reach decrypted keys and copies that the runtime made. */
  forget(): void {
    this.#bytes.fill(0)
    this.#forgotten = true
  }

  async #sealPair(context: string, newPair: () => Promise<KeyPair>): Promise<EncryptedKeyPair> {
    const key = await this.#withBytes(importEnvelopeKey)
    const { publicKey, privateKey } = await newPair()
    const plaintext = new TextEncoder().encode(JSON.stringify(privateKey))
    return { publicKey, encryptedPrivateKey: await seal(key, context, plaintext) }
  }

  async #openJwk(context: string, ciphertext: string): Promise<JsonWebKey> {
    return readJwk(await this.#open(context, ciphertext))
  }

  async #open(context: string, ciphertext: string): Promise<Uint8Array> {
    return open(await this.#withBytes(importEnvelopeKey), context, ciphertext)
  }

  /**
   * Passes on a copy that is made at once: a later `forget` must not make the callee encrypt zeros, or encrypt with
   * zeros.
   */
  async #withBytes<Result>(borrow: (bytes: Uint8Array<ArrayBuffer>) => Promise<Result>): Promise<Result> {
    if (this.#forgotten) throw new Error('This master key was forgotten')
    // Not `slice`, which for a Node Buffer returns a view of the same memory.
    const copy = Uint8Array.from(this.#bytes)
    try {
      return await borrow(copy)
    } finally {
      copy.fill(0)
    }
  }
}

function readJwk(plaintext: Uint8Array): JsonWebKey {
  const jwk = parseQuietly(new TextDecoder().decode(plaintext))
  if (typeof jwk !== 'object' || jwk === null) throw new DecryptionError()
  return jwk
}

/** Parses JSON or returns undefined. The error of JSON.parse would quote the text, which contains a secret here. */
function parseQuietly(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
