import { errors, jwtVerify, SignJWT } from 'jose'
import { limits } from '@countersign/protocol/formats/limits'
import { numericDate } from '#platform/clock.ts'
import type { Kernel } from '#platform/module/services.ts'

/**
 * The bearer by which pages of the business host speak for a session, whose cookie is another host's. It is no secret
 * that anybody keeps: it names the session, lives as long as the session does and five minutes at most, and holds at
 * the business host alone.
 */
type Means = Pick<Kernel, 'keyring' | 'config'>

const typ = 'business-session+jwt'
const purpose = 'countersign/business-session/v1'

export async function signBusinessToken({ keyring, config }: Means, sessionId: string, now: Date): Promise<string> {
  return new SignJWT({ sid: sessionId })
    .setProtectedHeader({ alg: 'HS256', typ })
    .setIssuer(config.baseUrl.origin)
    .setAudience(config.businessUrl.origin)
    .setIssuedAt(numericDate(now))
    .setExpirationTime(numericDate(now) + limits.businessTokenLifetimeSeconds)
    .sign(keyring.derive(purpose)[0])
}

/** The id of the session that a token names. Undefined for whatever is no such token, or none any more. */
export async function readBusinessToken(means: Means, token: string, now: Date): Promise<string | undefined> {
  for (const key of means.keyring.derive(purpose)) {
    const sessionId = await verify(means, { token, key }, now)
    if (sessionId !== undefined) return sessionId
  }
  return undefined
}

type Sealed = { token: string; key: Uint8Array }

async function verify({ config }: Means, { token, key }: Sealed, now: Date): Promise<string | undefined> {
  try {
    const { payload } = await jwtVerify<{ sid: string }>(token, key, {
      algorithms: ['HS256'],
      typ,
      issuer: config.baseUrl.origin,
      audience: config.businessUrl.origin,
      requiredClaims: ['sid', 'exp', 'iat'],
      currentDate: now,
    })
    return payload.sid
  } catch (error) {
    // Whatever is wrong with it, it is nobody's.
    if (error instanceof errors.JOSEError) return undefined
    throw error
  }
}
