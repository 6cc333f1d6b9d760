import { isCompactJwe } from '@countersign/protocol/formats/compact-jwe'
import { JOSEError } from 'jose/errors'
import { compactDecrypt } from 'jose/jwe/compact/decrypt'
import { CompactEncrypt } from 'jose/jwe/compact/encrypt'

/** Decryption failed: wrong key, wrong context, altered or invalid envelope. The error does not reveal the reason. */
export class DecryptionError extends Error {
  override readonly name = 'DecryptionError'
  readonly code = 'decryption_failed'

  constructor() {
    super('Decryption failed: wrong key or context')
  }
}

/** Imports 32 bytes as the AES-256-GCM key for `seal` and `open`. */
export async function importEnvelopeKey(bytes: BufferSource): Promise<CryptoKey> {
  return crypto.subtle.importKey('raw', bytes, 'AES-GCM', false, ['encrypt', 'decrypt'])
}

/**
 * Encrypts bytes for one context: a compact JWE (RFC 7516) of `alg: dir` and `enc: A256GCM`, whose protected header
 * `ctx` names the content and its owner.
 */
export async function seal(key: CryptoKey, context: string, plaintext: Uint8Array): Promise<string> {
  return new CompactEncrypt(plaintext).setProtectedHeader({ alg: 'dir', enc: 'A256GCM', ctx: context }).encrypt(key)
}

/** Decrypts an envelope of `seal` with the same key and context; throws `DecryptionError` for anything else. */
export async function open(key: CryptoKey, context: string, ciphertext: string): Promise<Uint8Array> {
  const { plaintext, protectedHeader } = await decrypt(key, ciphertext)
  if (protectedHeader.ctx !== context) throw new DecryptionError()
  return plaintext
}

async function decrypt(key: CryptoKey, ciphertext: string) {
  if (!isCompactJwe(ciphertext)) throw new DecryptionError()
  try {
    return await compactDecrypt(ciphertext, key, {
      keyManagementAlgorithms: ['dir'],
      contentEncryptionAlgorithms: ['A256GCM'],
      maxDecompressedLength: 0,
    })
  } catch (error) {
    if (!(error instanceof JOSEError)) throw error
    throw new DecryptionError()
  }
}
