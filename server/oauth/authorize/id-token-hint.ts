import { errors, jwtVerify } from 'jose'
import { beforeAnyExpiry } from '#platform/clock.ts'
import { isUuid } from '#platform/crypto/token-format.ts'
import { algorithms, requireVerifier, type SigningKeys } from '#tokens/signing-keys/signing-keys.ts'

/** Whom an ID token was about, and for which app. */
export type IdTokenHint = { identityId: string; clientId: string; sid: string }

/**
 * Reads an ID token that an app hands back as a hint. Undefined for whatever is not an ID token that we have signed, by
 * signature, type, issuer and claims. It may be of a sign-in that is long over (OpenID Connect Core §3.1.2.1).
 */
export async function readIdTokenHint(
  { keys, issuer }: { keys: SigningKeys; issuer: string },
  hint: string,
): Promise<IdTokenHint | undefined> {
  try {
    const { payload } = await jwtVerify(hint, ({ alg, kid = '' }) => requireVerifier(keys, alg, kid), {
      issuer,
      typ: 'JWT',
      algorithms: [...algorithms],
      requiredClaims: ['sub', 'aud', 'sid', 'exp'],
      currentDate: beforeAnyExpiry,
    })
    const { sub = '', aud, sid } = payload
    if (!isUuid(sub) || typeof aud !== 'string' || typeof sid !== 'string') return undefined
    return { identityId: sub, clientId: aud, sid }
  } catch (error) {
    if (error instanceof errors.JOSEError) return undefined
    throw error
  }
}
