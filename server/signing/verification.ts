import { createPublicKey, verify, type KeyObject } from 'node:crypto'
import { fromCanonicalBase64 } from '@countersign/protocol/formats/base64'
import { isSoundPublicKey, isSoundSignature } from '@countersign/protocol/formats/ed25519'
import { isSoundPoint } from './key.ts'

/** Why a signature is not valid; the two of malformed parts come before it is verified at all. */
export type Flaw = 'malformed_public_key' | 'malformed_signature' | 'invalid_signature'

type Claim = { message: string; signature: string; publicKey: string }

/** What is wrong with a signature (both in base64) over the UTF-8 bytes of a message; nothing where it is valid. */
export function flawOf({ message, signature, publicKey }: Claim): Flaw | undefined {
  const key = fromCanonicalBase64(publicKey)
  if (!key || !isSoundPublicKey(key)) return 'malformed_public_key'
  const bytes = fromCanonicalBase64(signature)
  if (!bytes || !isSoundSignature(bytes)) return 'malformed_signature'
  if (holds(Buffer.from(message, 'utf8'), bytes, key)) return undefined
  return isSoundPoint(key) ? 'invalid_signature' : 'malformed_public_key'
}

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
