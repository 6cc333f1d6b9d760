import { ed25519 } from '@noble/curves/ed25519.js'
import { createPublicKey, verify, type KeyObject } from 'node:crypto'
import { isValidPublicKey, isCanonicalSignature } from '@countersign/protocol/formats/signing/ed25519'

/**
 * Verifies an Ed25519 signature (RFC 8032 §5.1.7). The signature must be in canonical form, and the key must be one
 * that only its owner can sign with.
 */
export function verifies(message: Uint8Array, signature: Uint8Array, publicKey: Uint8Array): boolean {
  return isValidPublicKey(publicKey) && isCanonicalSignature(signature) && holds(message, signature, publicKey)
}

function holds(message: Uint8Array, signature: Uint8Array, publicKey: Uint8Array): boolean {
  return verify(null, message, importedKey(publicKey), signature)
}

const importedMax = 1000
const imported = new Map<string, KeyObject>()

/** Caches imported keys: importing takes a large part of the time of a verification, and keys repeat. */
function importedKey(publicKey: Uint8Array): KeyObject {
  const x = Buffer.from(publicKey).toString('base64url')
  const known = imported.get(x)
  if (known) return known
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  const [oldest] = imported.keys()
  if (imported.size >= importedMax && oldest !== undefined) imported.delete(oldest)
  imported.set(x, key)
  return key
}

/**
 * Checks that bytes are the canonical encoding of an Ed25519 point (RFC 8032 §5.1.3) of large order, so that only the
 * key's owner can sign under it.
 */
export function isValidCurvePoint(bytes: Uint8Array): boolean {
  try {
    return !ed25519.Point.fromBytes(bytes, strict).isSmallOrder()
  } catch {
    // The library throws if the bytes are not a point.
    return false
  }
}

/** Not ZIP 215, which also accepts non-canonical encodings. */
const strict = false
