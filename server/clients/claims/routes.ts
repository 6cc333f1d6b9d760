import { getAppClaims, replaceAppClaims } from '@countersign/protocol/clients/claims'
import { adminGuard } from '#accounts/operators/operator-guard.ts'
import type { AppDirectory } from '#clients/registration/directory.ts'
import type { Host } from '#platform/http/host.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { getClaims, replaceClaims } from './claim.ts'

/** Registers the mapped claims of apps, which operators define. */
export function claimRoutes(host: Host, kernel: ServerContext, apps: AppDirectory): void {
  const { db, clock } = kernel
  const { onRequest, of } = adminGuard(kernel)

  host.route({
    ...getAppClaims,
    onRequest,
    handler: (request) => getClaims(db, { operator: of(request), ...request.params }),
  })

  host.route({
    ...replaceAppClaims,
    onRequest,
    async handler(request) {
      const { clientId } = request.params
      const { claims, isChanged } = await replaceClaims(db, { operator: of(request), clientId }, request.body, clock())
      // A process with the old claims would tell the app what it may no longer know.
      if (isChanged) await apps.forgetEverywhere(clientId)
      return { claims }
    },
  })
}
