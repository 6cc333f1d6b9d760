import * as endpoints from '@countersign/protocol/operations'
import type { Storage } from '#kernel/database.ts'
import type { Host } from '#kernel/http.ts'
import { refusals } from '#kernel/refusal.ts'

const refuse = refusals({ temporarily_unavailable: [503, 'The database cannot be reached.'] })

/** Whether the process is up, and whether it can do its work: on every host, for whoever watches. */
export function probeRoutes(host: Host, { ping }: Pick<Storage, 'ping'>): void {
  host.route({ ...endpoints.healthz, handler: () => ({ status: 'ok' as const }) })

  host.route({
    ...endpoints.readyz,
    async handler() {
      await ping().catch(() => {
        throw refuse.temporarily_unavailable({ headers: { 'retry-after': '2' } })
      })
      return { status: 'ready' as const }
    },
  })
}
