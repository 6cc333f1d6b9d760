import {
  allowInsecureRequests,
  authorizationCodeGrant,
  AuthorizationResponseError,
  calculatePKCECodeChallenge,
  ClientError,
  ClientSecretBasic,
  ClientSecretPost,
  clockSkew,
  clockTolerance,
  Configuration,
  customFetch,
  enableNonRepudiationChecks,
  fetchUserInfo,
  ResponseBodyError,
  type IDToken,
} from 'openid-client'
import { limits } from '@countersign/protocol/formats/limits'
import { Type, type Static } from 'typebox'
import { numericDate } from '#platform/clock.ts'
import { Unreachable, type Outbound } from '#platform/outbound/fetch.ts'
import { randomBytes } from '#platform/crypto/random.ts'
import { Refusal } from '#platform/refusal.ts'
import type { Secret } from '#platform/crypto/secret.ts'
import { Provider, readProvider } from './provider.ts'
import { because, readUpstreamPerson, refuse, type UpstreamPerson } from './upstream.ts'
import { createUpstreamFetch } from './upstream-fetch.ts'

/** A client of ours at an organization's provider. */
export type OidcConnection = { issuer: string; clientId: string; clientSecret: Secret; callbackUrl: string }

/**
 * What a sign-in that has begun remembers of its provider: the same is asked at its end, so that no other can answer
 * in its place (RFC 9700 §4.4).
 */
export const OidcMemory = Type.Object({ provider: Provider, nonce: Type.String(), codeVerifier: Type.String() })
export type OidcMemory = Static<typeof OidcMemory>

const scope = 'openid email profile'

/** Where the browser goes to sign in. Refuses `sso_provider_failed`, `sso_provider_slow`. */
export async function beginOidc(
  outbound: Outbound,
  { issuer, clientId, callbackUrl }: Omit<OidcConnection, 'clientSecret'>,
  { state, loginHint }: { state: string; loginHint?: string },
): Promise<{ location: string; memory: OidcMemory }> {
  const provider = await readProvider(outbound, issuer).catch((error: unknown) => {
    if (error instanceof Refusal) throw refuse.sso_provider_failed(because('metadata'))
    throw refusalOf(error)
  })
  const memory = { provider, nonce: newSecret(), codeVerifier: newSecret() }
  const location = new URL(provider.authorization_endpoint)
  const asked = {
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
  for (const [name, value] of Object.entries(asked)) location.searchParams.set(name, value)
  return { location: location.href, memory }
}

/**
 * Whom a provider's answer names, after the checks of OpenID Connect Core §3.1.3.7, the signature among them, and of
 * RFC 9207. Refuses `sso_answer_mismatch`, `sso_answer_invalid`, `sso_denied`, `sso_provider_failed`,
 * `sso_provider_slow`.
 */
export async function finishOidc(
  outbound: Outbound,
  connection: OidcConnection,
  { memory, state, answer }: { memory: OidcMemory; state: string; answer: URLSearchParams },
  now: Date,
): Promise<UpstreamPerson> {
  const { provider, nonce, codeVerifier } = memory
  const issuers = answer.getAll('iss')
  const lacksIssuer = provider.authorization_response_iss_parameter_supported && issuers.length === 0
  if (lacksIssuer || issuers.some((issuer) => issuer !== provider.issuer))
    throw refuse.sso_answer_mismatch(because('iss'))

  const configuration = configurationOf(outbound, connection, provider, now)
  const url = new URL(connection.callbackUrl)
  url.search = answer.toString()
  try {
    const checks = { pkceCodeVerifier: codeVerifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true }
    const tokens = await authorizationCodeGrant(configuration, url, checks)
    const claims = requireForUs(tokens.claims(), connection.clientId)
    return await readPerson(configuration, claims, tokens.access_token)
  } catch (error) {
    throw refusalOf(error)
  }
}

function configurationOf(outbound: Outbound, connection: OidcConnection, provider: Provider, now: Date): Configuration {
  const { clientId, clientSecret } = connection
  const secret = clientSecret.reveal()
  const authentication =
    provider.takesSecretBy === 'client_secret_basic' ? ClientSecretBasic(secret) : ClientSecretPost(secret)
  const clock = {
    [clockSkew]: numericDate(now) - numericDate(new Date()),
    [clockTolerance]: limits.clockSkewSecondsMax,
  }
  const configuration = new Configuration(provider, clientId, clock, authentication)
  configuration[customFetch] = createUpstreamFetch(outbound)
  if (new URL(provider.issuer).protocol === 'http:') allowInsecureRequests(configuration)
  // TLS to the token endpoint would do (OpenID Connect Core §3.1.3.7); who signed is then on nobody's word.
  enableNonRepudiationChecks(configuration)
  return configuration
}

/** The library lets further audiences pass, and an authorized party beside a single one. */
function requireForUs(claims: IDToken | undefined, clientId: string): IDToken {
  if (!claims) throw refuse.sso_answer_invalid(because('id_token'))
  const { aud, azp } = claims
  if ([aud].flat().some((audience) => audience !== clientId)) throw refuse.sso_answer_invalid(because('aud'))
  if (azp !== undefined && azp !== clientId) throw refuse.sso_answer_invalid(because('azp'))
  return claims
}

type Claims = { [claim: string]: unknown }

/** Asks for userinfo where the ID token says too little. That an address is verified, who names it must say with it. */
async function readPerson(configuration: Configuration, claims: IDToken, accessToken: string): Promise<UpstreamPerson> {
  const isWhole = ['email', 'email_verified', 'name'].every((claim) => claims[claim] !== undefined)
  const mayAsk = configuration.serverMetadata().userinfo_endpoint !== undefined
  const more: Claims = isWhole || !mayAsk ? {} : await fetchUserInfo(configuration, accessToken, claims.sub)
  const said = more['email'] === undefined ? claims : more
  return readUpstreamPerson({
    subject: claims.sub,
    email: said['email'],
    emailVerified: said['email_verified'],
    displayName: claims['name'] ?? more['name'],
  })
}

/** What a failed exchange means for the person who waits. What is none of the provider's is thrown as it is. */
function refusalOf(error: unknown): unknown {
  const refusal = causesOf(error).find((cause) => cause instanceof Refusal)
  if (refusal) return refusal
  if (error instanceof AuthorizationResponseError) return refuse.sso_denied(because(wordOf(error.error)))
  if (error instanceof ResponseBodyError) return refuse.sso_provider_failed(because(wordOf(error.error)))
  const unreachable = causesOf(error).find((cause) => cause instanceof Unreachable)
  if (unreachable?.reason === 'timed_out') return refuse.sso_provider_slow(because('timed_out'))
  if (unreachable) return refuse.sso_provider_failed(because('no_answer'))
  if (!(error instanceof ClientError)) return error
  const code = error.code ?? 'unknown'
  if (isFailure.test(code)) return refuse.sso_provider_failed(because(wordOf(code)))
  return refuse.sso_answer_invalid(because(claimOf(error) ?? wordOf(code)))
}

/** The library's codes for what is no answer at all. */
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

/** A code of somebody else's, as far as it is one. */
function wordOf(code: string): string {
  return code
    .toLowerCase()
    .replaceAll(/[^a-z0-9_]/g, '')
    .slice(0, 60)
}

/** As random as RFC 7636 §4.1 wants a verifier, and in its alphabet. */
function newSecret(): string {
  return randomBytes(32).toString('base64url')
}
