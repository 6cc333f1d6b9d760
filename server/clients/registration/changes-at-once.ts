import type { UserId } from '@countersign/protocol/ids'
import { defineErrors } from '#platform/api-error.ts'

const errors = defineErrors({
  rate_limited: [429, 'Too many concurrent changes. Wait until some of them have finished.'],
})

/** Maximum number of concurrent changes per user and process. Many of them wait until all processes apply them. */
const atOnceMax = 8

/** Limiter of concurrent changes per user. */
export type ChangesAtOnce = {
  /** Runs a change of a user. Throws `rate_limited` if too many are in progress. */
  run: <Result>(userId: UserId, change: () => Promise<Result>) => Promise<Result>
}

export function createChangesAtOnce(): ChangesAtOnce {
  const underWay = new Map<string, number>()
  return {
    async run(userId, change) {
      const before = underWay.get(userId) ?? 0
      if (before >= atOnceMax) throw errors.rate_limited({ headers: { 'retry-after': '5' } })
      underWay.set(userId, before + 1)
      try {
        return await change()
      } finally {
        const left = (underWay.get(userId) ?? 1) - 1
        if (left > 0) underWay.set(userId, left)
        else underWay.delete(userId)
      }
    },
  }
}
