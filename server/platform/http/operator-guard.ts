import { equalBytes, sha256 } from '#platform/crypto/digest.ts'
import { guard } from './guard.ts'
import { bearerToken } from './http.ts'
import type { Kernel } from '#platform/module/services.ts'
import { addressKey } from '#platform/rate-limits/rate-limit.ts'
import { refusals } from '#platform/refusal.ts'

const refuse = refusals({
  unauthorized: [401, 'Send the admin token as a bearer token.'],
  invalid_token: [401, 'The admin token is wrong.'],
})

/**
 * Lets through whoever holds the admin token (RFC 6750 §2.1). Refuses `unauthorized` without one, `invalid_token`, and
 * `rate_limited` after too many wrong ones from an address.
 */
export function adminGuard({ adminToken, rateLimits }: Pick<Kernel, 'adminToken' | 'rateLimits'>) {
  const expectedSha256 = sha256(adminToken.reveal())
  return guard(async (request) => {
    const token = bearerToken(request)
    if (token === undefined) throw refuse.unauthorized({ headers: { 'www-authenticate': 'Bearer' } })

    const address = addressKey(request)
    await rateLimits.check('failed client authentication', address)
    if (equalBytes(sha256(token), expectedSha256)) return { actor: 'operator' as const }

    await rateLimits.count('failed client authentication', address)
    throw refuse.invalid_token({ headers: { 'www-authenticate': 'Bearer error="invalid_token"' } })
  })
}
