/**
 * What is wrong with encodings of Ed25519 that some implementations take and others don't (RFC 8032 §5.1.3, §5.1.7).
 * Whoever has a key of small order can show a signature for anything; whoever may write one signature in two ways can
 * show two.
 */

/** 2^255 - 19, by which a coordinate is reduced; little-endian, as everything here. */
const fieldPrime = fromHex('edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f')

/** 2^252 + 27742317777372353535851937790883648493, by which the scalar of a signature is reduced. */
const groupOrder = fromHex('edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010')

/** The y coordinates of the points of small order. */
const smallOrder = [
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
].map(fromHex)

/**
 * Whether 32 bytes are the one encoding of what may be a point, and none of small order. Whether there is such a point
 * shows when a signature is verified.
 */
export function isSoundPublicKey(bytes: Uint8Array): boolean {
  if (bytes.length !== 32) return false
  const y = bytes.with(31, (bytes[31] ?? 0) & 0x7f)
  return isBelow(y, fieldPrime) && !smallOrder.some((point) => isSame(point, y))
}

/** Whether 64 bytes are the one way to write what may be a signature. */
export function isSoundSignature(bytes: Uint8Array): boolean {
  return bytes.length === 64 && isSoundPublicKey(bytes.subarray(0, 32)) && isBelow(bytes.subarray(32), groupOrder)
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
