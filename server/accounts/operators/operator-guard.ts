import { type Secret, equalBytes, sha256 } from '#platform/crypto/secret.ts'
import { guard } from '#platform/http/guard.ts'
import { bearerToken } from '#platform/http/host.ts'
import { type RateLimits, clientAddressKey } from '#platform/rate-limits/rate-limit.ts'
import { defineErrors } from '#platform/api-error.ts'

const errors = defineErrors({
  unauthorized: [401, 'Admin token required: Authorization: Bearer <ADMIN_TOKEN>.'],
  invalid_token: [401, 'Invalid admin token.'],
})

/** Operator who sends a request of the admin API. */
export type Operator = { actor: 'operator' }

/** Returns the fields of an audit event that say which operator acted. */
export function auditFieldsOf({ actor }: Operator): { actor: 'operator' } {
  return { actor }
}

/**
 * Authenticates requests by the admin token (RFC 6750 §2.1). Throws `unauthorized` without one, `invalid_token`, and
 * `rate_limited` after too many wrong ones from an address.
 */
export function adminGuard({ adminToken, rateLimits }: { adminToken: Secret; rateLimits: RateLimits }) {
  const expectedSha256 = sha256(adminToken.reveal())
  return guard(async (request): Promise<Operator> => {
    const token = bearerToken(request)
    if (token === undefined) throw errors.unauthorized({ headers: { 'www-authenticate': 'Bearer' } })

    const address = clientAddressKey(request)
    await rateLimits.check('client-authentication-failures-per-ip', address)
    if (equalBytes(sha256(token), expectedSha256)) return { actor: 'operator' }

    await rateLimits.count('client-authentication-failures-per-ip', address)
    throw errors.invalid_token({ headers: { 'www-authenticate': 'Bearer error="invalid_token"' } })
  })
}
