import * as endpoints from '@countersign/protocol/organizations/domains'
import type { Host } from '#platform/http/host.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { sessionGuard } from '#accounts/sessions/session.ts'
import { signable, signableRoutes } from '#organizations/acts/signable.ts'
import { memberContextOf } from '#organizations/membership/access.ts'
import { addDomain, listDomains, removeDomain, verifyDomain } from './domain.ts'

type Claiming = { kernel: ServerContext }

/** What members may have to sign. */
export const acts = [
  signable(endpoints.addDomain, async ({ kernel }: Claiming, { asking, body }, now) => ({
    domain: await addDomain(kernel, asking, body.domain, now),
  })),
  signable(endpoints.verifyDomain, async ({ kernel }: Claiming, { asking, params, caller }, now) => ({
    domain: await verifyDomain(kernel, { ...asking, domainId: params.domainId, address: caller.address }, now),
  })),
  signable(endpoints.removeDomain, async ({ kernel }: Claiming, { asking, params }, now) => {
    await removeDomain(kernel, { ...asking, domainId: params.domainId }, now)
    return null
  }),
]

/** Routes for the domains of an organization, on the business host. */
export function domainRoutes(host: Host, kernel: ServerContext): void {
  const { clock } = kernel
  const session = sessionGuard(kernel)
  signableRoutes(host, { kernel }, acts)

  host.route({
    ...endpoints.listDomains,
    onRequest: session.onRequest,
    async handler(request) {
      return { domains: await listDomains(kernel, memberContextOf(request, session.of(request)), clock()) }
    },
  })
}
