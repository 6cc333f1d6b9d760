import { refusals } from '#platform/refusal.ts'

const refuse = refusals({ rate_limited: [429, 'Too many changes at once. Wait until some of them are done.'] })

/** How many changes of one person a process has under way at once: many of them wait until they hold everywhere. */
const atOnceMax = 8

/** The changes that are under way, by person. */
export type ChangesAtOnce = {
  /** Does one more change of a person; refuses `rate_limited` where too many are under way. */
  run: <Result>(userId: string, change: () => Promise<Result>) => Promise<Result>
}

export function createChangesAtOnce(): ChangesAtOnce {
  const underWay = new Map<string, number>()
  return {
    async run(userId, change) {
      const before = underWay.get(userId) ?? 0
      if (before >= atOnceMax) throw refuse.rate_limited({ headers: { 'retry-after': '5' } })
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
