import type { ClaimedLogout } from '#accounts/backchannel-logout/logout.ts'
import { toNumericDate } from '#platform/clock.ts'
import { pairwiseSid } from '#accounts/backchannel-logout/sid.ts'
import { signJwt } from '#tokens/signing-keys/jwt.ts'
import type { SigningKeys } from '#tokens/signing-keys/signing-keys.ts'

/** The maximum that Back-Channel Logout §2.4 recommends: each retry is signed again. */
const lifetimeSeconds = 120
const event = 'http://schemas.openid.net/event/backchannel-logout'

export type Signable = Pick<ClaimedLogout, 'clientId' | 'logoutId' | 'identityId' | 'sessionId'> & {
  algorithm: NonNullable<ClaimedLogout['algorithm']>
}

/**
 * Signs a logout token with the algorithm of the app's ID tokens (OpenID Connect Back-Channel Logout §2.4).
 *
 * Its `jti` is the same at each attempt; `sid` is that of the session's ID tokens. Unlike an ID token, it has no nonce.
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
    iat: toNumericDate(now),
    exp: toNumericDate(now) + lifetimeSeconds,
    jti: logoutId,
    sid: pairwiseSid({ sessionId, identityId }, clientId),
    events: { [event]: {} },
  })
}
