import { domainOfEmail } from '@countersign/protocol/formats/domain'
import type { Kernel } from '#platform/module/services.ts'
import { refusals } from '#platform/refusal.ts'
import { verifiedDomainOf } from '#organizations/domains/domain.ts'
import { findActiveOrganization } from '#organizations/members/sso-members.ts'
import { connectionsOfDomain } from '#sso/connections/connection.ts'

const refuse = refusals({
  sso_not_found: [404, 'No organization signs in people with an address of this domain here.'],
})

/**
 * Where the people of an e-mail domain sign in with their organization. Refuses `sso_not_found` alike whatever is
 * missing: the organization, its proof of the domain, or its connection.
 */
export async function discoverLogin({ db, config }: Kernel, email: string): Promise<string> {
  const domain = domainOfEmail(email)
  const owner = domain === undefined ? undefined : await verifiedDomainOf(db, domain)
  if (domain === undefined || !owner) throw refuse.sso_not_found()
  const { organizationId } = owner
  const connections = await connectionsOfDomain(db, organizationId, domain)
  // One that no owner has confirmed lets nobody in where the organization requires its own sign-in.
  const connection = connections.find(({ confirmedAt }) => confirmedAt) ?? connections[0]
  if (!connection || !(await findActiveOrganization(db, organizationId))) throw refuse.sso_not_found()
  return `${config.baseUrl.origin}/api/sso/${connection.connectionId}/start`
}
