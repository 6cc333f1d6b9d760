import { readAudit } from '@countersign/protocol/audit'
import { adminGuard } from '#apps/operator.ts'
import type { Host } from '#kernel/http.ts'
import type { Kernel } from '#kernel/kernel.ts'
import { listEntries } from './store.ts'

const entriesDefault = 50

export function auditRoutes(host: Host, kernel: Kernel): void {
  const { onRequest } = adminGuard(kernel)

  host.route({
    ...readAudit,
    onRequest,
    async handler({ query }) {
      const count = Number(query.limit ?? entriesDefault)
      // One more than asked tells whether there is a next page.
      const found = await listEntries(kernel.db, query.cursor, count + 1)
      const entries = found.slice(0, count).map((entry) => ({ ...entry, at: entry.at.toISOString() }))
      return { entries, nextCursor: found.length > count ? (entries.at(-1)?.entryId ?? null) : null }
    },
  })
}
