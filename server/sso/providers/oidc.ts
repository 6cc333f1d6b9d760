import {
  AuthorizationResponseError,
  ClientError,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  type IDToken,
  ResponseBodyError,
  allowInsecureRequests,
  authorizationCodeGrant,
  calculatePKCECodeChallenge,
  clockSkew,
  clockTolerance,
  customFetch,
  enableNonRepudiationChecks,
  fetchUserInfo,
} from 'openid-client'
import { limits } from '@countersign/protocol/formats/limits'
import { type Static, Type } from 'typebox'
import { toNumericDate } from '#platform/clock.ts'
import { type OutboundClient, OutboundError } from '#platform/outbound/fetch.ts'
import { randomBytes } from '#platform/crypto/random.ts'
import { ApiError } from '#platform/api-error.ts'
import type { Secret } from '#platform/crypto/secret.ts'
import {
  Provider,
  type UpstreamUser,
  createUpstreamFetch,
  failureReason,
  fetchProviderMetadata,
  parseUpstreamUser,
  errors,
} from './provider.ts'

/** The client of this service at an organization's provider. */
export type OidcConnection = { issuer: string; clientId: string; clientSecret: Secret; callbackUrl: string }

/**
 * Provider data that a started sign-in stores. The same provider is used at its end, so that no other provider can
 * respond in its place (RFC 9700 §4.4).
 */
export const OidcLoginState = Type.Object({ provider: Provider, nonce: Type.String(), codeVerifier: Type.String() })
export type OidcLoginState = Static<typeof OidcLoginState>

const scope = 'openid email profile'

/**
 * Returns the URL of the provider to which the browser is redirected. Throws `sso_provider_error`,
 * `sso_provider_timeout`.
 */
export async function buildOidcRedirect(
  outbound: OutboundClient,
  { issuer, clientId, callbackUrl }: Omit<OidcConnection, 'clientSecret'>,
  { state, loginHint }: { state: string; loginHint?: string },
): Promise<{ location: string; memory: OidcLoginState }> {
  const provider = await fetchProviderMetadata(outbound, issuer).catch((error: unknown) => {
    if (error instanceof ApiError) throw errors.sso_provider_error(failureReason('metadata'))
    throw refusalOf(error)
  })
  const memory = { provider, nonce: newSecret(), codeVerifier: newSecret() }
  const location = new URL(provider.authorization_endpoint)
  const requested = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: callbackUrl,
    scope,
    state,
    nonce: memory.nonce,
    code_challenge: await calculatePKCECodeChallenge(memory.codeVerifier),
    code_challenge_method: 'S256',
    ...(loginHint !== undefined && { login_hint: loginHint }),
  }
  for (const [name, value] of Object.entries(requested)) location.searchParams.set(name, value)
  return { location: location.href, memory }
}

/** A response, the sign-in that it belongs to, and the names of the claims whose values the connection needs. */
type OidcAnswer = { memory: OidcLoginState; state: string; answer: URLSearchParams; claims?: string[] }

/**
 * Returns the user that a provider's response names. Makes the checks of OpenID Connect Core §3.1.3.7, including the
 * signature, and of RFC 9207. Throws `sso_response_mismatch`, `sso_response_invalid`, `sso_denied`,
 * `sso_provider_error`, `sso_provider_timeout`.
 */
export async function verifyOidcCallback(
  outbound: OutboundClient,
  connection: OidcConnection,
  { memory, state, answer, claims: names = [] }: OidcAnswer,
  now: Date,
): Promise<UpstreamUser> {
  const { provider, nonce, codeVerifier } = memory
  const issuers = answer.getAll('iss')
  const lacksIssuer = provider.authorization_response_iss_parameter_supported && issuers.length === 0
  if (lacksIssuer || issuers.some((issuer) => issuer !== provider.issuer))
    throw errors.sso_response_mismatch(failureReason('iss'))

  const configuration = configurationOf(outbound, connection, provider, now)
  const url = new URL(connection.callbackUrl)
  url.search = answer.toString()
  try {
    const checks = { pkceCodeVerifier: codeVerifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true }
    const tokens = await authorizationCodeGrant(configuration, url, checks)
    const claims = requireForUs(tokens.claims(), connection.clientId)
    return await requireUpstreamUser(configuration, { claims, names }, tokens.access_token)
  } catch (error) {
    throw refusalOf(error)
  }
}

function configurationOf(
  outbound: OutboundClient,
  connection: OidcConnection,
  provider: Provider,
  now: Date,
): Configuration {
  const { clientId, clientSecret } = connection
  const secret = clientSecret.reveal()
  const authentication =
    provider.takesSecretBy === 'client_secret_basic' ? ClientSecretBasic(secret) : ClientSecretPost(secret)
  const clock = {
    [clockSkew]: toNumericDate(now) - toNumericDate(new Date()),
    [clockTolerance]: limits.clockSkewSecondsMax,
  }
  const configuration = new Configuration(provider, clientId, clock, authentication)
  configuration[customFetch] = createUpstreamFetch(outbound)
  if (new URL(provider.issuer).protocol === 'http:') allowInsecureRequests(configuration)
  // TLS to the token endpoint would be enough (OpenID Connect Core §3.1.3.7). The signature check does not depend on
  // it.
  enableNonRepudiationChecks(configuration)
  return configuration
}

/**
 * Checks the audience and authorized party. The library accepts additional audiences, and an authorized party with a
 * single audience.
 */
function requireForUs(claims: IDToken | undefined, clientId: string): IDToken {
  if (!claims) throw errors.sso_response_invalid(failureReason('id_token'))
  const { aud, azp } = claims
  if ([aud].flat().some((audience) => audience !== clientId)) throw errors.sso_response_invalid(failureReason('aud'))
  if (azp !== undefined && azp !== clientId) throw errors.sso_response_invalid(failureReason('azp'))
  return claims
}

type Claims = { [claim: string]: unknown }

/**
 * Requests userinfo if the ID token lacks claims. An e-mail address counts as verified only with `email_verified` from
 * the same source.
 */
async function requireUpstreamUser(
  configuration: Configuration,
  { claims, names }: { claims: IDToken; names: string[] },
  accessToken: string,
): Promise<UpstreamUser> {
  const isWhole = ['email', 'email_verified', 'name', ...names].every((claim) => claims[claim] !== undefined)
  const mayAsk = configuration.serverMetadata().userinfo_endpoint !== undefined
  const more: Claims = isWhole || !mayAsk ? {} : await fetchUserInfo(configuration, accessToken, claims.sub)
  const said = more['email'] === undefined ? claims : more
  return parseUpstreamUser({
    subject: claims.sub,
    email: said['email'],
    emailVerified: said['email_verified'],
    displayName: claims['name'] ?? more['name'],
    values: names.flatMap((claim) => valuesOf(claims[claim] ?? more[claim]).map((value) => ({ claim, value }))),
  })
}

/** Returns the texts of a claim that is one or a list of them. */
function valuesOf(said: unknown): string[] {
  return [said].flat().filter((value) => typeof value === 'string')
}

/** Maps the failure of a token request to an error for the user. Rethrows errors that the provider did not cause. */
function refusalOf(error: unknown): unknown {
  const refusal = causesOf(error).find((cause) => cause instanceof ApiError)
  if (refusal) return refusal
  if (error instanceof AuthorizationResponseError) return errors.sso_denied(failureReason(wordOf(error.error)))
  if (error instanceof ResponseBodyError) return errors.sso_provider_error(failureReason(wordOf(error.error)))
  const unreachable = causesOf(error).find((cause) => cause instanceof OutboundError)
  if (unreachable?.reason === 'timed_out') return errors.sso_provider_timeout(failureReason('timed_out'))
  if (unreachable) return errors.sso_provider_error(failureReason('network_error'))
  if (!(error instanceof ClientError)) return error
  const code = error.code ?? 'unknown'
  if (isFailure.test(code)) return errors.sso_provider_error(failureReason(wordOf(code)))
  return errors.sso_response_invalid(failureReason(claimOf(error) ?? wordOf(code)))
}

/** Error codes of the library for a missing response. */
const isFailure = /NOT_JSON|NOT_CONFORM|PARSE_ERROR|FORBIDDEN|WWW_AUTHENTICATE|TIMEOUT|METADATA/

function causesOf(error: unknown): unknown[] {
  const causes: unknown[] = []
  for (let cause = error; cause instanceof Error && causes.length < 5; cause = cause.cause) causes.push(cause)
  return causes
}

function claimOf(error: ClientError): string | undefined {
  for (const cause of [error, ...causesOf(error)].flatMap((each) => (each instanceof Error ? [each.cause] : [])))
    if (typeof cause === 'object' && cause !== null && 'claim' in cause) return wordOf(String(cause.claim))
  return undefined
}

/** Returns the error code of a provider if it is well formed. */
function wordOf(code: string): string {
  return code
    .toLowerCase()
    .replaceAll(/[^a-z0-9_]/g, '')
    .slice(0, 60)
}

/** Generates a random string with the entropy and alphabet that RFC 7636 §4.1 requires of a code verifier. */
function newSecret(): string {
  return randomBytes(32).toString('base64url')
}
