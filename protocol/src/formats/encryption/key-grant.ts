import type { AgreementCurve } from './agreement-key.ts'
import { fromCanonicalBase64Url } from '../base64.ts'
import { parseJsonObject } from '../json.ts'
import { recipientKeyOf } from './recipient-key.ts'

/** HKDF info of the fingerprint of an organization key, which distinguishes it from others. */
export const keyFingerprintInfo = 'countersign/organization-key/fingerprint/v1'

export const organizationKeyBytes = 32

/** Sizes of the wrapped content key, the initialization vector, the organization key, and the tag (RFC 7516 §7.1). */
const bytesOfParts = [40, 12, organizationKeyBytes, 16]

/** Header of a key wrap. Only its recipient can verify that it contains the key. */
export type OrganizationKeyWrapHeader = { context: string; curve: AgreementCurve }

/**
 * Parses the header of a key wrap: an organization key, wrapped to the encryption key of a member. It must be a compact
 * JWE of `ECDH-ES+A256KW` and `A256GCM` over 32 bytes, in canonical spelling and without other headers. Returns
 * undefined for anything else.
 */
export function parseKeyWrapHeader(text: string): OrganizationKeyWrapHeader | undefined {
  const [head = '', ...parts] = text.split('.')
  const isSealed = parts.length === 4 && parts.every((part, nth) => lengthOf(part) === bytesOfParts[nth])
  const header = isSealed ? parseJsonObject(head) : undefined
  if (!header || Object.keys(header).length !== 4) return undefined
  const { alg, enc, ctx, epk } = header
  const ephemeral = recipientKeyOf(epk)
  if (alg !== 'ECDH-ES+A256KW' || enc !== 'A256GCM' || typeof ctx !== 'string' || !ephemeral) return undefined
  return { context: ctx, curve: ephemeral.crv }
}

function lengthOf(base64Url: string): number | undefined {
  return fromCanonicalBase64Url(base64Url)?.length
}
