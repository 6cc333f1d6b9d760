/**
 * Key agreement keys: X25519 (RFC 7748) and P-256 (FIPS 186-5). Each has one encoding here, byte for byte as WebCrypto
 * exports it: public keys as SPKI, private keys as PKCS#8 (RFC 8410, RFC 5480, RFC 5915).
 */

export type AgreementCurve = 'X25519' | 'P-256'

const curves: AgreementCurve[] = ['X25519', 'P-256']

const publicKeys = {
  X25519: { bytes: 44, prefix: fromHex('302a300506032b656e032100') },
  'P-256': { bytes: 91, prefix: fromHex('3059301306072a8648ce3d020106082a8648ce3d03010703420004') },
}

const privateKeys = {
  X25519: { bytes: 48, prefix: fromHex('302e020100300506032b656e04220420') },
  'P-256': {
    bytes: 138,
    prefix: fromHex('308187020100301306072a8648ce3d020106082a8648ce3d030107046d306b0201010420'),
  },
}

/** Returns the curve of a valid public key; undefined for any other bytes. */
export function curveOfPublicKey(spki: Uint8Array): AgreementCurve | undefined {
  const curve = curves.find((name) => hasForm(spki, publicKeys[name]))
  if (!curve) return undefined
  const point = spki.subarray(publicKeys[curve].prefix.length)
  return isValidCurvePoint(curve, point) ? curve : undefined
}

/** Returns the curve of an encoded private key. The import shows whether it belongs to a public key. */
export function curveOfPrivateKey(pkcs8: Uint8Array): AgreementCurve | undefined {
  return curves.find((name) => hasForm(pkcs8, privateKeys[name]))
}

/**
 * Checks that a coordinate of X25519, or both of P-256, are the canonical encoding of a point for key agreement. With a
 * point of small order the secret would be the same for every key.
 */
export function isValidCurvePoint(curve: AgreementCurve, point: Uint8Array): boolean {
  if (curve === 'X25519') return point.length === 32 && isSoundCoordinate(toNumber(point.toReversed()))
  return point.length === 64 && isOnP256(toNumber(point.subarray(0, 32)), toNumber(point.subarray(32)))
}

const prime25519 = 2n ** 255n - 19n

/** Coordinates of the points of small order, on the curve and on its twist. */
const smallOrder = [
  0n,
  1n,
  325606250916557431795983626356110631294008115727848805560023387167927233504n,
  39382357235489614581723060781553021112529911719440698176882885853963445705823n,
  prime25519 - 1n,
]

function isSoundCoordinate(u: bigint): boolean {
  return u < prime25519 && !smallOrder.includes(u)
}

const primeP256 = 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n
const coefficientP256 = 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn

function isOnP256(x: bigint, y: bigint): boolean {
  return x < primeP256 && y < primeP256 && (y * y - x ** 3n + 3n * x - coefficientP256) % primeP256 === 0n
}

function hasForm(key: Uint8Array, { bytes, prefix }: { bytes: number; prefix: Uint8Array }): boolean {
  return key.length === bytes && prefix.every((byte, index) => key[index] === byte)
}

function toNumber(bytes: Uint8Array): bigint {
  return bytes.reduce((number, byte) => number * 256n + BigInt(byte), 0n)
}

function fromHex(text: string): Uint8Array {
  return Uint8Array.from(text.match(/../g) ?? [], (digits) => Number.parseInt(digits, 16))
}
