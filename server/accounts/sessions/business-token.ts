import { JOSEError } from 'jose/errors'
import { SignJWT } from 'jose/jwt/sign'
import { jwtVerify } from 'jose/jwt/verify'
import { limits } from '@countersign/protocol/formats/limits'
import { type SessionId, asId } from '@countersign/protocol/ids'
import { toNumericDate } from '#platform/clock.ts'
import type { ServerContext } from '#platform/module/services.ts'

/**
 * Bearer token by which pages of the business host act for a session, whose cookie belongs to another host. It names
 * the session, is never stored, expires with the session or after five minutes, and is valid only at the business host.
 */
type Means = Pick<ServerContext, 'keyring' | 'config'>

const typ = 'business-session+jwt'
const purpose = 'countersign/business-session/v1'

export async function signBusinessToken({ keyring, config }: Means, sessionId: SessionId, now: Date): Promise<string> {
  return new SignJWT({ sid: sessionId })
    .setProtectedHeader({ alg: 'HS256', typ })
    .setIssuer(config.baseUrl.origin)
    .setAudience(config.businessUrl.origin)
    .setIssuedAt(toNumericDate(now))
    .setExpirationTime(toNumericDate(now) + limits.businessTokenLifetimeSeconds)
    .sign(keyring.derive(purpose)[0])
}

/** Returns the session ID that a token names. Returns undefined for invalid and expired tokens. */
export async function verifyBusinessToken(means: Means, token: string, now: Date): Promise<SessionId | undefined> {
  for (const key of means.keyring.derive(purpose)) {
    const sessionId = await verify(means, { token, key }, now)
    if (sessionId !== undefined) return sessionId
  }
  return undefined
}

type Sealed = { token: string; key: Uint8Array }

async function verify({ config }: Means, { token, key }: Sealed, now: Date): Promise<SessionId | undefined> {
  try {
    const { payload } = await jwtVerify<{ sid: string }>(token, key, {
      algorithms: ['HS256'],
      typ,
      issuer: config.baseUrl.origin,
      audience: config.businessUrl.origin,
      requiredClaims: ['sid', 'exp', 'iat'],
      currentDate: now,
    })
    return asId<SessionId>(payload.sid)
  } catch (error) {
    // All verification errors have the same result.
    if (error instanceof JOSEError) return undefined
    throw error
  }
}
