import { limits } from '@countersign/protocol/formats/limits'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { soleCookie } from '#accounts/sessions/cookie.ts'
import { domainOfEmail } from '@countersign/protocol/formats/domain'
import type { ServerContext } from '#platform/module/services.ts'
import { defineErrors } from '#platform/api-error.ts'
import { findVerifiedDomain } from '#organizations/domains/domain.ts'
import { findActiveOrganization } from '#organizations/members/organization.ts'
import { connectionsOfDomain } from '#sso/connections/connection.ts'

const strict = '__Host-countersign-sso'
const plain = 'countersign-sso'
const pattern = /^[\w-]{43}$/

/**
 * Sets the cookie that binds a sign-in to its browser. A provider can respond with a form post from another site, so
 * the cookie is sent with every request. On `http://localhost` some browsers require TLS for that; a second cookie with
 * a plain name is set there, which is sent with links only.
 */
export function setFlowCookie(reply: FastifyReply, token: string, baseUrl: URL): void {
  const value = `${token}; Path=/; Max-Age=${2 * limits.flowLifetimeSeconds}; HttpOnly`
  reply.header('set-cookie', `${strict}=${value}; SameSite=None; Secure`)
  if (baseUrl.protocol === 'http:') reply.header('set-cookie', `${plain}=${value}; SameSite=Lax`)
}

/** Returns the token that binds this browser to its sign-ins. Returns undefined if it has started none. */
export function flowCookie(request: FastifyRequest, baseUrl: URL): string | undefined {
  const token = soleCookie(request, baseUrl.protocol === 'https:' ? [strict] : [strict, plain])
  return token !== undefined && pattern.test(token) ? token : undefined
}

const errors = defineErrors({
  sso_not_found: [404, 'No SSO connection serves this e-mail domain.'],
})

/**
 * Finds the SSO connection for an e-mail domain. Throws `sso_not_found` if the organization, its domain verification or
 * its connection is missing, without revealing which.
 */
export async function discoverSsoLogin({ db, config }: ServerContext, email: string): Promise<string> {
  const domain = domainOfEmail(email)
  const owner = domain === undefined ? undefined : await findVerifiedDomain(db, domain)
  if (domain === undefined || !owner) throw errors.sso_not_found()
  const { organizationId } = owner
  const connections = await connectionsOfDomain(db, organizationId, domain)
  // If the organization requires SSO, an unconfirmed connection admits no members.
  const connection = connections.find(({ confirmedAt }) => confirmedAt) ?? connections[0]
  if (!connection || !(await findActiveOrganization(db, organizationId))) throw errors.sso_not_found()
  return `${config.baseUrl.origin}/api/sso/${connection.connectionId}/start`
}
