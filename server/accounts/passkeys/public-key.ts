import { createPublicKey, type AsymmetricKeyDetails, type webcrypto } from 'node:crypto'
import { cose, decodeCredentialPublicKey } from '@simplewebauthn/server/helpers'
import { isValidCurvePoint } from '#platform/crypto/ed25519.ts'

const { COSEALG, COSECRV, COSEKEYS } = cose
type CoseKey = ReturnType<typeof decodeCredentialPublicKey>

/**
 * Supported algorithms EdDSA, ES256 and RS256 (RFC 9053 §2, RFC 8812 §2), best first, with the validity check of their
 * keys.
 */
const algorithms = new Map<number, (key: CoseKey) => boolean>([
  [COSEALG.EdDSA, isEd25519Key],
  [COSEALG.ES256, isP256Key],
  [COSEALG.RS256, isRsaKey],
])

/** Algorithms requested from authenticators. */
export const credentialAlgorithms = [...algorithms.keys()]

const coordinateBytes = 32
const modulusBitsMin = 2048
const publicExponentMin = 65_537n

/**
 * Checks whether a passkey's public key matches its algorithm and is strong, so that only its owner can sign with it.
 * With attestation `none` the key has signed nothing yet, so no other check runs before it is trusted.
 */
export function isValidCredentialKey(coseKey: Uint8Array<ArrayBuffer>): boolean {
  const key = decodeCredentialPublicKey(coseKey)
  return algorithms.get(key.get(COSEKEYS.alg) ?? 0)?.(key) ?? false
}

/** Converts the COSE key of a stored passkey to SubjectPublicKeyInfo (RFC 5280 §4.1.2.7), which every library reads. */
export function toSubjectPublicKeyInfo(coseKey: Uint8Array<ArrayBuffer>): Buffer {
  const key = decodeCredentialPublicKey(coseKey)
  const jwk = jwkOf(key)
  if (!jwk) throw new TypeError('The stored key of the passkey has no supported type.')
  return createPublicKey({ key: jwk, format: 'jwk' }).export({ format: 'der', type: 'spki' })
}

function jwkOf(key: CoseKey): webcrypto.JsonWebKey | undefined {
  if (cose.isCOSEPublicKeyOKP(key)) return { kty: 'OKP', crv: 'Ed25519', x: toText(key.get(COSEKEYS.x)) }
  if (cose.isCOSEPublicKeyEC2(key))
    return { kty: 'EC', crv: 'P-256', x: toText(key.get(COSEKEYS.x)), y: toText(key.get(COSEKEYS.y)) }
  if (cose.isCOSEPublicKeyRSA(key))
    return { kty: 'RSA', n: toText(key.get(COSEKEYS.n)), e: toText(key.get(COSEKEYS.e)) }
  return undefined
}

function isEd25519Key(key: CoseKey): boolean {
  if (!cose.isCOSEPublicKeyOKP(key) || key.get(COSEKEYS.crv) !== COSECRV.ED25519) return false
  const x = key.get(COSEKEYS.x)
  return x instanceof Uint8Array && isValidCurvePoint(x)
}

function isP256Key(key: CoseKey): boolean {
  if (!cose.isCOSEPublicKeyEC2(key) || key.get(COSEKEYS.crv) !== COSECRV.P256) return false
  const [x, y] = [key.get(COSEKEYS.x), key.get(COSEKEYS.y)]
  if (x?.length !== coordinateBytes || y?.length !== coordinateBytes) return false
  return detailsOf(jwkOf(key)) !== undefined
}

function isRsaKey(key: CoseKey): boolean {
  if (!cose.isCOSEPublicKeyRSA(key)) return false
  const details = detailsOf(jwkOf(key))
  const { modulusLength = 0, publicExponent = 0n } = details ?? {}
  return modulusLength >= modulusBitsMin && publicExponent >= publicExponentMin
}

function detailsOf(key: webcrypto.JsonWebKey | undefined): AsymmetricKeyDetails | undefined {
  if (!key) return undefined
  try {
    return createPublicKey({ key, format: 'jwk' }).asymmetricKeyDetails
  } catch {
    // OpenSSL throws for numbers that are no key, such as a point off the curve.
    return undefined
  }
}

/** The types describe a valid COSE key, but received data can contain anything. */
function toText(value: Uint8Array | undefined): string {
  return value instanceof Uint8Array ? Buffer.from(value).toString('base64url') : ''
}
