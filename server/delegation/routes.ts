import * as endpoints from '@countersign/protocol/delegations'
import type { Host } from '#kernel/http.ts'
import type { Kernel } from '#kernel/kernel.ts'
import { sessionGuard } from '#sessions/session.ts'
import { listDelegations, listUses, revokeDelegation } from './grant.ts'

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
