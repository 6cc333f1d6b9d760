import * as accountEndpoints from '@countersign/protocol/accounts/account'
import * as endpoints from '@countersign/protocol/operations/audit'
import { Readable } from 'node:stream'
import { adminGuard } from '#platform/http/operator-guard.ts'
import type { Host } from '#platform/http/host.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { memberContextOf, requireMember } from '#organizations/membership/access.ts'
import { sessionGuard } from '#accounts/sessions/session.ts'
import {
  auditExportFormats,
  listActivity,
  listAuditEvents,
  listOrganizationAuditEvents,
  writeAuditExport,
} from '#platform/audit/audit-log.ts'
import { extendTrail, writeTrail } from '#platform/audit/trail.ts'

const entriesDefault = 50

export function auditRoutes(host: Host, kernel: ServerContext): void {
  const operator = adminGuard(kernel)
  const session = sessionGuard(kernel)

  host.route({
    ...endpoints.listAuditEvents,
    onRequest: operator.onRequest,
    async handler({ query }) {
      const count = Number(query.limit ?? entriesDefault)
      return pageOf(await listAuditEvents(kernel.db, query.cursor, count + 1), count)
    },
  })

  host.route({
    ...accountEndpoints.listActivity,
    onRequest: session.onRequest,
    async handler(request) {
      const { cursor, limit } = request.query
      const count = Number(limit ?? entriesDefault)
      const page = { before: cursor, count: count + 1 }
      return pageOf(await listActivity(kernel.db, session.of(request).userId, page), count)
    },
  })
}

/** Registers the audit log of an organization, for its admins. */
export function organizationAuditRoutes(host: Host, kernel: ServerContext): void {
  const { db, clock } = kernel
  const session = sessionGuard(kernel)

  host.route({
    ...endpoints.listOrganizationAuditEvents,
    onRequest: session.onRequest,
    async handler(request) {
      const asking = memberContextOf(request, session.of(request))
      await requireMember(kernel, asking, 'manage_org', clock())
      const { cursor: before, action, limit } = request.query
      const requested = { organizationId: asking.organizationId, before, action }
      const count = Number(limit ?? entriesDefault)
      return pageOf(await listOrganizationAuditEvents(db, requested, count + 1), count)
    },
  })

  host.route({
    ...endpoints.exportOrganizationAuditLog,
    onRequest: session.onRequest,
    async handler(request, reply) {
      const asking = memberContextOf(request, session.of(request))
      await requireMember(kernel, asking, 'manage_org', clock())
      const { action, format } = request.query
      reply.header('content-disposition', `attachment; filename="organization-trail.${format}"`)
      const pieces = writeAuditExport(db, { organizationId: asking.organizationId, action }, format)
      return reply.type(auditExportFormats[format].type).send(Readable.from(pieces))
    },
  })
}

/** Registers the trail of an organization, for its admins. */
export function organizationTrailRoutes(host: Host, kernel: ServerContext): void {
  const session = sessionGuard(kernel)

  host.route({
    ...endpoints.exportOrganizationTrail,
    onRequest: session.onRequest,
    async handler(request, reply) {
      const asking = memberContextOf(request, session.of(request))
      await requireMember(kernel, asking, 'manage_org', kernel.clock())
      await extendTrail(kernel.db, asking.organizationId)
      reply.header('content-disposition', 'attachment; filename="trail.jsonl"')
      const pieces = writeTrail(kernel.db, asking.organizationId, Number(request.query.after ?? 0))
      return reply.type('application/jsonl').send(Readable.from(pieces))
    },
  })
}

/** Returns a page of the entries. One more than requested shows that there is a next page. */
function pageOf<Entry extends { entryId: string }>(found: Entry[], count: number) {
  const entries = found.slice(0, count)
  return { entries, nextCursor: found.length > count ? (entries.at(-1)?.entryId ?? null) : null }
}
