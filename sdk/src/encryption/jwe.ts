import { curveOfPublicKey, type AgreementCurve } from '@countersign/protocol/formats/encryption/agreement-key'
import { fromCanonicalBase64 } from '@countersign/protocol/formats/base64'
import { isCompactJwe } from '@countersign/protocol/formats/compact-jwe'
import { recipientKeyOf } from '@countersign/protocol/formats/encryption/recipient-key'
import { JOSEError } from 'jose/errors'
import { compactDecrypt } from 'jose/jwe/compact/decrypt'
import { CompactEncrypt } from 'jose/jwe/compact/encrypt'
import { decodeProtectedHeader } from 'jose/decode/protected_header'
import { CountersignError } from '../shared/error.ts'

type Algorithm = 'dir' | 'ECDH-ES'

const utf8 = new TextEncoder()

/** Encrypts content with an AES-256-GCM key, or to a public key by key agreement, for one context (`ctx`). */
export async function seal(key: CryptoKey, context: string, content: string | Uint8Array): Promise<string> {
  const header = { alg: algorithmFor(key), enc: 'A256GCM', ctx: context }
  return new CompactEncrypt(bytesOf(content)).setProtectedHeader(header).encrypt(key)
}

/** Decrypts content that `seal` encrypted for this key and context. Throws `decryption_failed` for anything else. */
export async function open(key: CryptoKey, context: string, ciphertext: string): Promise<Uint8Array> {
  const algorithm = algorithmFor(key)
  if (!isCompactJwe(ciphertext)) throw cannotOpen()
  if (algorithm === 'ECDH-ES') refuseUnsoundKey(ciphertext, curveOf(key))
  const { plaintext, protectedHeader } = await decrypt(key, algorithm, ciphertext)
  if (protectedHeader.ctx !== context) throw cannotOpen()
  return plaintext
}

/** Parses a public key as Countersign publishes it, for `seal`. Returns undefined if it is invalid. */
export async function importPublicKey(publicKey: string): Promise<CryptoKey | undefined> {
  const spki = fromCanonicalBase64(publicKey)
  const curve = spki && curveOfPublicKey(spki)
  return curve && crypto.subtle.importKey('spki', spki, parametersOf(curve), true, [])
}

/** Returns the WebCrypto parameters of a curve. */
export function parametersOf(curve: AgreementCurve): { name: string; namedCurve?: string } {
  return curve === 'P-256' ? { name: 'ECDH', namedCurve: curve } : { name: curve }
}

export function cannotOpen(): CountersignError {
  return new CountersignError({
    code: 'decryption_failed',
    description: 'Decryption failed: wrong key or context.',
  })
}

/** Selects the algorithms by the key, never by the header of the ciphertext (RFC 8725 §3.1). */
function algorithmFor({ algorithm: { name } }: CryptoKey): Algorithm {
  return name === 'AES-GCM' ? 'dir' : 'ECDH-ES'
}

function curveOf({ algorithm }: CryptoKey): unknown {
  return 'namedCurve' in algorithm ? algorithm.namedCurve : algorithm.name
}

/**
 * Checks the ephemeral public key. A point of small order or of another curve could reveal parts of the private key.
 */
function refuseUnsoundKey(ciphertext: string, curve: unknown): void {
  if (recipientKeyOf(headerOf(ciphertext)['epk'])?.crv !== curve) throw cannotOpen()
}

function headerOf(ciphertext: string): Record<string, unknown> {
  try {
    return decodeProtectedHeader(ciphertext)
  } catch {
    throw cannotOpen()
  }
}

async function decrypt(key: CryptoKey, algorithm: Algorithm, ciphertext: string) {
  try {
    return await compactDecrypt(ciphertext, key, {
      keyManagementAlgorithms: [algorithm],
      contentEncryptionAlgorithms: ['A256GCM'],
      maxDecompressedLength: 0,
    })
  } catch (error) {
    if (!(error instanceof JOSEError)) throw error
    throw cannotOpen()
  }
}

function bytesOf(content: string | Uint8Array): Uint8Array {
  if (typeof content !== 'string') return content
  // An unpaired surrogate has no UTF-8 bytes, and would be decrypted as another character.
  if (!content.isWellFormed()) throw new TypeError('The text has an unpaired surrogate, which cannot be encrypted')
  return utf8.encode(content)
}
