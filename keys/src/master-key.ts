import type { AppKeyPair, SymmetricAppKey } from '@countersign/protocol/formats/encryption/app-key-fragment'
import { toBase64 } from '@countersign/protocol/formats/base64'
import { ciphertextContext } from '@countersign/protocol/formats/encryption/ciphertext-context'
import {
  newAppKeyPair,
  newSymmetricAppKey,
  readAppKeyPair,
  readSymmetricAppKey,
  type SealedAppKeyPair,
} from './app-key.ts'
import { CannotOpen, importEnvelopeKey, open, seal } from './envelope.ts'
import {
  importEncryptionKey,
  importSigningKey,
  newEncryptionKeyPair,
  newSigningKeyPair,
  type KeyPair,
} from './key-pair.ts'
import type { WrappingKey } from './wrapping-key.ts'

/** A key pair of an identity as the server keeps it: the private half as a ciphertext under the master key. */
export type SealedKeyPair = { publicKey: string; encryptedPrivateKey: string }

const masterKeyBytes = 32

/** A new master key. It is lost with the page unless it is wrapped. */
export function newMasterKey(): MasterKey {
  return new MasterKey(crypto.getRandomValues(new Uint8Array(masterKeyBytes)))
}

/** Opens a wrap of a person's master key. Throws `CannotOpen`. */
export async function openMasterKey(ciphertext: string, wrapping: WrappingKey, userId: string): Promise<MasterKey> {
  return new MasterKey(await wrapping.open(ciphertextContext.masterKey(userId), ciphertext))
}

/** Opens what another device of the person has sealed for this one. Throws `CannotOpen`. */
export async function openHandedOver(
  ciphertext: string,
  wrapping: WrappingKey,
  approvalId: string,
): Promise<MasterKey> {
  return new MasterKey(await wrapping.open(ciphertextContext.deviceApproval(approvalId), ciphertext))
}

/**
 * The key under which a person's private keys, and those of their apps, are sealed. It neither prints nor serializes
 * its bytes. A call that began before `forget` completes; one that begins afterwards throws.
 */
export class MasterKey {
  readonly #bytes: Uint8Array
  #forgotten = false

  /** Takes the 32 bytes over: from here on they are its own, and `forget` zeroes them. */
  constructor(bytes: Uint8Array) {
    if (bytes.length !== masterKeyBytes) throw new RangeError(`A master key has ${masterKeyBytes} bytes`)
    this.#bytes = bytes
  }

  /** The ciphertext from which `openMasterKey` makes this key again, with the same wrapping key and person. */
  async wrap(wrapping: WrappingKey, userId: string): Promise<string> {
    return this.#lend((bytes) => wrapping.seal(ciphertextContext.masterKey(userId), bytes))
  }

  /** The ciphertext from which `openHandedOver` makes this key on the device that asked for it. */
  async handOver(wrapping: WrappingKey, approvalId: string): Promise<string> {
    return this.#lend((bytes) => wrapping.seal(ciphertextContext.deviceApproval(approvalId), bytes))
  }

  async newSigningKey(identityId: string): Promise<SealedKeyPair> {
    return this.#sealPair(ciphertextContext.signingKey(identityId), newSigningKeyPair)
  }

  async newEncryptionKey(identityId: string): Promise<SealedKeyPair> {
    return this.#sealPair(ciphertextContext.encryptionKey(identityId), newEncryptionKeyPair)
  }

  /** An identity's Ed25519 private key, for `sign` alone and not extractable. Throws `CannotOpen`. */
  async openSigningKey(identityId: string, encryptedPrivateKey: string): Promise<CryptoKey> {
    return importSigningKey(await this.#openJwk(ciphertextContext.signingKey(identityId), encryptedPrivateKey))
  }

  /** An identity's X25519 or P-256 private key, for `deriveBits` alone and not extractable. Throws `CannotOpen`. */
  async openEncryptionKey(identityId: string, encryptedPrivateKey: string): Promise<CryptoKey> {
    return importEncryptionKey(await this.#openJwk(ciphertextContext.encryptionKey(identityId), encryptedPrivateKey))
  }

  /** A new symmetric key of an identity for an app, as the ciphertext that the server keeps. */
  async newAppKey(identityId: string, clientId: string): Promise<string> {
    const key = await this.#lend(importEnvelopeKey)
    return seal(key, ciphertextContext.appKey(identityId, clientId), newSymmetricAppKey().key)
  }

  async newAppKeyPair(identityId: string, clientId: string): Promise<SealedAppKeyPair> {
    const key = await this.#lend(importEnvelopeKey)
    const { publicKey, privateKey } = await newAppKeyPair()
    const encryptedAppPrivateKey = await seal(key, ciphertextContext.appKey(identityId, clientId), privateKey)
    return { appPublicKey: toBase64(publicKey), encryptedAppPrivateKey }
  }

  /** The key that goes to the app. Throws `CannotOpen`, also for the private key of a pair. */
  async openAppKey(identityId: string, clientId: string, encryptedAppKey: string): Promise<SymmetricAppKey> {
    return readSymmetricAppKey(await this.#open(ciphertextContext.appKey(identityId, clientId), encryptedAppKey))
  }

  /** The pair that goes to the app. Throws `CannotOpen`, also where its halves do not belong together. */
  async openAppKeyPair(identityId: string, clientId: string, sealed: SealedAppKeyPair): Promise<AppKeyPair> {
    const context = ciphertextContext.appKey(identityId, clientId)
    return readAppKeyPair(await this.#open(context, sealed.encryptedAppPrivateKey), sealed.appPublicKey)
  }

  /** Zeroes the key. What was opened with it, and the copies that a runtime makes by itself, are out of its reach. */
  forget(): void {
    this.#bytes.fill(0)
    this.#forgotten = true
  }

  async #sealPair(context: string, newPair: () => Promise<KeyPair>): Promise<SealedKeyPair> {
    const key = await this.#lend(importEnvelopeKey)
    const { publicKey, privateKey } = await newPair()
    const plaintext = new TextEncoder().encode(JSON.stringify(privateKey))
    return { publicKey, encryptedPrivateKey: await seal(key, context, plaintext) }
  }

  async #openJwk(context: string, ciphertext: string): Promise<JsonWebKey> {
    return readJwk(await this.#open(context, ciphertext))
  }

  async #open(context: string, ciphertext: string): Promise<Uint8Array> {
    return open(await this.#lend(importEnvelopeKey), context, ciphertext)
  }

  /** Lends a copy, taken at once: a later `forget` must not make the borrower seal zeros, or seal with them. */
  async #lend<Result>(borrow: (bytes: Uint8Array<ArrayBuffer>) => Promise<Result>): Promise<Result> {
    if (this.#forgotten) throw new Error('This master key was forgotten')
    // Not `slice`, which for the bytes of a Node Buffer is a view of the same memory.
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
  if (typeof jwk !== 'object' || jwk === null) throw new CannotOpen()
  return jwk
}

/** JSON, or undefined: the error of JSON.parse quotes the text that it could not read, which here is a secret. */
function parseQuietly(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
