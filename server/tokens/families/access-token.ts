import type { JWTPayload } from 'jose'
import { JOSEError } from 'jose/errors'
import { jwtVerify } from 'jose/jwt/verify'
import { limits } from '@countersign/protocol/formats/limits'
import { type IdentityId, asId, isId } from '@countersign/protocol/ids'
import { toNumericDate } from '#platform/clock.ts'
import { sha256 } from '#platform/crypto/secret.ts'
import { guard } from '#platform/http/guard.ts'
import { bearerToken } from '#platform/http/host.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { defineErrors } from '#platform/api-error.ts'
import { parseToken, tokenPrefix, uuidFromBytes } from '#platform/crypto/token-format.ts'
import { requireVerificationKey, type SigningKeys } from '#tokens/signing-keys/signing-keys.ts'
import * as accessStore from './access-store.ts'
import type { AccessTokenRecord } from './access-store.ts'

export type { AccessTokenRecord }

/** Headers of the answers to a request without a bearer token, and to one whose token is refused (RFC 6750 §3). */
export const bearerChallenges = {
  missing: { 'www-authenticate': 'Bearer realm="countersign"' },
  invalid: { 'www-authenticate': 'Bearer realm="countersign", error="invalid_token"' },
}

/** Refusal of a token whose app was deleted or disabled since it was issued. */
export const endedApp = {
  sentence: 'The app of this token is no longer registered, or is disabled.',
  headers: bearerChallenges.invalid,
}

const errors = defineErrors({
  unauthorized: [401, 'Access token required: Authorization: Bearer <token>.'],
  invalid_token: [401, 'The access token is invalid, expired or revoked.'],
})

/**
 * Authenticates requests by a live access token, opaque or JWT. The guard looks up both forms, so a revoked token is
 * rejected at once. Throws `unauthorized` or `invalid_token` (RFC 6750 §3).
 */
export function accessGuard({ config, batched, clock }: ServerContext, keys: SigningKeys) {
  const find = batched<AccessTokenRecord>(accessStore.findAccessStatement)
  return guard(async (request): Promise<AccessTokenRecord> => {
    // A request without a bearer token gets only the scheme, no error code (RFC 6750 §3).
    if (!/^Bearer +\S/i.test(request.headers.authorization ?? ''))
      throw errors.unauthorized({ headers: bearerChallenges.missing })
    const now = clock()
    const token = bearerToken(request)
    const key = token && (await resolveAccessToken({ keys, issuer: config.authUrl.origin }, token, now))
    const access = key && (await find([key.identityId, key.sha256, now]))
    if (!access) throw errors.invalid_token({ headers: bearerChallenges.invalid })
    return access
  })
}

/** Primary key of an access token's row. */
export type AccessTokenRef = { identityId: IdentityId; sha256: Uint8Array }

export type Issuing = { keys: SigningKeys; issuer: string }

/**
 * Resolves an access token, opaque or JWT, to the key of its row. The `jti` of a JWT names its opaque twin, so both
 * forms share one row.
 */
export async function resolveAccessToken(
  issuing: Issuing,
  token: string,
  now: Date,
): Promise<AccessTokenRef | undefined> {
  if (!token.startsWith(tokenPrefix.access)) return keyOfJwt(issuing, token, now)
  const route = parseToken('access', token, 16)
  return route && { identityId: asId<IdentityId>(uuidFromBytes(route)), sha256: sha256(token) }
}

async function keyOfJwt(issuing: Issuing, token: string, now: Date): Promise<AccessTokenRef | undefined> {
  const claims = await verifyAccessJwt(issuing, token, now)
  if (claims?.aud !== issuing.issuer) return undefined
  const { sub = '', jti = '' } = claims
  return isId<IdentityId>(sub) ? { identityId: sub, sha256: Buffer.from(jti, 'base64url') } : undefined
}

/**
 * Returns the claims of an access token of this service (RFC 9068), for any audience, or undefined for any other text.
 * A token is valid until its expiry, to the second. A token from the future is accepted only within the allowed clock
 * skew between processes.
 */
export async function verifyAccessJwt(
  { keys, issuer }: Issuing,
  token: string,
  now: Date,
): Promise<JWTPayload | undefined> {
  try {
    const { payload } = await jwtVerify(token, ({ kid = '' }) => requireVerificationKey(keys, 'ES256', kid), {
      issuer,
      typ: 'at+jwt',
      algorithms: ['ES256'],
      requiredClaims: ['sub', 'aud', 'jti', 'exp', 'iat'],
      currentDate: now,
    })
    const { iat = Infinity } = payload
    return iat > toNumericDate(now) + limits.clockSkewSecondsMax ? undefined : payload
  } catch (error) {
    if (error instanceof JOSEError) return undefined
    throw error
  }
}
