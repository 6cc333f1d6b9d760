import * as endpoints from '@countersign/protocol/organizations/domains'
import type { Host } from '#platform/http/http.ts'
import type { Kernel } from '#platform/module/services.ts'
import { addressKey } from '#platform/rate-limits/rate-limit.ts'
import { sessionGuard } from '#accounts/sessions/session.ts'
import { askingOf } from '#organizations/membership/access.ts'
import { claimDomain, listDomains, removeDomain, verifyDomain } from './domain.ts'

/** The domains of an organization, on the business host. */
export function domainRoutes(host: Host, kernel: Kernel): void {
  const { clock } = kernel
  const session = sessionGuard(kernel)

  host.route({
    ...endpoints.listDomains,
    onRequest: session.onRequest,
    async handler(request) {
      return { domains: await listDomains(kernel, askingOf(request, session.of(request)), clock()) }
    },
  })

  host.route({
    ...endpoints.claimDomain,
    onRequest: session.onRequest,
    async handler(request, reply) {
      const asking = askingOf(request, session.of(request))
      const domain = await claimDomain(kernel, asking, request.body.domain, clock())
      return reply.status(201).send({ domain })
    },
  })

  host.route({
    ...endpoints.verifyDomain,
    onRequest: session.onRequest,
    async handler(request) {
      const { domainId } = request.params
      const asking = { ...askingOf(request, session.of(request)), domainId, address: addressKey(request) }
      return { domain: await verifyDomain(kernel, asking, clock()) }
    },
  })

  host.route({
    ...endpoints.removeDomain,
    onRequest: session.onRequest,
    async handler(request, reply) {
      const { domainId } = request.params
      await removeDomain(kernel, { ...askingOf(request, session.of(request)), domainId }, clock())
      return reply.status(204).send(null)
    },
  })
}
