import { type Static, Type } from 'typebox'
import { Check } from 'typebox/schema'
import { type OutboundClient, OutboundError } from '#platform/outbound/fetch.ts'
import { defineErrors } from '#platform/api-error.ts'
import type { CustomFetch } from 'openid-client'
import { cleanDisplayName } from '@countersign/protocol/formats/display-name'
import { isEmail, normalizeEmail } from '@countersign/protocol/formats/email'

export const errors = defineErrors({
  invalid_issuer: [400, 'No OpenID provider found at this issuer.'],
  sso_response_mismatch: [400, 'The response belongs to another login. Start again.'],
  sso_response_invalid: [401, "The identity provider's response failed verification. Contact your administrator."],
  sso_denied: [403, 'The identity provider denied the sign-in.'],
  sso_provider_error: [502, 'The identity provider returned an error. Try again later.'],
  sso_provider_timeout: [504, 'The identity provider did not respond in time. Try again later.'],
})

/** Accepted signature algorithms: only those with keys that the provider alone has. */
const algorithms = 'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(' ')

const metadataBytesMax = 256 * 1024
const withinMilliseconds = 5000

/** Fields read from a provider's metadata (OpenID Connect Discovery §3). */
const Metadata = Type.Object({
  issuer: Type.String(),
  authorization_endpoint: Type.String(),
  token_endpoint: Type.String(),
  jwks_uri: Type.String(),
  userinfo_endpoint: Type.Optional(Type.String()),
  id_token_signing_alg_values_supported: Type.Optional(Type.Array(Type.String())),
  token_endpoint_auth_methods_supported: Type.Optional(Type.Array(Type.String())),
  authorization_response_iss_parameter_supported: Type.Optional(Type.Boolean()),
})

/** An OpenID provider according to its metadata, reduced to values that can be used. */
export const Provider = Type.Object({
  issuer: Type.String(),
  authorization_endpoint: Type.String(),
  token_endpoint: Type.String(),
  jwks_uri: Type.String(),
  userinfo_endpoint: Type.Optional(Type.String()),
  id_token_signing_alg_values_supported: Type.Array(Type.String(), { minItems: 1 }),
  authorization_response_iss_parameter_supported: Type.Boolean(),
  takesSecretBy: Type.Union([Type.Literal('client_secret_basic'), Type.Literal('client_secret_post')]),
})
export type Provider = Static<typeof Provider>

/**
 * Fetches the current metadata of a provider. Throws `invalid_issuer` with the problem, and `Unreachable` if there is
 * no response.
 */
export async function fetchProviderMetadata(outbound: OutboundClient, issuer: string): Promise<Provider> {
  const because = (what: string) => errors.invalid_issuer({ sentence: `issuer ${what}.` })
  const objection = outbound.objectionTo(issuer)
  if (objection !== undefined) throw because(objection)
  if (new URL(issuer).search !== '') throw because('must have no query')

  const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const { json: said } = await outbound.get(address, { bodyBytesMax: metadataBytesMax, withinMilliseconds })
  if (!Check(Metadata, said)) throw because('lacks an endpoint in its metadata')
  // Exact comparison (OpenID Connect Discovery §4.3): another issuer would be another provider.
  if (said.issuer !== issuer) throw because('differs from the issuer in its metadata')
  const { authorization_endpoint, token_endpoint, jwks_uri, userinfo_endpoint } = said
  const endpoints = [authorization_endpoint, token_endpoint, jwks_uri, userinfo_endpoint ?? issuer]
  if (endpoints.some((each) => outbound.objectionTo(each) !== undefined))
    throw because('has an endpoint that is not allowed')

  const { id_token_signing_alg_values_supported: signsBy = ['RS256'] } = said
  const allowed = algorithms.filter((algorithm) => signsBy.includes(algorithm))
  if (allowed.length === 0) throw because('has no supported signature algorithm')
  const { token_endpoint_auth_methods_supported: methods = ['client_secret_basic'] } = said
  const takesSecretBy = (['client_secret_basic', 'client_secret_post'] as const).find((one) => methods.includes(one))
  if (!takesSecretBy) throw because('does not support client secret authentication')
  return {
    issuer,
    authorization_endpoint,
    token_endpoint,
    jwks_uri,
    ...(userinfo_endpoint !== undefined && { userinfo_endpoint }),
    id_token_signing_alg_values_supported: allowed,
    authorization_response_iss_parameter_supported: said.authorization_response_iss_parameter_supported === true,
    takesSecretBy,
  }
}

const bodyBytesMax = 256 * 1024
const requestMilliseconds = 5000
/** Time limit for all requests of one step, because a user is waiting. */
const stepMilliseconds = 8000

/**
 * Creates the fetch function for openid-client. Requests use the outbound guard against access to the internal network,
 * and share one time limit.
 */
export function createUpstreamFetch(outbound: OutboundClient): CustomFetch {
  const expiresAt = performance.now() + stepMilliseconds
  return async (url, { method, headers, body }) => {
    const remainingMilliseconds = Math.min(requestMilliseconds, Math.ceil(expiresAt - performance.now()))
    if (remainingMilliseconds <= 0) throw new OutboundError('timed_out')
    if (method !== 'GET' && method !== 'POST') throw new OutboundError('method_not_allowed')
    const sent = body === undefined || body === null ? {} : { body: textOf(body) }
    const answered = await outbound.exchange(url, {
      method,
      headers,
      ...sent,
      bodyBytesMax,
      withinMilliseconds: remainingMilliseconds,
    })
    // A response with such a status must not have a body, and a status below 200 is not a response.
    const { status, contentType = '', body: bytes } = answered
    if (status < 200 || status > 599) throw new OutboundError(`status_${status}`)
    const isBodiless = status === 204 || status === 205 || status === 304
    return new Response(isBodiless ? null : new Uint8Array(bytes), { status, headers: { 'content-type': contentType } })
  }
}

function textOf(body: unknown): string {
  if (typeof body === 'string') return body
  if (body instanceof URLSearchParams) return body.toString()
  throw new OutboundError('body_not_allowed')
}

/**
 * Claims of a provider about a user. `subject` is the provider's stable identifier. The e-mail address can pass to
 * another user and does not identify a user.
 */
export type UpstreamUser = {
  subject: string
  email: string | undefined
  emailVerified: boolean
  displayName: string | undefined
  /** Values of the claims that the connection asks for. */
  values: UpstreamValue[]
}

/** Value of a claim or attribute that a provider states about a user. */
export type UpstreamValue = { claim: string; value: string }

export const failureReason = (what: string) => ({ fields: { because: what } })

/** Maximum length of the identifier of a user at a provider. */
export const subjectCharactersMax = 255

/** Validates a provider's claims for storage. Throws `sso_response_invalid` if there is no subject. */
export function parseUpstreamUser(said: {
  subject: string
  email: unknown
  emailVerified: unknown
  displayName: unknown
  values: UpstreamValue[]
}): UpstreamUser {
  const { subject, email, emailVerified, displayName, values } = said
  if (
    subject.trim() === '' ||
    subject.length > subjectCharactersMax ||
    !subject.isWellFormed() ||
    subject.includes('\0')
  )
    throw errors.sso_response_invalid(failureReason('subject'))
  const address = typeof email === 'string' && isEmail(email) ? normalizeEmail(email) : undefined
  return {
    subject,
    email: address,
    emailVerified: address !== undefined && emailVerified === true,
    displayName: readName(displayName, address),
    values,
  }
}

/** Returns the cleaned display name, or the local part of the e-mail address if nothing remains. */
function readName(said: unknown, address: string | undefined): string | undefined {
  if (typeof said !== 'string' || said.trim() === '') return undefined
  return cleanDisplayName(said) ?? cleanDisplayName(address?.split('@')[0] ?? '')
}
