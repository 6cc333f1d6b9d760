import { curveOfPublicKey } from '@countersign/protocol/formats/encryption/agreement-key'
import { fromCanonicalBase64, toBase64Url } from '@countersign/protocol/formats/base64'
import { ciphertextContext, type KeyGrantPlace } from '@countersign/protocol/formats/encryption/ciphertext-context'
import {
  keyFingerprintInfo,
  organizationKeyBytes,
  readKeyGrant,
} from '@countersign/protocol/formats/encryption/key-grant'
import { JOSEError } from 'jose/errors'
import { compactDecrypt } from 'jose/jwe/compact/decrypt'
import { CompactEncrypt } from 'jose/jwe/compact/encrypt'
import { CannotOpen, importEnvelopeKey } from './envelope.ts'
import { deriveBytes } from './hkdf.ts'

/** A new key of an organization. It is lost with the page unless it is granted to somebody. */
export function newOrganizationKey(): OrganizationKey {
  return new OrganizationKey(crypto.getRandomValues(new Uint8Array(organizationKeyBytes)))
}

/**
 * Opens what a member was granted, with the private half of their encryption key. Throws `CannotOpen`, also where it
 * holds another key than the one of this fingerprint: whoever passes grants on could have made one up.
 */
export async function openKeyGrant(
  ciphertext: string,
  privateKey: CryptoKey,
  place: KeyGrantPlace,
): Promise<OrganizationKey> {
  const header = readKeyGrant(ciphertext)
  const isForMe = header?.curve === curveOf(privateKey) && header?.context === ciphertextContext.organizationKey(place)
  if (!isForMe) throw new CannotOpen()
  const key = new OrganizationKey(await decrypt(ciphertext, privateKey))
  if ((await key.fingerprint()) === place.fingerprint) return key
  key.forget()
  throw new CannotOpen()
}

/** A key of an organization in the hands of a member. It neither prints nor serializes its bytes. */
export class OrganizationKey {
  readonly #bytes: Uint8Array<ArrayBuffer>

  /** Takes the 32 bytes over: from here on they are its own, and `forget` zeroes them. */
  constructor(bytes: Uint8Array) {
    if (bytes.length !== organizationKeyBytes) throw new CannotOpen()
    this.#bytes = Uint8Array.from(bytes)
    bytes.fill(0)
  }

  /** What tells it apart from other keys, and says nothing of it. */
  async fingerprint(): Promise<string> {
    return toBase64Url(await deriveBytes(this.#bytes, keyFingerprintInfo))
  }

  /** Wraps it to the encryption key of a member. Throws `TypeError` where that is none. */
  async grantTo({ identityId, publicKey }: Grantee, organizationId: string): Promise<string> {
    const recipient = await importRecipient(publicKey)
    const place = { organizationId, fingerprint: await this.fingerprint(), identityId }
    return new CompactEncrypt(this.#bytes)
      .setProtectedHeader({ alg: 'ECDH-ES+A256KW', enc: 'A256GCM', ctx: ciphertextContext.organizationKey(place) })
      .encrypt(recipient)
  }

  /** The key to encrypt content with (AES-256-GCM), which cannot be exported. */
  async forContent(): Promise<CryptoKey> {
    return importEnvelopeKey(this.#bytes)
  }

  /** Zeroes the key. What was made of it, and the copies that a runtime makes by itself, are out of its reach. */
  forget(): void {
    this.#bytes.fill(0)
  }
}

/** A member, with the encryption key that is known of them: SPKI in base64. */
export type Grantee = { identityId: string; publicKey: string }

async function importRecipient(publicKey: string): Promise<CryptoKey> {
  const spki = fromCanonicalBase64(publicKey)
  const curve = spki && curveOfPublicKey(spki)
  if (!curve) throw new TypeError('publicKey is one of X25519 or P-256, as SPKI in base64')
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
    throw new CannotOpen()
  }
}

function curveOf({ algorithm }: CryptoKey): unknown {
  return 'namedCurve' in algorithm ? algorithm.namedCurve : algorithm.name
}
