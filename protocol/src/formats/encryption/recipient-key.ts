import { isValidCurvePoint, type AgreementCurve } from './agreement-key.ts'
import { fromCanonicalBase64Url, toBase64Url } from '../base64.ts'
import { writeCanonicalJson } from '../signing/canonical-json.ts'
import { isObject, parseJsonObject } from '../json.ts'

/** Public key of the page that requests an app key, to which the key is encrypted (RFC 8037 §2, RFC 7518 §6.2). */
export type RecipientKey = { kty: 'OKP'; crv: 'X25519'; x: string } | { kty: 'EC'; crv: 'P-256'; x: string; y: string }

const charactersMax = 1024
const privateMembers = ['d', 'k', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'priv']

/**
 * Parses `app_key_jwk`: base64url of a public JWK in JSON. Returns undefined for anything else, including a private
 * key.
 */
export function parseRecipientKey(text: string): RecipientKey | undefined {
  return text.length <= charactersMax ? recipientKeyOf(parseJsonObject(text)) : undefined
}

/** Returns the key of a public JWK, with only its required members. */
export function recipientKeyOf(jwk: unknown): RecipientKey | undefined {
  if (!isObject(jwk) || privateMembers.some((member) => Object.hasOwn(jwk, member))) return undefined
  const { kty, crv, x, y } = jwk
  if (typeof x !== 'string') return undefined
  if (kty === 'OKP' && crv === 'X25519') return hasPoint(crv, [x]) ? { kty, crv, x } : undefined
  if (kty !== 'EC' || crv !== 'P-256' || typeof y !== 'string') return undefined
  return hasPoint(crv, [x, y]) ? { kty, crv, x, y } : undefined
}

/** Returns the RFC 7638 thumbprint of a key: SHA-256 of its required members in order, in base64url. */
export async function thumbprintOf(key: RecipientKey): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(writeCanonicalJson(key)))
  return toBase64Url(new Uint8Array(digest))
}

/** Returns whether two keys are the same. */
export function isSameKey(one: RecipientKey, other: RecipientKey): boolean {
  return writeCanonicalJson(one) === writeCanonicalJson(other)
}

function hasPoint(curve: AgreementCurve, coordinates: string[]): boolean {
  const decoded = coordinates.map((text) => fromCanonicalBase64Url(text) ?? new Uint8Array())
  return decoded.every(({ length }) => length === 32) && isValidCurvePoint(curve, joined(decoded))
}

function joined(parts: Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]))
}
