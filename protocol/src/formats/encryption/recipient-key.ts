import { isSoundPoint, type AgreementCurve } from './agreement-key.ts'
import { fromCanonicalBase64Url } from '../base64.ts'
import { isObject, readJsonObject } from '../json.ts'

/** The public key of the page that asks for an app key, to which it is sealed (RFC 8037 §2, RFC 7518 §6.2). */
export type RecipientKey = { kty: 'OKP'; crv: 'X25519'; x: string } | { kty: 'EC'; crv: 'P-256'; x: string; y: string }

const charactersMax = 1024
const privateMembers = ['d', 'k', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'priv']

/**
 * Reads `app_key_jwk`: base64url of a public JWK in JSON. Undefined for anything else, and for whoever has put a
 * private key into an address.
 */
export function readRecipientKey(text: string): RecipientKey | undefined {
  return text.length <= charactersMax ? recipientKeyOf(readJsonObject(text)) : undefined
}

/** The key that a public JWK is. Only what makes it up is taken over. */
export function recipientKeyOf(jwk: unknown): RecipientKey | undefined {
  if (!isObject(jwk) || privateMembers.some((member) => Object.hasOwn(jwk, member))) return undefined
  const { kty, crv, x, y } = jwk
  if (typeof x !== 'string') return undefined
  if (kty === 'OKP' && crv === 'X25519') return hasPoint(crv, [x]) ? { kty, crv, x } : undefined
  if (kty !== 'EC' || crv !== 'P-256' || typeof y !== 'string') return undefined
  return hasPoint(crv, [x, y]) ? { kty, crv, x, y } : undefined
}

function hasPoint(curve: AgreementCurve, coordinates: string[]): boolean {
  const decoded = coordinates.map((text) => fromCanonicalBase64Url(text) ?? new Uint8Array())
  return decoded.every(({ length }) => length === 32) && isSoundPoint(curve, joined(decoded))
}

function joined(parts: Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]))
}
