import type { SamlConnection, SamlIdentityProvider, ServiceProvider } from '@countersign/saml/element'
import { parseIdentityProviderMetadata } from '@countersign/saml/metadata'
import type { SamlRefusal } from '@countersign/saml/refusal'
import { buildAuthnRequest } from '@countersign/saml/request'
import { type SamlResponseInput, parseInResponseTo, verifySamlResponse } from '@countersign/saml/response'
import { limits } from '@countersign/protocol/formats/limits'
import { defineErrors } from '#platform/api-error.ts'
import { isLocal } from '#platform/config/config.ts'
import { randomBytes } from '#platform/crypto/random.ts'
import { hasPlainHost } from '#platform/origin.ts'
import {
  type UpstreamUser,
  failureReason,
  parseUpstreamUser,
  errors as responseErrors,
  subjectCharactersMax,
} from './provider.ts'

const errors = defineErrors({ invalid_metadata: [400, 'Not the metadata of a SAML 2.0 identity provider.'] })

/** Returns the service provider of a connection. Each connection has its own, so that no response is valid for two. */
export function serviceProviderOf({ origin }: URL, connectionId: string): ServiceProvider {
  const ours = `${origin}/api/sso/${connectionId}`
  return { entityId: `${ours}/metadata`, acsUrl: `${ours}/acs` }
}

/** Returns the redirect URL to a SAML provider, and the unpredictable request id that the response must name. */
export function buildSamlRedirect(connection: SamlConnection, now: Date): { location: string; requestId: string } {
  // An xs:ID must not begin with a digit.
  const requestId = `_${randomBytes(20).toString('hex')}`
  return { location: buildAuthnRequest(connection, requestId, now), requestId }
}

/** User named by a response, and the assertion, which can be used once until `notOnOrAfter`. */
export type SamlUser = UpstreamUser & { assertionId: string; notOnOrAfter: Date }

/**
 * Verifies a response and returns the user that it names, with the values of the attributes `claims`. Throws
 * `sso_response_invalid`, `sso_response_mismatch`, `sso_denied`, with the detail for the audit log.
 */
export async function verifySamlCallback(
  connection: SamlConnection,
  { claims: names = [], ...answer }: SamlResponseInput & { claims?: string[] },
  now: Date,
): Promise<SamlUser> {
  const result = await verifySamlResponse(connection, answer, { now, limits: { ...limits, subjectCharactersMax } })
  if ('refused' in result) throw toApiError(result.refused)
  const { assertionId, notOnOrAfter, attributes, ...user } = result.user
  const values = attributes
    .filter(({ name }) => names.includes(name))
    .map(({ name, value }) => ({ claim: name, value }))
  return { ...parseUpstreamUser({ ...user, values }), assertionId, notOnOrAfter }
}

/** Returns the id of the request that a response answers, unauthenticated. Throws like `verifySamlCallback`. */
export function requireRequestId(samlResponse: string): string {
  const result = parseInResponseTo(samlResponse, limits)
  if ('refused' in result) throw toApiError(result.refused)
  return result.requestId
}

function toApiError({ kind, because }: SamlRefusal) {
  const reason = failureReason(because)
  if (kind === 'mismatch') return responseErrors.sso_response_mismatch(reason)
  if (kind === 'denied') return responseErrors.sso_denied(reason)
  return responseErrors.sso_response_invalid(reason)
}

/** Parses the metadata of an identity provider. Throws `invalid_metadata` with the problem. */
export async function parseSamlMetadata(metadata: string, now: Date): Promise<SamlIdentityProvider> {
  const bytesMax = limits.samlMetadataBytesMax
  const result = await parseIdentityProviderMetadata(metadata, { now, bytesMax, isAllowedUrl })
  if ('refused' in result) throw errors.invalid_metadata({ sentence: `The metadata ${result.refused}.` })
  return result.provider
}

/** Checks whether a browser may be sent to a URL: over https, or to this machine. */
function isAllowedUrl(url: URL): boolean {
  const isSafe = url.protocol === 'https:' || (url.protocol === 'http:' && isLocal(url))
  return isSafe && hasPlainHost(url)
}
