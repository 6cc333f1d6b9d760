import { algorithms } from '@countersign/protocol/formats/registries/algorithms'
import { type ClientId, type IdentityId, asId, isId } from '@countersign/protocol/ids'
import { JOSEError } from 'jose/errors'
import { jwtVerify } from 'jose/jwt/verify'
import { epoch } from '#platform/clock.ts'
import { requireVerificationKey, type SigningKeys } from '#tokens/signing-keys/signing-keys.ts'

/** Identity and app that an ID token was issued for, with its session ID. */
export type IdTokenHint = { identityId: IdentityId; clientId: ClientId; sid: string }

/**
 * Parses an ID token that an app returns as a hint.
 *
 * Returns undefined unless signature, type, issuer and claims show an ID token that we signed. An expired token is
 * accepted (OpenID Connect Core §3.1.2.1).
 */
export async function parseIdTokenHint(
  { keys, issuer }: { keys: SigningKeys; issuer: string },
  hint: string,
): Promise<IdTokenHint | undefined> {
  try {
    const { payload } = await jwtVerify(hint, ({ alg, kid = '' }) => requireVerificationKey(keys, alg, kid), {
      issuer,
      typ: 'JWT',
      algorithms: [...algorithms],
      requiredClaims: ['sub', 'aud', 'sid', 'exp'],
      currentDate: epoch,
    })
    const { sub = '', aud, sid } = payload
    if (!isId<IdentityId>(sub) || typeof aud !== 'string' || typeof sid !== 'string') return undefined
    return { identityId: sub, clientId: asId<ClientId>(aud), sid }
  } catch (error) {
    if (error instanceof JOSEError) return undefined
    throw error
  }
}
