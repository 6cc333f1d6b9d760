import { curveOfPublicKey } from '@countersign/protocol/formats/encryption/agreement-key'
import { fromCanonicalBase64, toBase64Url } from '@countersign/protocol/formats/base64'
import {
  ciphertextContext,
  type OrganizationKeyWrapContext,
} from '@countersign/protocol/formats/encryption/ciphertext-context'
import {
  keyFingerprintInfo,
  organizationKeyBytes,
  parseKeyWrapHeader,
} from '@countersign/protocol/formats/encryption/key-grant'
import { JOSEError } from 'jose/errors'
import { compactDecrypt } from 'jose/jwe/compact/decrypt'
import { CompactEncrypt } from 'jose/jwe/compact/encrypt'
import { DecryptionError, importEnvelopeKey } from './envelope.ts'
import { deriveBytes } from './hkdf.ts'

/** Generates an organization key. It is lost with the page unless it is shared with a member. */
export function generateOrganizationKey(): OrganizationKey {
  return new OrganizationKey(crypto.getRandomValues(new Uint8Array(organizationKeyBytes)))
}

/**
 * Decrypts a member's wrap with their private encryption key. Throws `DecryptionError`, also if the key does not match
 * the fingerprint: the sender of a wrap could have replaced the key.
 */
export async function unwrapOrganizationKey(
  ciphertext: string,
  privateKey: CryptoKey,
  place: OrganizationKeyWrapContext,
): Promise<OrganizationKey> {
  const header = parseKeyWrapHeader(ciphertext)
  const isForMe = header?.curve === curveOf(privateKey) && header?.context === ciphertextContext.organizationKey(place)
  if (!isForMe) throw new DecryptionError()
  const key = new OrganizationKey(await decrypt(ciphertext, privateKey))
  if ((await key.fingerprint()) === place.fingerprint) return key
  key.forget()
  throw new DecryptionError()
}

/** An organization key on a member's device. It neither prints nor serializes its bytes. */
export class OrganizationKey {
  readonly #bytes: Uint8Array<ArrayBuffer>

  /** Takes ownership of the 32 bytes; `forget` zeroes them. */
  constructor(bytes: Uint8Array) {
    if (bytes.length !== organizationKeyBytes) throw new DecryptionError()
    this.#bytes = Uint8Array.from(bytes)
    bytes.fill(0)
  }

  /** The fingerprint, which identifies the key and reveals nothing about it. */
  async fingerprint(): Promise<string> {
    return toBase64Url(await deriveBytes(this.#bytes, keyFingerprintInfo))
  }

  /** Wraps the key to the encryption key of a member. Throws `TypeError` if that is invalid. */
  async grantTo({ identityId, publicKey }: KeyWrapRecipient, organizationId: string): Promise<string> {
    const recipient = await importRecipient(publicKey)
    const place = { organizationId, fingerprint: await this.fingerprint(), identityId }
    return new CompactEncrypt(this.#bytes)
      .setProtectedHeader({ alg: 'ECDH-ES+A256KW', enc: 'A256GCM', ctx: ciphertextContext.organizationKey(place) })
      .encrypt(recipient)
  }

  /** Returns the key for encrypting content (AES-256-GCM), not extractable. */
  async forContent(): Promise<CryptoKey> {
    return importEnvelopeKey(this.#bytes)
  }

  /** Zeroes the key. It cannot reach derived keys and copies that the runtime made. */
  forget(): void {
    this.#bytes.fill(0)
  }
}

/** A member, with their public encryption key: SPKI in base64. */
export type KeyWrapRecipient = { identityId: string; publicKey: string }

async function importRecipient(publicKey: string): Promise<CryptoKey> {
  const spki = fromCanonicalBase64(publicKey)
  const curve = spki && curveOfPublicKey(spki)
  if (!curve) throw new TypeError('publicKey must be an X25519 or P-256 key as SPKI in base64')
  const algorithm = curve === 'P-256' ? { name: 'ECDH', namedCurve: curve } : { name: curve }
  return crypto.subtle.importKey('spki', spki, algorithm, true, [])
}

async function decrypt(ciphertext: string, privateKey: CryptoKey): Promise<Uint8Array> {
  try {
    const { plaintext } = await compactDecrypt(ciphertext, privateKey, {
      keyManagementAlgorithms: ['ECDH-ES+A256KW'],
      contentEncryptionAlgorithms: ['A256GCM'],
      maxDecompressedLength: 0,
    })
    return plaintext
  } catch (error) {
    if (!(error instanceof JOSEError)) throw error
    throw new DecryptionError()
  }
}

function curveOf({ algorithm }: CryptoKey): unknown {
  return 'namedCurve' in algorithm ? algorithm.namedCurve : algorithm.name
}
