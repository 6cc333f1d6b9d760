import { readActivity } from '@countersign/protocol/account'
import { readAudit } from '@countersign/protocol/audit'
import { adminGuard } from '#apps/operator.ts'
import type { Host } from '#kernel/http.ts'
import type { Kernel } from '#kernel/kernel.ts'
import { sessionGuard } from '#sessions/session.ts'
import { listActivity } from './activity.ts'
import { listEntries } from './store.ts'

const entriesDefault = 50

export function auditRoutes(host: Host, kernel: Kernel): void {
  const operator = adminGuard(kernel)
  const session = sessionGuard(kernel)

  host.route({
    ...readAudit,
    onRequest: operator.onRequest,
    async handler({ query }) {
      const count = Number(query.limit ?? entriesDefault)
      const found = await listEntries(kernel.db, query.cursor, count + 1)
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

/** So many of the entries. One more than asked tells that there is a next page. */
function pageOf<Entry extends { entryId: string }>(found: Entry[], count: number) {
  const entries = found.slice(0, count)
  return { entries, nextCursor: found.length > count ? (entries.at(-1)?.entryId ?? null) : null }
}
