import * as endpoints from '@countersign/protocol/clients/roles'
import { adminGuard } from '#accounts/operators/operator-guard.ts'
import type { AppDirectory } from '#clients/registration/directory.ts'
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
    handler: (request) => getRoles(db, { operator: of(request), ...request.params }),
  })

  host.route({
    ...endpoints.replaceAppRoles,
    onRequest,
    async handler(request) {
      const { clientId } = request.params
      const { roles, isForAll } = await replaceRoles(db, { operator: of(request), clientId }, request.body, clock())
      apps.forget(clientId)
      if (isForAll) await apps.forgetEverywhere(clientId)
      return roles
    },
  })
}
