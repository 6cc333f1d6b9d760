import { createPublicKey, type AsymmetricKeyDetails, type webcrypto } from 'node:crypto'
import { cose, decodeCredentialPublicKey } from '@simplewebauthn/server/helpers'
import { isSoundPoint } from '#signing/keys/key.ts'

const { COSEALG, COSECRV, COSEKEYS } = cose
type CoseKey = ReturnType<typeof decodeCredentialPublicKey>

/** EdDSA, ES256, RS256 (RFC 9053 §2, RFC 8812 §2), best first, and when a key of theirs is sound. */
const algorithms = new Map<number, (key: CoseKey) => boolean>([
  [COSEALG.EdDSA, isEd25519Key],
  [COSEALG.ES256, isP256Key],
  [COSEALG.RS256, isRsaKey],
])

/** What we ask authenticators for. */
export const credentialAlgorithms = [...algorithms.keys()]

const coordinateBytes = 32
const modulusBitsMin = 2048
const publicExponentMin = 65_537n

/**
 * Whether a passkey's public key is one of its algorithm's, and such that nobody but its owner can sign under it. With
 * attestation `none` it has signed nothing yet, so nothing else looks at it before it is trusted.
 */
export function isSoundKey(coseKey: Uint8Array<ArrayBuffer>): boolean {
  const key = decodeCredentialPublicKey(coseKey)
  return algorithms.get(key.get(COSEKEYS.alg) ?? 0)?.(key) ?? false
}

function isEd25519Key(key: CoseKey): boolean {
  if (!cose.isCOSEPublicKeyOKP(key) || key.get(COSEKEYS.crv) !== COSECRV.ED25519) return false
  const x = key.get(COSEKEYS.x)
  return x instanceof Uint8Array && isSoundPoint(x)
}

function isP256Key(key: CoseKey): boolean {
  if (!cose.isCOSEPublicKeyEC2(key) || key.get(COSEKEYS.crv) !== COSECRV.P256) return false
  const [x, y] = [key.get(COSEKEYS.x), key.get(COSEKEYS.y)]
  if (x?.length !== coordinateBytes || y?.length !== coordinateBytes) return false
  return detailsOf({ kty: 'EC', crv: 'P-256', x: toText(x), y: toText(y) }) !== undefined
}

function isRsaKey(key: CoseKey): boolean {
  if (!cose.isCOSEPublicKeyRSA(key)) return false
  const details = detailsOf({ kty: 'RSA', n: toText(key.get(COSEKEYS.n)), e: toText(key.get(COSEKEYS.e)) })
  const { modulusLength = 0, publicExponent = 0n } = details ?? {}
  return modulusLength >= modulusBitsMin && publicExponent >= publicExponentMin
}

function detailsOf(key: webcrypto.JsonWebKey): AsymmetricKeyDetails | undefined {
  try {
    return createPublicKey({ key, format: 'jwk' }).asymmetricKeyDetails
  } catch {
    // OpenSSL says so by throwing: these numbers are no key, a point beside the curve for one.
    return undefined
  }
}

/** The types say what a COSE key should hold; what came over the wire may hold anything. */
function toText(value: Uint8Array | undefined): string {
  return value instanceof Uint8Array ? Buffer.from(value).toString('base64url') : ''
}
