import { createPublicKey, verify } from 'node:crypto'
import { fromCanonicalBase64 } from '@countersign/protocol/formats/base64'
import { isValidPublicKey, isCanonicalSignature } from '@countersign/protocol/formats/signing/ed25519'

export type SignedText = {
  /** The text, exactly as requested. */
  payload: string
  /** Ed25519 signature, base64. */
  signature: string
  /** Ed25519 public key, base64. */
  publicKey: string
}

/**
 * Verifies a signature over the UTF-8 bytes of a text (RFC 8032 §5.1.7), offline. Rejects keys of small order, and keys
 * and signatures without canonical encoding. Returns a boolean instead of a promise, because a promise in an `if` would
 * always be true.
 */
export function verifySignature({ payload, signature, publicKey }: SignedText): boolean {
  const key = fromCanonicalBase64(publicKey)
  const bytes = fromCanonicalBase64(signature)
  if (!key || !isValidPublicKey(key) || !bytes || !isCanonicalSignature(bytes)) return false
  // Unpaired surrogates have no bytes, so texts that differ only in them would be equal.
  if (!payload.isWellFormed()) return false
  const x = Buffer.from(key).toString('base64url')
  const imported = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  return verify(null, Buffer.from(payload, 'utf8'), imported, bytes)
}
