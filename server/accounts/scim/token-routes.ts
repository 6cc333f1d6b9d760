import * as endpoints from '@countersign/protocol/operations/scim-tokens'
import { adminGuard } from '#accounts/operators/operator-guard.ts'
import type { Host } from '#platform/http/host.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { createScimToken, deleteScimToken, listScimTokens, rotateScimToken } from './token.ts'

/** Registers the management of SCIM tokens by operators. */
export function scimTokenRoutes(host: Host, kernel: ServerContext): void {
  const { db, clock } = kernel
  const { onRequest, of } = adminGuard(kernel)

  host.route({
    ...endpoints.listScimTokens,
    onRequest,
    async handler() {
      return { tokens: await listScimTokens(db) }
    },
  })

  host.route({
    ...endpoints.createServiceScimToken,
    onRequest,
    async handler(request, reply) {
      return reply.status(201).send(await createScimToken(kernel, of(request), request.body, clock()))
    },
  })

  host.route({
    ...endpoints.rotateScimToken,
    onRequest,
    handler: (request) => rotateScimToken(kernel, of(request), request.params.tokenId, clock()),
  })

  host.route({
    ...endpoints.deleteServiceScimToken,
    onRequest,
    async handler(request, reply) {
      await deleteScimToken(db, of(request), request.params.tokenId, clock())
      return reply.status(204).send(null)
    },
  })
}
