import type { JWTPayload } from 'jose'
import { JOSEError, JWTClaimValidationFailed, JWTExpired } from 'jose/errors'
import { jwtVerify } from 'jose/jwt/verify'
import type { Challenges } from './challenge.ts'
import { isRecord, remoteKeySet } from '../shared/exchange.ts'

/** Claims of a delegated token: user, app, scopes and delegation. */
export type DelegatedToken = {
  /** The identity for which the app acts. */
  identityId: string
  /** The app that acts. */
  sourceClientId: string
  scopes: readonly string[]
  /** The delegation: if the user revokes it and grants it again, the id changes. */
  grantId: string
  /** `user_present` if the user must have been there within the last hour, `background` if not. */
  mode: Mode
  expiresAt: string
  tokenId: string
}

type Expected = { service: URL; audience: string; resourceKey: string | undefined }

type Mode = 'user_present' | 'background'
type Claims = DelegatedToken & { resourceKey: string; lifetimeSeconds: number }

const charactersMax = 8192
const lifetimeSecondsMax = 600
/** Tolerance for clock differences. */
const skewSeconds = 30

const sentences = new Map([
  ['typ', 'Not an access token.'],
  ['iss', 'The token is from another issuer.'],
  ['aud', 'The token is for another audience.'],
  ['exp', 'The token has expired.'],
  ['iat', 'The token was issued too long ago, or in the future.'],
])
const malformed = 'Not a delegated token.'

/**
 * Returns the claims of a token that the service issued for this resource and that is still valid. Throws a challenge
 * otherwise.
 */
export async function verifyClaims(
  { service, audience, resourceKey }: Expected,
  token: string,
  { invalidToken }: Challenges,
): Promise<DelegatedToken> {
  if (typeof token !== 'string' || token.length > charactersMax) throw invalidToken(malformed)
  const { payload } = await jwtVerify(token, remoteKeySet(service), {
    // Only this algorithm is accepted: RSA and Ed25519 keys of the service sign other things.
    algorithms: ['ES256'],
    typ: 'at+jwt',
    issuer: service.origin,
    audience,
    clockTolerance: skewSeconds,
    maxTokenAge: lifetimeSecondsMax,
    requiredClaims: ['sub', 'exp', 'jti', 'client_id'],
  }).catch((error: unknown) => {
    throw error instanceof JOSEError ? invalidToken(sentenceFor(error)) : error
  })
  // Another recipient of a token with several audiences could use it here.
  if (payload.aud !== audience) throw invalidToken('The token is for another audience.')
  const claims = readClaims(payload)
  if (!claims) throw invalidToken(malformed)
  const { resourceKey: named, lifetimeSeconds, ...delegated } = claims
  if (lifetimeSeconds > lifetimeSecondsMax + skewSeconds) throw invalidToken('The lifetime of the token is too long.')
  if (resourceKey !== undefined && named !== resourceKey) throw invalidToken('The token is for another resource.')
  return delegated
}

function sentenceFor(error: JOSEError): string {
  const isOfClaim = error instanceof JWTClaimValidationFailed || error instanceof JWTExpired
  return (isOfClaim && sentences.get(error.claim)) || malformed
}

function readClaims({ sub, jti, exp, iat, ...claims }: JWTPayload): Claims | undefined {
  const { client_id: clientId, scope, grant_id: grantId, target_resource: resourceKey, com_mode: mode, act } = claims
  if (!isName(sub) || !isName(jti) || !isName(clientId) || !isName(grantId) || !isName(resourceKey)) return undefined
  if (exp === undefined || iat === undefined || typeof scope !== 'string' || !isMode(mode)) return undefined
  if (!isActor(act, clientId)) return undefined
  return {
    identityId: sub,
    sourceClientId: clientId,
    scopes: Object.freeze(scope.split(' ').filter(Boolean)),
    grantId,
    mode,
    expiresAt: new Date(exp * 1000).toISOString(),
    tokenId: jti,
    resourceKey,
    lifetimeSeconds: exp - iat,
  }
}

/** Only the app itself, without a chain of actors (RFC 8693 §4.1). */
function isActor(act: unknown, clientId: string): boolean {
  return isRecord(act) && act['sub'] === clientId && Object.keys(act).length === 1
}

function isMode(value: unknown): value is Mode {
  return value === 'user_present' || value === 'background'
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}
