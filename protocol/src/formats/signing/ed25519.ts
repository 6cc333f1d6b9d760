/**
 * Encodings of Ed25519 that only some implementations accept (RFC 8032 §5.1.3, §5.1.7). With a key of small order,
 * anyone can produce a signature for any message. With two encodings of a signature, one can be presented as two.
 */

import { fromCanonicalBase64Of } from '../base64.ts'

/** Verifies a signature (RFC 8032). An invalid key, and a key or signature of another length, verify nothing. */
export type VerifyEd25519 = (publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array) => boolean

const keyBytes = 32
const signatureBytes = 64

/** The field prime 2^255 - 19, little-endian like all values here. */
const fieldPrime = fromHex('edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f')

/** The group order 2^252 + 27742317777372353535851937790883648493, by which the scalar of a signature is reduced. */
const groupOrder = fromHex('edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010')

/** Y coordinates of the points of small order. */
const smallOrder = [
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
].map(fromHex)

/**
 * Checks that 32 bytes are a canonical encoding of a coordinate, and not of a point of small order. Verifying a
 * signature shows whether the point exists.
 */
export function isValidPublicKey(bytes: Uint8Array): boolean {
  if (bytes.length !== 32) return false
  const y = bytes.with(31, (bytes[31] ?? 0) & 0x7f)
  return isBelow(y, fieldPrime) && !smallOrder.some((point) => isSame(point, y))
}

/** Checks that 64 bytes are the canonical encoding of a signature. */
export function isCanonicalSignature(bytes: Uint8Array): boolean {
  return bytes.length === 64 && isValidPublicKey(bytes.subarray(0, 32)) && isBelow(bytes.subarray(32), groupOrder)
}

/** Checks a signature by a key, both in canonical base64 of a canonical encoding. */
export function isSignedBy(
  verify: VerifyEd25519,
  { publicKey, signature }: { publicKey: string; signature: string },
  message: Uint8Array,
): boolean {
  const key = fromCanonicalBase64Of(keyBytes, publicKey)
  const bytes = fromCanonicalBase64Of(signatureBytes, signature)
  if (!key || !bytes || !isValidPublicKey(key) || !isCanonicalSignature(bytes)) return false
  return verify(key, message, bytes)
}

function isSame(point: Uint8Array, y: Uint8Array): boolean {
  return point.every((byte, index) => byte === y[index])
}

function isBelow(number: Uint8Array, limit: Uint8Array): boolean {
  for (let index = 31; index >= 0; index -= 1) {
    const [digit = 0, most = 0] = [number[index], limit[index]]
    if (digit !== most) return digit < most
  }
  return false
}

function fromHex(text: string): Uint8Array {
  return Uint8Array.from({ length: 32 }, (_, index) => Number.parseInt(text.slice(index * 2, index * 2 + 2), 16))
}
