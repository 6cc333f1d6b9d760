import { isCompactJwe } from '@countersign/protocol/formats/compact-jwe'
import { JOSEError } from 'jose/errors'
import { compactDecrypt } from 'jose/jwe/compact/decrypt'
import { CompactEncrypt } from 'jose/jwe/compact/encrypt'

/** An envelope did not open: another key, another context, altered, or no envelope at all. It does not say which. */
export class CannotOpen extends Error {
  override readonly name = 'CannotOpen'
  readonly code = 'cannot_open'

  constructor() {
    super('This ciphertext does not open here')
  }
}

/** The AES-256-GCM key that `seal` and `open` take, from its 32 bytes. */
export async function importEnvelopeKey(bytes: BufferSource): Promise<CryptoKey> {
  return crypto.subtle.importKey('raw', bytes, 'AES-GCM', false, ['encrypt', 'decrypt'])
}

/**
 * Seals bytes for one place: a compact JWE (RFC 7516) of `alg: dir` and `enc: A256GCM`, whose protected header `ctx`
 * says what it holds and whose it is.
 */
export async function seal(key: CryptoKey, context: string, plaintext: Uint8Array): Promise<string> {
  return new CompactEncrypt(plaintext).setProtectedHeader({ alg: 'dir', enc: 'A256GCM', ctx: context }).encrypt(key)
}

/** Opens what `seal` sealed under the same key for the same context; anything else throws `CannotOpen`. */
export async function open(key: CryptoKey, context: string, ciphertext: string): Promise<Uint8Array> {
  const { plaintext, protectedHeader } = await decrypt(key, ciphertext)
  if (protectedHeader.ctx !== context) throw new CannotOpen()
  return plaintext
}

async function decrypt(key: CryptoKey, ciphertext: string) {
  if (!isCompactJwe(ciphertext)) throw new CannotOpen()
  try {
    return await compactDecrypt(ciphertext, key, {
      keyManagementAlgorithms: ['dir'],
      contentEncryptionAlgorithms: ['A256GCM'],
      maxDecompressedLength: 0,
    })
  } catch (error) {
    if (!(error instanceof JOSEError)) throw error
    throw new CannotOpen()
  }
}
