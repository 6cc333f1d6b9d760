import { performance } from 'node:perf_hooks'
import * as endpoints from '@countersign/protocol/operations'
import type { Storage } from '#platform/database/database.ts'
import type { Host } from '#platform/http/http.ts'
import { refusals } from '#platform/refusal.ts'

const refuse = refusals({ temporarily_unavailable: [503, 'The database cannot be reached.'] })

/** For how long an answer of the database is good for others who ask: whoever watches asks every few seconds. */
const goodMilliseconds = 1000

/** Asks the database once for all who ask meanwhile, and for a second more. */
export function createReadiness(ping: Storage['ping']): () => Promise<void> {
  let last: { answer: Promise<void>; goodUntil: number } | undefined
  return () => {
    if (last && performance.now() < last.goodUntil) return last.answer
    const mine = { answer: ping(), goodUntil: Infinity }
    last = mine
    const settle = () => void (mine.goodUntil = performance.now() + goodMilliseconds)
    mine.answer.then(settle, settle)
    return mine.answer
  }
}

/** Whether the process is up, and whether it can do its work: on every host, for whoever watches. */
export function probeRoutes(host: Host, isReady: () => Promise<void>): void {
  host.route({ ...endpoints.healthz, handler: () => ({ status: 'ok' as const }) })

  host.route({
    ...endpoints.readyz,
    async handler() {
      await isReady().catch(() => {
        throw refuse.temporarily_unavailable({ headers: { 'retry-after': '2' } })
      })
      return { status: 'ready' as const }
    },
  })
}
