import { readActivity } from '@countersign/protocol/accounts/account'
import { exportOrganizationAudit, readAudit, readOrganizationAudit } from '@countersign/protocol/operations/audit'
import { Readable } from 'node:stream'
import { adminGuard } from '#platform/http/operator-guard.ts'
import type { Host } from '#platform/http/http.ts'
import type { Kernel } from '#platform/module/services.ts'
import { askingOf, requireMember } from '#organizations/membership/access.ts'
import { sessionGuard } from '#accounts/sessions/session.ts'
import { listActivity } from '#platform/audit/activity.ts'
import { listTrail, trailFiles, writeTrail } from '#platform/audit/organization-trail.ts'
import * as auditStore from '#platform/audit/store.ts'

const entriesDefault = 50

export function auditRoutes(host: Host, kernel: Kernel): void {
  const operator = adminGuard(kernel)
  const session = sessionGuard(kernel)

  host.route({
    ...readAudit,
    onRequest: operator.onRequest,
    async handler({ query }) {
      const count = Number(query.limit ?? entriesDefault)
      const found = await auditStore.listEntries(kernel.db, query.cursor, count + 1)
      const entries = found.map((entry) => ({ ...entry, at: entry.at.toISOString() }))
      return pageOf(entries, count)
    },
  })

  host.route({
    ...readActivity,
    onRequest: session.onRequest,
    async handler(request) {
      const { cursor, limit } = request.query
      const count = Number(limit ?? entriesDefault)
      const page = { before: cursor, count: count + 1 }
      return pageOf(await listActivity(kernel.db, session.of(request).userId, page), count)
    },
  })
}

/** The trail of an organization, for those who look after it. */
export function organizationAuditRoutes(host: Host, kernel: Kernel): void {
  const { db, clock } = kernel
  const session = sessionGuard(kernel)

  host.route({
    ...readOrganizationAudit,
    onRequest: session.onRequest,
    async handler(request) {
      const asking = askingOf(request, session.of(request))
      await requireMember(kernel, asking, 'manage_org', clock())
      const { cursor: before, action, limit } = request.query
      const wanted = { organizationId: asking.organizationId, before, action }
      const count = Number(limit ?? entriesDefault)
      return pageOf(await listTrail(db, wanted, count + 1), count)
    },
  })

  host.route({
    ...exportOrganizationAudit,
    onRequest: session.onRequest,
    async handler(request, reply) {
      const asking = askingOf(request, session.of(request))
      await requireMember(kernel, asking, 'manage_org', clock())
      const { action, format } = request.query
      reply.header('content-disposition', `attachment; filename="organization-trail.${format}"`)
      const pieces = writeTrail(db, { organizationId: asking.organizationId, action }, format)
      return reply.type(trailFiles[format].type).send(Readable.from(pieces))
    },
  })
}

/** So many of the entries. One more than asked tells that there is a next page. */
function pageOf<Entry extends { entryId: string }>(found: Entry[], count: number) {
  const entries = found.slice(0, count)
  return { entries, nextCursor: found.length > count ? (entries.at(-1)?.entryId ?? null) : null }
}
