import { fromCanonicalBase64 } from '@countersign/protocol/formats/base64'
import { isSoundPublicKey, isSoundSignature } from '@countersign/protocol/formats/signing/ed25519'
import { verifies } from '#platform/crypto/ed25519.ts'
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
  if (verifies(Buffer.from(message, 'utf8'), bytes, key)) return undefined
  return isSoundPoint(key) ? 'invalid_signature' : 'malformed_public_key'
}
