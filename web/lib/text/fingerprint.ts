import { fromCanonicalBase64 } from '@countersign/protocol/formats/base64'

/**
 * Returns the fingerprint of a public key (base64): the first half of the SHA-256 of its bytes, in groups of four
 * hexadecimal digits.
 */
export async function fingerprintOf(publicKey: string): Promise<string> {
  const bytes = fromCanonicalBase64(publicKey)
  if (!bytes) throw new Error('this is no public key')
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)).subarray(0, 16)
  const digits = [...hash].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  return digits.match(/.{4}/g)?.join(' ') ?? ''
}
