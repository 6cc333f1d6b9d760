import * as endpoints from '@countersign/protocol/oauth/delegations'
import type { Host } from '#platform/http/http.ts'
import type { Kernel } from '#platform/module/services.ts'
import { sessionGuard } from '#accounts/sessions/session.ts'
import { listDelegations, listUses, revokeDelegation } from './delegation.ts'

export function delegationRoutes(host: Host, kernel: Kernel): void {
  const { db, clock } = kernel
  const session = sessionGuard(kernel)

  host.route({
    ...endpoints.listDelegations,
    onRequest: session.onRequest,
    async handler(request) {
      return { delegations: await listDelegations(db, session.of(request)) }
    },
  })

  host.route({
    ...endpoints.revokeDelegation,
    onRequest: session.onRequest,
    async handler(request, reply) {
      await revokeDelegation(db, session.of(request), request.params.delegationId, clock())
      return reply.status(204).send(null)
    },
  })

  host.route({
    ...endpoints.listDelegationUses,
    onRequest: session.onRequest,
    async handler(request) {
      return { uses: await listUses(db, session.of(request), request.params.delegationId) }
    },
  })
}
