import * as endpoints from '@countersign/protocol/clients/roles'
import { adminGuard } from '#accounts/operators/operator-guard.ts'
import type { AppDirectory } from '#clients/registration/directory.ts'
import { entityTagOf, opaqueVersionIn } from '#platform/http/entity-tag.ts'
import type { Host } from '#platform/http/host.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { getRoles, replaceRoles } from './role.ts'

/** Registers the roles of apps, which operators define and assign. */
export function roleRoutes(host: Host, kernel: ServerContext, apps: AppDirectory): void {
  const { db, clock } = kernel
  const { onRequest, of } = adminGuard(kernel)

  host.route({
    ...endpoints.getAppRoles,
    onRequest,
    async handler(request, reply) {
      const roles = await getRoles(db, { operator: of(request), ...request.params })
      return reply.header('etag', entityTagOf(roles.version)).send(roles)
    },
  })

  host.route({
    ...endpoints.replaceAppRoles,
    onRequest,
    async handler(request, reply) {
      const { clientId } = request.params
      const version = opaqueVersionIn(request.headers['if-match'])
      const target = { operator: of(request), clientId, version }
      const { roles, isForAll } = await replaceRoles(db, target, request.body, clock())
      apps.forget(clientId)
      if (isForAll) await apps.forgetEverywhere(clientId)
      return reply.header('etag', entityTagOf(roles.version)).send(roles)
    },
  })
}
