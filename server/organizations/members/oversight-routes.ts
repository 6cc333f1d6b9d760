import * as endpoints from '@countersign/protocol/organizations/operator-view'
import { adminGuard } from '#platform/http/operator-guard.ts'
import type { Host } from '#platform/http/http.ts'
import type { Kernel } from '#platform/module/services.ts'
import { listForOperator, readForOperator, setStatus } from './oversight.ts'

const organizationsDefault = 50

/** What the operator does with organizations: see that they are there, and suspend one. */
export function oversightRoutes(host: Host, kernel: Kernel): void {
  const { db, clock } = kernel
  const { onRequest } = adminGuard(kernel)

  host.route({
    ...endpoints.listAllOrganizations,
    onRequest,
    async handler({ query }) {
      const count = Number(query.limit ?? organizationsDefault)
      const found = await listForOperator(db, query.cursor, count + 1)
      const organizations = found.slice(0, count)
      const nextCursor = found.length > count ? (organizations.at(-1)?.organizationId ?? null) : null
      return { organizations, nextCursor }
    },
  })

  host.route({
    ...endpoints.readAnyOrganization,
    onRequest,
    async handler({ params }) {
      return { organization: await readForOperator(db, params.organizationId) }
    },
  })

  host.route({
    ...endpoints.setOrganizationStatus,
    onRequest,
    async handler({ params, body }) {
      return { organization: await setStatus(db, params.organizationId, body.status, clock()) }
    },
  })
}
