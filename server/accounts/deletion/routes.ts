import * as endpoints from '@countersign/protocol/accounts/deletion'
import type { FastifyRequest } from 'fastify'
import { adminGuard, operatorKeyOf } from '#accounts/operators/operator-guard.ts'
import type { Host } from '#platform/http/host.ts'
import type { Lifecycle } from '#platform/module/lifecycle.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { restoreIdentity, scheduleDeletion } from './deletion.ts'

export type DeletionServices = { kernel: ServerContext; lifecycle: Lifecycle }

export function deletionRoutes(host: Host, services: DeletionServices): void {
  const { kernel } = services
  const { onRequest, of } = adminGuard(kernel)
  const count = (request: FastifyRequest) =>
    kernel.rateLimits.count('identity-acts-per-operator', operatorKeyOf(of(request)))

  host.route({
    ...endpoints.deleteAdminIdentity,
    onRequest,
    async handler(request) {
      await count(request)
      return scheduleDeletion(services, { operator: of(request), ...request.params, ...request.body }, kernel.clock())
    },
  })

  host.route({
    ...endpoints.restoreAdminIdentity,
    onRequest,
    async handler(request, reply) {
      await count(request)
      await restoreIdentity(kernel.db, { operator: of(request), ...request.params }, kernel.clock())
      return reply.status(204).send(null)
    },
  })
}
