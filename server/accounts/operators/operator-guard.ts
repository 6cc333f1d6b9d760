import type { FastifyRequest } from 'fastify'
import { asId, type IdentityId } from '@countersign/protocol/ids'
import { isUuid } from '@countersign/protocol/values'
import { equalBytes, sha256 } from '#platform/crypto/secret.ts'
import { guard } from '#platform/http/guard.ts'
import { bearerToken } from '#platform/http/host.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { clientAddressKey } from '#platform/rate-limits/rate-limit.ts'
import { sourceAddress } from '#platform/source-address.ts'
import { defineErrors } from '#platform/api-error.ts'
import { requireShownUser, sessionCookie } from '#accounts/sessions/cookie.ts'
import { findSessionByToken, requireWholeAccount } from '#accounts/sessions/session.ts'
import {
  auditFieldsOf,
  type Operator,
  operatorKeyOf,
  operatorTransaction,
  requirePermissions,
  requireRecentAuthenticationOfOperator,
} from './acting-operator.ts'
import { findOperatorOfToken } from './admin-token.ts'
import { noteBreakGlass } from './break-glass.ts'
import * as store from './store.ts'

export { auditFieldsOf, type Operator, operatorKeyOf, operatorTransaction, requireRecentAuthenticationOfOperator }

const errors = defineErrors({
  unauthorized: [401, 'Admin token or session of an operator required.'],
  invalid_token: [401, 'Invalid admin token.'],
  invalid_request: [400, 'identity_id must be the ID of one of your identities that is an operator.'],
  invalid_origin: [403, 'Cookie-authenticated requests must come from a page of the auth host.'],
  permission_denied: [403, 'This user is not an operator.'],
})

/**
 * Authenticates requests to the admin API: by ADMIN_TOKEN, by an admin token (RFC 6750 §2.1), or by the session cookie
 * of an operator. Requires the permission of the endpoint, by the rights of this moment. Throws `unauthorized`,
 * `invalid_token`, `invalid_origin`, `session_changed`, `passkey_required`, `recovery_hold`, `recovery_limited`,
 * `permission_denied`, `reauthentication_required`, or `rate_limited` after too many requests or too many wrong tokens
 * from an address.
 */
export function adminGuard(kernel: ServerContext) {
  const { clock, rateLimits } = kernel

  async function prove(request: FastifyRequest): Promise<Operator> {
    const operator = await authenticate(kernel, request)
    const { permission, recentAuthentication } = request.routeOptions.config
    if (permission === undefined) throw new Error(`${request.routeOptions.url} names no permission`)
    requirePermissions(operator, [permission])
    if (recentAuthentication) requireRecentAuthenticationOfOperator(operator, clock())
    return operator
  }

  async function proveAndCount(request: FastifyRequest): Promise<Operator> {
    const operator = await prove(request)
    if (operator.kind === 'break_glass') return operator
    const isReading = request.method === 'GET'
    await rateLimits.count(
      isReading ? 'admin-reads-per-operator' : 'admin-changes-per-operator',
      operatorKeyOf(operator),
    )
    return operator
  }

  return {
    ...guard(proveAndCount, prove),
    /** Checks an admitted request again, by the rights of this moment. Throws like the guard. */
    proveAgain: prove,
  }
}

function authenticate(kernel: ServerContext, request: FastifyRequest): Promise<Operator> {
  const token = bearerToken(request)
  if (token !== undefined) return authenticateToken(kernel, token, request)
  const cookie = request.headers.authorization === undefined ? sessionCookie(request, kernel.config.baseUrl) : undefined
  if (cookie === undefined) throw unauthorizedError()
  return authenticateSession(kernel, cookie, request)
}

function unauthorizedError() {
  return errors.unauthorized({ headers: { 'www-authenticate': 'Bearer' } })
}

async function authenticateToken(kernel: ServerContext, token: string, request: FastifyRequest): Promise<Operator> {
  const { db, clock, rateLimits, adminToken } = kernel
  const address = clientAddressKey(request)
  await rateLimits.check('client-authentication-failures-per-ip', address)
  if (adminToken && equalBytes(sha256(token), sha256(adminToken.reveal()))) {
    await noteBreakGlass(kernel, clock())
    return { actor: 'operator', kind: 'break_glass' }
  }
  const operator = await findOperatorOfToken(db, token, sourceAddress(request), clock())
  if (operator) return operator

  await rateLimits.count('client-authentication-failures-per-ip', address)
  throw errors.invalid_token({ headers: { 'www-authenticate': 'Bearer error="invalid_token"' } })
}

async function authenticateSession(kernel: ServerContext, cookie: string, request: FastifyRequest): Promise<Operator> {
  const { db, config, clock } = kernel
  requireAuthHost(request, config)
  const readAt = clock()
  const session = await findSessionByToken(db, { earlierToken: cookie, userAgent: undefined }, readAt)
  if (!session) throw unauthorizedError()
  requireShownUser(session, request)
  requireWholeAccount(session, readAt)
  const [found, other] = await store.listOperatorsOfUser(db, session.userId, requestedIdentity(request), readAt)
  const { permission } = request.routeOptions.config
  if (!found) throw errors.permission_denied({ fields: { permission } })
  if (other) throw errors.invalid_request()
  return { actor: 'operator', kind: 'session', ...found, session, readAt }
}

/**
 * Throws `invalid_origin` unless a page of the auth host sent the request. Browsers omit `Origin` only in reading
 * requests to the origin of the page itself.
 */
function requireAuthHost({ headers }: FastifyRequest, { authUrl, baseUrl }: ServerContext['config']): void {
  const isOwnOrigin = authUrl.origin === baseUrl.origin && headers['sec-fetch-site'] === 'same-origin'
  if (headers.origin === undefined ? !isOwnOrigin : headers.origin !== authUrl.origin) throw errors.invalid_origin()
}

/** Returns the identity as which a user acts, if the request names one. Throws `invalid_request`. */
function requestedIdentity({ query }: FastifyRequest): IdentityId | undefined {
  if (typeof query !== 'object' || query === null || !('identity_id' in query)) return undefined
  const { identity_id: written } = query
  if (typeof written !== 'string' || !isUuid(written.toLowerCase())) throw errors.invalid_request()
  return asId<IdentityId>(written.toLowerCase())
}
