import * as endpoints from '@countersign/protocol/oauth/delegations'
import type { Host } from '#platform/http/host.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { sessionGuard } from '#accounts/sessions/session.ts'
import { listDelegations, listDelegationUses, revokeDelegation } from './delegation.ts'

export function delegationRoutes(host: Host, kernel: ServerContext): void {
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
      return { uses: await listDelegationUses(db, session.of(request), request.params.delegationId) }
    },
  })
}
