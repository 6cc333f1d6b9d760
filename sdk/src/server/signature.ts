import { createPublicKey, verify } from 'node:crypto'
import { fromCanonicalBase64 } from '@countersign/protocol/formats/base64'
import { isSoundPublicKey, isSoundSignature } from '@countersign/protocol/formats/signing/ed25519'

export type SignedText = {
  /** The text, exactly as it was asked for. */
  payload: string
  /** Ed25519 signature, base64. */
  signature: string
  /** Ed25519 public key, base64. */
  publicKey: string
}

/**
 * Whether the signature is one over the UTF-8 bytes of the text by that key (RFC 8032 §5.1.7), without asking anybody.
 * Keys of small order, and signatures and keys that are not written in the one way in which they can be, are refused.
 * It answers at once and no promise, which in an `if` would be true whatever came of it.
 */
export function verifySignature({ payload, signature, publicKey }: SignedText): boolean {
  const key = fromCanonicalBase64(publicKey)
  const bytes = fromCanonicalBase64(signature)
  if (!key || !isSoundPublicKey(key) || !bytes || !isSoundSignature(bytes)) return false
  // Half a character has no bytes: texts that differ in such halves alone would be one.
  if (!payload.isWellFormed()) return false
  const x = Buffer.from(key).toString('base64url')
  const imported = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  return verify(null, Buffer.from(payload, 'utf8'), imported, bytes)
}
