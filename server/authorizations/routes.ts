import { scopesOf } from '@countersign/protocol/formats/scope'
import * as endpoints from '@countersign/protocol/authorizations'
import { requireOwnIdentity } from '#identity/identity.ts'
import type { Host } from '#kernel/http.ts'
import type { Kernel } from '#kernel/kernel.ts'
import { sessionGuard } from '#sessions/session.ts'
import { disconnect, listAuthorizations, readAuthorization } from './authorization.ts'

export function authorizationRoutes(host: Host, kernel: Kernel): void {
  const { db, clock } = kernel
  const session = sessionGuard(kernel)

  host.route({
    ...endpoints.listAuthorizations,
    onRequest: session.onRequest,
    async handler(request) {
      return { authorizations: await listAuthorizations(db, session.of(request).userId) }
    },
  })

  host.route({
    ...endpoints.readAuthorization,
    onRequest: session.onRequest,
    async handler(request) {
      const { identity_id: identityId, scope = '' } = request.query
      await requireOwnIdentity(db, session.of(request).userId, identityId)
      return readAuthorization(db, identityId, request.params.clientId, scopesOf(scope))
    },
  })

  host.route({
    ...endpoints.disconnect,
    onRequest: session.onRequest,
    async handler(request, reply) {
      await disconnect(db, session.of(request).userId, request.params.id, clock())
      return reply.status(204).send(null)
    },
  })
}
