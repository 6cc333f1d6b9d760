import { createPublicKey, verify, type KeyObject } from 'node:crypto'
import { isSoundPublicKey, isSoundSignature } from '@countersign/protocol/formats/signing/ed25519'

/**
 * Whether it is an Ed25519 signature (RFC 8032 §5.1.7) over these bytes, written in the one way in which it can be
 * written, by a key that only its owner can sign with.
 */
export function verifies(message: Uint8Array, signature: Uint8Array, publicKey: Uint8Array): boolean {
  return isSoundPublicKey(publicKey) && isSoundSignature(signature) && holds(message, signature, publicKey)
}

function holds(message: Uint8Array, signature: Uint8Array, publicKey: Uint8Array): boolean {
  return verify(null, message, importedKey(publicKey), signature)
}

const importedMax = 1000
const imported = new Map<string, KeyObject>()

/** To make a key ready takes a good part of the time of a verification, and a key comes more than once. */
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
