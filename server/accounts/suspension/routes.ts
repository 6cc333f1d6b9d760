import * as endpoints from '@countersign/protocol/accounts/suspension'
import { adminGuard } from '#accounts/operators/operator-guard.ts'
import type { Host } from '#platform/http/host.ts'
import type { Lifecycle } from '#platform/module/lifecycle.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { activate, signOut, suspend } from './suspension.ts'

export type SuspensionServices = { kernel: ServerContext; lifecycle: Lifecycle }

export function suspensionRoutes(host: Host, { kernel, lifecycle }: SuspensionServices): void {
  const { db, clock } = kernel
  const { onRequest, of } = adminGuard(kernel)

  host.route({
    ...endpoints.suspendIdentity,
    onRequest,
    handler: (request) =>
      suspend({ db, lifecycle }, { operator: of(request), ...request.params, ...request.body }, clock()),
  })

  host.route({
    ...endpoints.activateIdentity,
    onRequest,
    async handler(request, reply) {
      await activate(db, { operator: of(request), ...request.params }, clock())
      return reply.status(204).send(null)
    },
  })

  host.route({
    ...endpoints.signOutIdentity,
    onRequest,
    async handler(request, reply) {
      await signOut({ db, lifecycle }, { operator: of(request), ...request.params, ...request.body }, clock())
      return reply.status(204).send(null)
    },
  })
}
