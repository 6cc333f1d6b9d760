import * as endpoints from '@countersign/protocol/operations/people'
import { adminGuard } from '#accounts/operators/operator-guard.ts'
import { listActivityOfIdentity } from '#platform/audit/audit-log.ts'
import type { Host } from '#platform/http/host.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { listConnectedApps } from '#oauth/consents/consent.ts'
import { getIdentity, listIdentities, recordView } from './directory.ts'

const entriesDefault = 50

/** Routes for operators: find identities, and see what they did. */
export function peopleRoutes(host: Host, kernel: ServerContext): void {
  const { db, clock } = kernel
  const operator = adminGuard(kernel)
  const { onRequest } = operator

  host.route({
    ...endpoints.listAdminIdentities,
    onRequest,
    handler: (request) => listIdentities(kernel, operator.of(request), request.query, clock()),
  })

  host.route({
    ...endpoints.getAdminIdentity,
    onRequest,
    async handler(request) {
      return { identity: await getIdentity(kernel, operator.of(request), request.params.identityId, clock()) }
    },
  })

  host.route({
    ...endpoints.listAdminIdentityActivity,
    onRequest,
    async handler(request) {
      const { identityId } = request.params
      await recordView(db, operator.of(request), identityId, clock())
      const { cursor, limit } = request.query
      const count = Number(limit ?? entriesDefault)
      const found = await listActivityOfIdentity(db, identityId, { before: cursor, count: count + 1 })
      const entries = found.slice(0, count)
      return { entries, nextCursor: found.length > count ? (entries.at(-1)?.entryId ?? null) : null }
    },
  })

  host.route({
    ...endpoints.listAdminIdentityApps,
    onRequest,
    async handler(request) {
      const { identityId } = request.params
      await recordView(db, operator.of(request), identityId, clock())
      return { apps: await listConnectedApps(db, identityId) }
    },
  })
}
