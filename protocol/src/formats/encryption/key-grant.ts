import type { AgreementCurve } from './agreement-key.ts'
import { fromCanonicalBase64Url } from '../base64.ts'
import { readJsonObject } from '../json.ts'
import { recipientKeyOf } from './recipient-key.ts'

/** The info with which HKDF makes the fingerprint of a key of an organization, which tells it apart from others. */
export const keyFingerprintInfo = 'countersign/organization-key/fingerprint/v1'

export const organizationKeyBytes = 32

/** Of the wrapped content key, the initialization vector, the key of the organization, and the tag (RFC 7516 §7.1). */
const bytesOfParts = [40, 12, organizationKeyBytes, 16]

/** What a grant says of itself. That it holds the key, only whom it is for can tell. */
export type KeyGrantHeader = { context: string; curve: AgreementCurve }

/**
 * Reads a grant: a key of an organization, wrapped to the encryption key of a member. It is a compact JWE of
 * `ECDH-ES+A256KW` and `A256GCM` over 32 bytes, with one spelling and no other headers. Undefined for anything else.
 */
export function readKeyGrant(text: string): KeyGrantHeader | undefined {
  const [head = '', ...parts] = text.split('.')
  const isSealed = parts.length === 4 && parts.every((part, nth) => lengthOf(part) === bytesOfParts[nth])
  const header = isSealed ? readJsonObject(head) : undefined
  if (!header || Object.keys(header).length !== 4) return undefined
  const { alg, enc, ctx, epk } = header
  const ephemeral = recipientKeyOf(epk)
  if (alg !== 'ECDH-ES+A256KW' || enc !== 'A256GCM' || typeof ctx !== 'string' || !ephemeral) return undefined
  return { context: ctx, curve: ephemeral.crv }
}

function lengthOf(base64Url: string): number | undefined {
  return fromCanonicalBase64Url(base64Url)?.length
}
