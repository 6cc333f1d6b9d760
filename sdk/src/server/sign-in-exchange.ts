import { encode as toBase64Url } from 'jose/base64url'
import { algorithms } from '@countersign/protocol/formats/registries/algorithms'
import { exchange, isRecord, remoteKeySet } from '../shared/exchange.ts'
import { JOSEError } from 'jose/errors'
import { jwtVerify } from 'jose/jwt/verify'
import { CountersignError } from '../shared/error.ts'

/** Secrets of a page for one sign-in, which bind the response to its request. */
export type PkceState = {
  /** RFC 7636 §4.1. */
  codeVerifier: string
  /** Returned in the ID token (OpenID Connect Core §3.1.2.1). */
  nonce: string
}

/**
 * Result of a sign-in: an assertion of FedCM, or the code of a redirect, with the values to exchange it once, within a
 * minute. It contains the maximum age of the authentication, if the page requested one. It is plain JSON, so that a
 * page can send it to its server.
 */
export type SignInGrant = PkceState &
  ({ assertion: string } | { code: string; redirectUri: string; maxAge?: number | undefined })

const charactersMax = 32_768

/** Generates random values for one sign-in, 256 bits each. */
export function createPkceState(): PkceState {
  return { codeVerifier: randomText(), nonce: randomText() }
}

/** RFC 7636 §4.2, `S256`. */
export async function challengeOf({ codeVerifier }: PkceState): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(codeVerifier))
  return toBase64Url(new Uint8Array(digest))
}

export function randomText(): string {
  return toBase64Url(crypto.getRandomValues(new Uint8Array(32)))
}

/** Parses a grant that a client sent. */
function parseSignInGrant(sent: unknown): SignInGrant | undefined {
  if (!isRecord(sent)) return undefined
  const { codeVerifier, nonce, assertion, code, redirectUri, maxAge } = sent
  if (!isText(codeVerifier) || !isText(nonce)) return undefined
  if (isText(assertion)) return { assertion, codeVerifier, nonce }
  if (!isText(code) || !isText(redirectUri) || (maxAge !== undefined && !isMaxAge(maxAge))) return undefined
  return { code, redirectUri, codeVerifier, nonce, maxAge }
}

/** Checks if a value is a number of seconds that `max_age` can have (OpenID Connect Core §3.1.2.1). */
export function isMaxAge(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= charactersMax
}

/** The signed-in user, and the tokens of the app. */
export type SignInTokens = {
  /** The key for data about the user: the `sub` of the ID token. */
  identityId: string
  /** The verified claims of the ID token. */
  claims: Readonly<Record<string, unknown>>
  /** For later proof of the sign-in, such as signing out at Countersign. */
  idToken: string
  accessToken: string
  /** For acting at the resources of other apps. */
  accessTokenJwt: string
  /** Present with the scope `offline_access`. */
  refreshToken: string | undefined
  /** The granted scopes, separated by spaces. */
  scope: string
  /** Expiry of the access token, ISO 8601. */
  expiresAt: string
}

type Redeeming = { base: URL; issuer: URL; clientId: string; clientSecret?: string | undefined }
type Tokens = Omit<SignInTokens, 'identityId' | 'claims'>

const patienceMilliseconds = 15_000
/** Tolerance for clock differences. */
const skewSeconds = 60
/** Lifetime of a code, which can pass between authentication and exchange. */
const codeSeconds = 60

export type Redemption = {
  /**
   * Maximum age of the user's authentication in seconds. The user controls the page, so a server that relies on this
   * must set it itself. Throws `authentication_too_old`.
   */
  maxAge?: number | undefined
  /**
   * The `organization_id` that your app requested, or `select` to accept any organization, or none. The user controls
   * the page, and could have their organization sign them in where you expect the user. Throws `other_organization`.
   */
  organizationId?: string | undefined
}

/**
 * Exchanges a sign-in for tokens, once, and verifies the ID token: the signature with the published keys, issuer,
 * audience, nonce and times, the authentication time if requested, and that it is for no organization, or for the
 * requested one. Throws CountersignError: `invalid_grant` if the grant was used, has expired or is invalid,
 * `invalid_token` if the ID token is invalid, `authentication_too_old`, `other_organization`, and the errors of the
 * service.
 */
export async function exchangeGrant(
  app: Redeeming,
  sent: unknown,
  { maxAge, organizationId }: Redemption = {},
): Promise<SignInTokens> {
  if (maxAge !== undefined && !isMaxAge(maxAge)) throw new TypeError('maxAge must be a whole number of seconds')
  const grant = parseSignInGrant(sent)
  if (!grant) throw new CountersignError({ code: 'invalid_grant', description: 'Not a sign-in grant.' })
  const requestedAt = Date.now()
  const tokens = readTokens(await requestTokens(app, grant), requestedAt)
  if (!tokens) throw new CountersignError(unexpected)
  const verified = await verifyIdToken(app, tokens.idToken, grant.nonce)
  const ages = [maxAge, 'maxAge' in grant ? grant.maxAge : undefined].filter((age) => age !== undefined)
  if (ages.length > 0) requireRecent(verified.claims['auth_time'], Math.min(...ages))
  if (organizationId !== 'select') requireOrganization(verified.claims['organization'], organizationId)
  return Object.freeze({ ...verified, ...tokens })
}

function requireOrganization(claim: unknown, organizationId: string | undefined): void {
  const isOther = isRecord(claim) ? claim['id'] !== organizationId : organizationId !== undefined
  if (isOther) throw new CountersignError(otherOrganization)
}

/** OpenID Connect Core §3.1.3.7, step 13. */
function requireRecent(authTime: unknown, maxAge: number): void {
  const oldest = Math.floor(Date.now() / 1000) - maxAge - skewSeconds - codeSeconds
  if (typeof authTime !== 'number' || authTime < oldest) throw new CountersignError(tooOld)
}

const tooOld = {
  code: 'authentication_too_old',
  description: "The user's authentication is older than maxAge.",
}

const otherOrganization = {
  code: 'other_organization',
  description: 'The sign-in is not for the organization that was requested, or is for one where none was.',
}

const unexpected = {
  code: 'unexpected_response',
  description: 'The token endpoint returned an unexpected response.',
}

function requestTokens({ base, clientId, clientSecret }: Redeeming, grant: SignInGrant): Promise<unknown> {
  const path = 'assertion' in grant ? '/api/oauth/fedcm/exchange' : '/api/oauth/token'
  const presented =
    'assertion' in grant
      ? { assertion: grant.assertion }
      : { grant_type: 'authorization_code', code: grant.code, redirect_uri: grant.redirectUri }
  const form = new URLSearchParams({
    ...presented,
    code_verifier: grant.codeVerifier,
    client_id: clientId,
    ...(clientSecret !== undefined && { client_secret: clientSecret }),
  })
  return exchange(new URL(path, base), { form, patienceMilliseconds })
}

function readTokens(answer: unknown, requestedAt: number): Tokens | undefined {
  if (!isRecord(answer) || answer['token_type'] !== 'Bearer') return undefined
  const { access_token: accessToken, access_token_jwt: accessTokenJwt, id_token: idToken } = answer
  const { refresh_token: refreshToken, expires_in: seconds, scope } = answer
  if (typeof accessToken !== 'string' || typeof accessTokenJwt !== 'string' || typeof idToken !== 'string')
    return undefined
  if (refreshToken !== undefined && typeof refreshToken !== 'string') return undefined
  if (typeof scope !== 'string' || typeof seconds !== 'number' || !(seconds > 0)) return undefined
  const expiresAt = new Date(requestedAt + seconds * 1000).toISOString()
  return { idToken, accessToken, accessTokenJwt, refreshToken, scope, expiresAt }
}

/** OpenID Connect Core §3.1.3.7. */
async function verifyIdToken({ issuer, clientId }: Redeeming, idToken: string, nonce: string) {
  const { payload } = await jwtVerify(idToken, remoteKeySet(issuer), {
    algorithms: [...algorithms],
    issuer: issuer.origin,
    audience: clientId,
    clockTolerance: skewSeconds,
    requiredClaims: ['sub', 'iat', 'exp'],
  }).catch((error: unknown) => {
    throw error instanceof JOSEError ? wrongToken(error) : error
  })
  const { sub = '' } = payload
  if (sub === '' || payload.aud !== clientId || payload['nonce'] !== nonce) throw wrongToken()
  return { identityId: sub, claims: Object.freeze(payload) }
}

function wrongToken(cause?: Error): CountersignError {
  const description = 'The ID token is not for this sign-in, or is from another issuer.'
  return new CountersignError({ code: 'invalid_token', description }, { cause })
}
