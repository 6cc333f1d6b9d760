import * as endpoints from '@countersign/protocol/operations/health'
import { adminGuard } from '#accounts/operators/operator-guard.ts'
import type { Host } from '#platform/http/host.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { readHealth, readOverview } from './health.ts'

export function healthRoutes(host: Host, kernel: ServerContext): void {
  const { onRequest } = adminGuard(kernel)

  host.route({ ...endpoints.getHealth, onRequest, handler: () => readHealth(kernel, kernel.clock()) })

  host.route({ ...endpoints.getOverview, onRequest, handler: () => readOverview(kernel.db, kernel.clock()) })
}
