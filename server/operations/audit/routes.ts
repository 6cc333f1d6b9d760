import * as accountEndpoints from '@countersign/protocol/accounts/account'
import * as endpoints from '@countersign/protocol/operations/audit'
import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { IdentityId } from '@countersign/protocol/ids'
import { adminGuard, operatorKeyOf } from '#accounts/operators/operator-guard.ts'
import type { Host } from '#platform/http/host.ts'
import { readInstant } from '#platform/http/instant.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { memberContextOf, requireMember } from '#organizations/membership/access.ts'
import { sessionGuard } from '#accounts/sessions/session.ts'
import {
  auditExportFormats,
  listActivity,
  listOrganizationAuditEvents,
  listPeopleOf,
  writeAuditExport,
} from '#platform/audit/audit-log.ts'
import { verifyChain } from '#platform/audit/chain-verification.ts'
import { listAuditEvents } from '#platform/audit/event-list.ts'
import { extendTrail, writeTrail } from '#platform/audit/trail.ts'
import { createEventStreams } from './event-stream.ts'
import { writeEvents } from './export.ts'

const entriesDefault = 50
const linksDefault = 500

export function auditRoutes(host: Host, kernel: ServerContext): void {
  const operator = adminGuard(kernel)
  const session = sessionGuard(kernel)

  host.route({
    ...endpoints.listAuditEvents,
    onRequest: operator.onRequest,
    handler(request) {
      const { identity: identityId, cursor, limit, from, to, ...filter } = request.query
      const instants = { from: instantOf(from), until: instantOf(to) }
      const page = { before: cursor, count: Number(limit ?? entriesDefault) }
      const reading = { ...kernel, readerKey: operatorKeyOf(operator.of(request)) }
      return listAuditEvents(reading, { ...filter, identityId, ...instants }, page)
    },
  })

  exportRoute(host, kernel, operator)

  const streams = createEventStreams(kernel)
  host.addHook('preClose', async () => streams.stop())
  host.route({
    ...endpoints.streamAuditEvents,
    config: { ...endpoints.streamAuditEvents.config, isFollowed: true },
    onRequest: operator.onRequest,
    async handler(request, reply) {
      const { after, follow, identity: identityId, ...filter } = request.query
      const start = request.headers['last-event-id'] ?? after
      const text = await streams.open({
        filter: { ...filter, identityId },
        after: start === undefined ? undefined : Number(start),
        isFollowing: follow !== 'false',
        operatorKey: operatorKeyOf(operator.of(request)),
        requireRights: () => operator.proveAgain(request),
        left: closingOf(reply.raw),
        cut: () => void reply.raw.destroy(),
      })
      // A proxy that collects the answer would hold back events. The connection ends with the stream: when the service
      // ends, no client keeps it open.
      reply.header('x-accel-buffering', 'no').header('connection', 'close')
      return reply.type('text/event-stream').send(text)
    },
  })

  host.route({
    ...endpoints.verifyAuditLog,
    onRequest: operator.onRequest,
    handler({ query: { from = '1', limit } }) {
      return verifyChain(kernel.db, { from: Number(from), count: Number(limit ?? linksDefault) })
    },
  })

  host.route({
    ...accountEndpoints.listActivity,
    onRequest: session.onRequest,
    async handler(request) {
      const { cursor, limit, kind, identity_id: identityId } = request.query
      const count = Number(limit ?? entriesDefault)
      const page = { before: cursor, count: count + 1, kind, identityId }
      return pageOf(await listActivity(kernel.db, session.of(request).userId, page), count)
    },
  })
}

/** Registers the export of the audit log, for operators. */
function exportRoute(host: Host, kernel: ServerContext, operator: ReturnType<typeof adminGuard>): void {
  host.route({
    ...endpoints.exportAuditLog,
    onRequest: operator.onRequest,
    async handler(request, reply) {
      const { format, identity: identityId, from, to, ...filter } = request.query
      const readerKey = operatorKeyOf(operator.of(request))
      await kernel.rateLimits.count('audit-exports-per-operator', readerKey)
      const events = writeEvents(
        { ...kernel, readerKey },
        {
          filter: { ...filter, identityId, from: instantOf(from), until: instantOf(to) },
          format,
          requireRights: () => operator.proveAgain(request),
        },
      )
      reply.header('content-disposition', `attachment; filename="audit-log.${format}"`)
      return reply.type(auditExportFormats[format].type).send(Readable.from(events))
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
      const { cursor, limit } = request.query
      const { organizationId } = asking
      const requested = { organizationId, ...filterOf(request.query), before: cursor }
      const count = Number(limit ?? entriesDefault)
      const page = pageOf(await listOrganizationAuditEvents(db, requested, count + 1), count)
      return { ...page, people: await listPeopleOf(db, organizationId, page.entries, clock()) }
    },
  })

  host.route({
    ...endpoints.exportOrganizationAuditLog,
    onRequest: session.onRequest,
    async handler(request, reply) {
      const asking = memberContextOf(request, session.of(request))
      await requireMember(kernel, asking, 'manage_org', clock())
      const { format } = request.query
      reply.header('content-disposition', `attachment; filename="organization-trail.${format}"`)
      const requested = { organizationId: asking.organizationId, ...filterOf(request.query) }
      const pieces = writeAuditExport(db, requested, format)
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
      const { after = '0', to } = request.query
      const range = { after: Number(after), to: to === undefined ? undefined : Number(to) }
      const pieces = writeTrail(kernel.db, asking.organizationId, range)
      return reply.type('application/jsonl').send(Readable.from(pieces))
    },
  })
}

/** Returns a signal that aborts when a response has ended, or its client has left. */
function closingOf(response: ServerResponse): AbortSignal {
  const closing = new AbortController()
  // The client may have left while the request was admitted.
  if (response.closed || response.destroyed) closing.abort()
  else response.once('close', () => closing.abort())
  return closing.signal
}

type Filter = { action?: string; by?: IdentityId; from?: string; before?: string }

function filterOf({ action, by, from, before }: Filter) {
  return { action, by, from: instantOf(from), until: instantOf(before) }
}

function instantOf(text: string | undefined): Date | undefined {
  return text === undefined ? undefined : readInstant(text)
}

/** Returns a page of the entries. One more than requested shows that there is a next page. */
function pageOf<Entry extends { entryId: string }>(found: Entry[], count: number) {
  const entries = found.slice(0, count)
  return { entries, nextCursor: found.length > count ? (entries.at(-1)?.entryId ?? null) : null }
}
