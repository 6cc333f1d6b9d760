import * as endpoints from '@countersign/protocol/organizations/domains'
import type { Host } from '#platform/http/host.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { clientAddressKey } from '#platform/rate-limits/rate-limit.ts'
import { sessionGuard } from '#accounts/sessions/session.ts'
import { memberContextOf } from '#organizations/membership/access.ts'
import { addDomain, listDomains, removeDomain, verifyDomain } from './domain.ts'

/** Routes for the domains of an organization, on the business host. */
export function domainRoutes(host: Host, kernel: ServerContext): void {
  const { clock } = kernel
  const session = sessionGuard(kernel)

  host.route({
    ...endpoints.listDomains,
    onRequest: session.onRequest,
    async handler(request) {
      return { domains: await listDomains(kernel, memberContextOf(request, session.of(request)), clock()) }
    },
  })

  host.route({
    ...endpoints.addDomain,
    onRequest: session.onRequest,
    async handler(request, reply) {
      const asking = memberContextOf(request, session.of(request))
      const domain = await addDomain(kernel, asking, request.body.domain, clock())
      return reply.status(201).send({ domain })
    },
  })

  host.route({
    ...endpoints.verifyDomain,
    onRequest: session.onRequest,
    async handler(request) {
      const { domainId } = request.params
      const asking = { ...memberContextOf(request, session.of(request)), domainId, address: clientAddressKey(request) }
      return { domain: await verifyDomain(kernel, asking, clock()) }
    },
  })

  host.route({
    ...endpoints.removeDomain,
    onRequest: session.onRequest,
    async handler(request, reply) {
      const { domainId } = request.params
      await removeDomain(kernel, { ...memberContextOf(request, session.of(request)), domainId }, clock())
      return reply.status(204).send(null)
    },
  })
}
