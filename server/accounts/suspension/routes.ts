import * as endpoints from '@countersign/protocol/accounts/suspension'
import type { FastifyRequest } from 'fastify'
import { adminGuard, operatorKeyOf } from '#accounts/operators/operator-guard.ts'
import { versionIn } from '#platform/http/entity-tag.ts'
import type { Host } from '#platform/http/host.ts'
import type { Lifecycle } from '#platform/module/lifecycle.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { activate, signOut, suspend } from './suspension.ts'

export type SuspensionServices = { kernel: ServerContext; lifecycle: Lifecycle }

export function suspensionRoutes(host: Host, { kernel, lifecycle }: SuspensionServices): void {
  const { db, clock, rateLimits } = kernel
  const { onRequest, of } = adminGuard(kernel)
  const count = (request: FastifyRequest) => rateLimits.count('identity-acts-per-operator', operatorKeyOf(of(request)))

  host.route({
    ...endpoints.suspendIdentity,
    onRequest,
    async handler(request) {
      await count(request)
      const target = { operator: of(request), ...request.params, version: versionIn(request.headers['if-match']) }
      return suspend({ db, lifecycle }, { ...target, ...request.body }, clock())
    },
  })

  host.route({
    ...endpoints.activateIdentity,
    onRequest,
    async handler(request, reply) {
      await count(request)
      await activate(db, { operator: of(request), ...request.params }, clock())
      return reply.status(204).send(null)
    },
  })

  host.route({
    ...endpoints.signOutIdentity,
    onRequest,
    async handler(request, reply) {
      await count(request)
      await signOut({ db, lifecycle }, { operator: of(request), ...request.params, ...request.body }, clock())
      return reply.status(204).send(null)
    },
  })
}
