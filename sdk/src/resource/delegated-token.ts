import type { JWTPayload } from 'jose'
import { JOSEError, JWTClaimValidationFailed, JWTExpired } from 'jose/errors'
import { jwtVerify } from 'jose/jwt/verify'
import type { Challenges } from './challenge.ts'
import { isRecord } from '../shared/exchange.ts'
import { keySetOf } from '../shared/key-set.ts'

/** Who acts for whom, how far, and by which consent. */
export type DelegatedToken = {
  /** The identity as which the app acts. */
  identityId: string
  /** The app that acts. */
  sourceClientId: string
  scopes: readonly string[]
  /** The consent by which it does: a person who ends it and gives it again has given another. */
  grantId: string
  /** Whether the person had to be there within the last hour, or may be away. */
  mode: Mode
  expiresAt: string
  tokenId: string
}

type Expected = { service: URL; audience: string; resourceKey: string | undefined }

type Mode = 'user_present' | 'background'
type Claims = DelegatedToken & { resourceKey: string; lifetimeSeconds: number }

const charactersMax = 8192
const lifetimeSecondsMax = 600
/** By how much clocks may differ. */
const skewSeconds = 30

const sentences = new Map([
  ['typ', 'This is no access token.'],
  ['iss', 'Another service issued the token.'],
  ['aud', 'The token is for another audience.'],
  ['exp', 'The token has expired.'],
  ['iat', 'The token is too old, or from the future.'],
])
const malformed = 'This is no delegated token.'

/** What a token says, where the service issued it for this resource and it is still good. Otherwise a challenge. */
export async function readDelegatedToken(
  { service, audience, resourceKey }: Expected,
  token: string,
  { invalidToken }: Challenges,
): Promise<DelegatedToken> {
  if (typeof token !== 'string' || token.length > charactersMax) throw invalidToken(malformed)
  const { payload } = await jwtVerify(token, keySetOf(service), {
    // The key decides nothing here: RSA and Ed25519 keys of the service sign other things.
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
  // One that is for others too could be brought here by any of them.
  if (payload.aud !== audience) throw invalidToken('The token is for another audience.')
  const claims = readClaims(payload)
  if (!claims) throw invalidToken(malformed)
  const { resourceKey: named, lifetimeSeconds, ...delegated } = claims
  if (lifetimeSeconds > lifetimeSecondsMax + skewSeconds) throw invalidToken('The token lives for too long.')
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

/** The app itself, and no chain of others behind it (RFC 8693 §4.1). */
function isActor(act: unknown, clientId: string): boolean {
  return isRecord(act) && act['sub'] === clientId && Object.keys(act).length === 1
}

function isMode(value: unknown): value is Mode {
  return value === 'user_present' || value === 'background'
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}
