import { limits } from '@countersign/protocol/formats/limits'
import { errors, jwtVerify } from 'jose'
import { beforeAnyExpiry, numericDate } from '#platform/clock.ts'
import type { Kernel } from '#platform/module/services.ts'
import { signJwt } from '#tokens/signing-keys/jwt.ts'
import { requireVerifier, type SigningKeys } from '#tokens/signing-keys/signing-keys.ts'

/**
 * What a page gets from the browser. Its `jti` is a token that is redeemed once, by its app alone. The rest is for the
 * app to read: what may have changed since is asked when it is redeemed.
 */
export type Assertion = {
  token: string
  identityId: string
  clientId: string
  /** Where the page is to which the browser gives it. */
  origin: string
  scope: string[]
  nonce: string | undefined
}

type Signing = { kernel: Pick<Kernel, 'config'>; keys: SigningKeys }

/** An assertion as a JWT of its own type (RFC 8725 §3.11), for the exchange and for nothing else. */
export function signAssertion({ kernel, keys }: Signing, assertion: Assertion, now: Date): Promise<string> {
  const { token, identityId, clientId, origin, scope, nonce } = assertion
  return signJwt(keys, 'ES256', 'fedcm+jwt', {
    iss: kernel.config.authUrl.origin,
    sub: identityId,
    aud: audienceOf(kernel),
    iat: numericDate(now),
    exp: numericDate(now) + limits.fedcmAssertionLifetimeSeconds,
    jti: token,
    client_id: clientId,
    origin,
    scope: scope.join(' '),
    ...(nonce !== undefined && { nonce }),
  })
}

/**
 * The assertion in a JWT of ours; undefined for anything else. Whether it has expired is decided where it is redeemed:
 * the second use of one that was redeemed ends what that gave, however late.
 */
export async function readAssertion({ kernel, keys }: Signing, text: string) {
  try {
    const { payload } = await jwtVerify(text, ({ kid = '' }) => requireVerifier(keys, 'ES256', kid), {
      issuer: kernel.config.authUrl.origin,
      audience: audienceOf(kernel),
      typ: 'fedcm+jwt',
      algorithms: ['ES256'],
      requiredClaims: ['sub', 'jti', 'exp', 'client_id', 'origin', 'scope'],
      currentDate: beforeAnyExpiry,
    })
    const { jti: token = '', client_id: clientId, origin, scope } = payload
    if (typeof clientId !== 'string' || typeof origin !== 'string' || typeof scope !== 'string') return undefined
    return { token, clientId, origin, scope }
  } catch (error) {
    if (error instanceof errors.JOSEError) return undefined
    throw error
  }
}

function audienceOf({ config }: Pick<Kernel, 'config'>): string {
  return `${config.baseUrl.origin}/api/oauth/fedcm/exchange`
}
