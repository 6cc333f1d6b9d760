import { JOSEError } from 'jose/errors'
import { jwtVerify } from 'jose/jwt/verify'
import { CountersignError } from '../shared/error.ts'
import { exchange, isRecord } from '../shared/exchange.ts'
import { isMaxAge, readGrant, type Grant } from './grant.ts'
import { keySetOf } from '../shared/key-set.ts'

/** Who signed in, and the tokens that the app got for it. */
export type SignedIn = {
  /** The key for whatever you keep of them: the `sub` of the ID token. */
  identityId: string
  /** What the ID token says of them, verified. */
  claims: Readonly<Record<string, unknown>>
  /** For what asks for proof of the sign-in later, such as signing out at Countersign. */
  idToken: string
  accessToken: string
  /** To act at other apps with it. */
  accessTokenJwt: string
  /** With the scope `offline_access`. */
  refreshToken: string | undefined
  /** How far they agreed, with spaces between the scopes. */
  scope: string
  /** When the access token ends, ISO 8601. */
  expiresAt: string
}

type Redeeming = { base: URL; issuer: URL; clientId: string; clientSecret?: string | undefined }
type Tokens = Omit<SignedIn, 'identityId' | 'claims'>

const patienceMilliseconds = 15_000
/** By how much clocks may differ. */
const skewSeconds = 60
/** How long a code lives, which may pass between the authentication and this. */
const codeSeconds = 60

export type Redemption = {
  /**
   * How many seconds ago the person may have authenticated at most. A page that a person can change has no say in this:
   * a server that relies on it names it itself. Throws `authentication_too_old`.
   */
  maxAge?: number | undefined
}

/**
 * Redeems what a sign-in gave, once, and verifies the ID token that comes for it: its signature by the published keys,
 * its issuer, audience, nonce and time, and the time of the authentication where that was asked for. Throws
 * CountersignError: `invalid_grant` where it was redeemed before, has expired or is none, `invalid_token` where the ID
 * token is not what it should be, `authentication_too_old`, and what the service refuses with.
 */
export async function redeem(app: Redeeming, sent: unknown, { maxAge }: Redemption = {}): Promise<SignedIn> {
  if (maxAge !== undefined && !isMaxAge(maxAge)) throw new TypeError('maxAge is a whole number of seconds')
  const grant = readGrant(sent)
  if (!grant) throw new CountersignError({ code: 'invalid_grant', description: 'This is nothing to be redeemed.' })
  const askedAt = Date.now()
  const tokens = readTokens(await askFor(app, grant), askedAt)
  if (!tokens) throw new CountersignError(unexpected)
  const verified = await verifyIdToken(app, tokens.idToken, grant.nonce)
  const ages = [maxAge, 'maxAge' in grant ? grant.maxAge : undefined].filter((age) => age !== undefined)
  if (ages.length > 0) requireRecent(verified.claims['auth_time'], Math.min(...ages))
  return Object.freeze({ ...verified, ...tokens })
}

/** OpenID Connect Core §3.1.3.7, step 13. */
function requireRecent(authTime: unknown, maxAge: number): void {
  const oldest = Math.floor(Date.now() / 1000) - maxAge - skewSeconds - codeSeconds
  if (typeof authTime !== 'number' || authTime < oldest) throw new CountersignError(tooOld)
}

const tooOld = {
  code: 'authentication_too_old',
  description: 'The ID token does not say that the person has authenticated as recently as was asked for.',
}

const unexpected = {
  code: 'unexpected_answer',
  description: 'The sign-in was redeemed with an answer that is not of the interface.',
}

function askFor({ base, clientId, clientSecret }: Redeeming, grant: Grant): Promise<unknown> {
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

function readTokens(answer: unknown, askedAt: number): Tokens | undefined {
  if (!isRecord(answer) || answer['token_type'] !== 'Bearer') return undefined
  const { access_token: accessToken, access_token_jwt: accessTokenJwt, id_token: idToken } = answer
  const { refresh_token: refreshToken, expires_in: seconds, scope } = answer
  if (typeof accessToken !== 'string' || typeof accessTokenJwt !== 'string' || typeof idToken !== 'string')
    return undefined
  if (refreshToken !== undefined && typeof refreshToken !== 'string') return undefined
  if (typeof scope !== 'string' || typeof seconds !== 'number' || !(seconds > 0)) return undefined
  const expiresAt = new Date(askedAt + seconds * 1000).toISOString()
  return { idToken, accessToken, accessTokenJwt, refreshToken, scope, expiresAt }
}

/** OpenID Connect Core §3.1.3.7. */
async function verifyIdToken({ issuer, clientId }: Redeeming, idToken: string, nonce: string) {
  const { payload } = await jwtVerify(idToken, keySetOf(issuer), {
    algorithms: ['RS256', 'ES256', 'EdDSA'],
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
  const description = 'The ID token is not for this sign-in, or not of this service.'
  return new CountersignError({ code: 'invalid_token', description }, { cause })
}
