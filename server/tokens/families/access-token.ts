import { jwtVerify, errors, type JWTPayload } from 'jose'
import { limits } from '@countersign/protocol/formats/limits'
import { numericDate } from '#platform/clock.ts'
import { sha256 } from '#platform/crypto/digest.ts'
import { guard } from '#platform/http/guard.ts'
import { bearerToken } from '#platform/http/http.ts'
import type { Kernel } from '#platform/module/services.ts'
import { refusals } from '#platform/refusal.ts'
import { isUuid, readToken, tokenPrefix, uuidFromBytes } from '#platform/crypto/token-format.ts'
import { requireVerifier, type SigningKeys } from '#tokens/signing-keys/signing-keys.ts'
import * as accessStore from './access-store.ts'
import type { Access } from './access-store.ts'

export type { Access }

const refuse = refusals({
  unauthorized: [401, 'Send an access token in the Authorization header, with the scheme Bearer.'],
  invalid_token: [401, 'The access token is unknown, expired or revoked.'],
})

/**
 * Lets through whoever has a live access token, opaque or JWT. Either is looked up, so that a revoked one is refused at
 * once. Refuses `unauthorized`, `invalid_token` (RFC 6750 §3).
 */
export function accessGuard({ config, gathered, clock }: Kernel, keys: SigningKeys) {
  const find = gathered<Access>(accessStore.findAccessStatement)
  return guard(async (request): Promise<Access> => {
    // Another scheme, or this one alone, brings no bearer token: then only the scheme is told (RFC 6750 §3).
    if (!/^Bearer +\S/i.test(request.headers.authorization ?? ''))
      throw refuse.unauthorized({ headers: { 'www-authenticate': 'Bearer realm="countersign"' } })
    const now = clock()
    const token = bearerToken(request)
    const key = token && (await accessKeyOf({ keys, issuer: config.authUrl.origin }, token, now))
    const access = key && (await find([key.identityId, key.sha256, now]))
    if (!access)
      throw refuse.invalid_token({
        headers: { 'www-authenticate': 'Bearer realm="countersign", error="invalid_token"' },
      })
    return access
  })
}

/** Where an access token's row is. */
export type AccessKey = { identityId: string; sha256: Uint8Array }

export type Issuing = { keys: SigningKeys; issuer: string }

/**
 * The key of an access token's row, opaque or JWT. A JWT names its opaque twin's by `jti`, so one row answers for both.
 */
export async function accessKeyOf(issuing: Issuing, token: string, now: Date): Promise<AccessKey | undefined> {
  if (!token.startsWith(tokenPrefix.access)) return keyOfJwt(issuing, token, now)
  const route = readToken('access', token, 16)
  return route && { identityId: uuidFromBytes(route), sha256: sha256(token) }
}

async function keyOfJwt(issuing: Issuing, token: string, now: Date): Promise<AccessKey | undefined> {
  const claims = await verifyAccessJwt(issuing, token, now)
  if (claims?.aud !== issuing.issuer) return undefined
  const { sub = '', jti = '' } = claims
  return isUuid(sub) ? { identityId: sub, sha256: Buffer.from(jti, 'base64url') } : undefined
}

/**
 * The claims of an access token of ours (RFC 9068), for whichever audience; undefined for anything else. It counts
 * until its expiry, to the second; before its time only by what the clocks of processes may differ.
 */
export async function verifyAccessJwt(
  { keys, issuer }: Issuing,
  token: string,
  now: Date,
): Promise<JWTPayload | undefined> {
  try {
    const { payload } = await jwtVerify(token, ({ kid = '' }) => requireVerifier(keys, 'ES256', kid), {
      issuer,
      typ: 'at+jwt',
      algorithms: ['ES256'],
      requiredClaims: ['sub', 'aud', 'jti', 'exp', 'iat'],
      currentDate: now,
    })
    const { iat = Infinity } = payload
    return iat > numericDate(now) + limits.clockSkewSecondsMax ? undefined : payload
  } catch (error) {
    if (error instanceof errors.JOSEError) return undefined
    throw error
  }
}
