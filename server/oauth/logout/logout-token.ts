import type { ClaimedLogout } from '#accounts/sessions/logout.ts'
import { numericDate } from '#platform/clock.ts'
import { sidOf } from '#accounts/sessions/sid.ts'
import { signJwt } from '#tokens/signing-keys/jwt.ts'
import type { SigningKeys } from '#tokens/signing-keys/signing-keys.ts'

/** As long as Back-Channel Logout §2.4 recommends at most: a retry is signed anew. */
const lifetimeSeconds = 120
const event = 'http://schemas.openid.net/event/backchannel-logout'

export type Signable = Pick<ClaimedLogout, 'clientId' | 'logoutId' | 'identityId' | 'sessionId'> & {
  algorithm: NonNullable<ClaimedLogout['algorithm']>
}

/**
 * Signs a logout token by the algorithm of the app's ID tokens (OpenID Connect Back-Channel Logout §2.4). Its `jti` is
 * the same at each attempt; `sid` is that of the ID tokens of this session. It has no nonce, which ID tokens have.
 */
export function signLogoutToken(
  { keys, issuer }: { keys: SigningKeys; issuer: string },
  { clientId, logoutId, identityId, sessionId, algorithm }: Signable,
  now: Date,
): Promise<string> {
  return signJwt(keys, algorithm, 'logout+jwt', {
    iss: issuer,
    sub: identityId,
    aud: clientId,
    iat: numericDate(now),
    exp: numericDate(now) + lifetimeSeconds,
    jti: logoutId,
    sid: sidOf({ sessionId, identityId }, clientId),
    events: { [event]: {} },
  })
}
