import { performance } from 'node:perf_hooks'

/** To whom a sender has sent something of late. */
export type ServedLately = {
  count: (owner: string) => void
  /** The owners, and how much each was sent: what was sent a minute ago counts half, and so on. */
  read: () => { servedOwners: string[]; servedCounts: number[] }
}

const halfLifeMilliseconds = 60_000
const ownersMax = 1000
/** Of whom less is left is forgotten. */
const leastCount = 0.1

export function createServedLately(now: () => number = () => performance.now()): ServedLately {
  const served = new Map<string, { count: number; at: number }>()
  const left = ({ count, at }: { count: number; at: number }) => count * 2 ** ((at - now()) / halfLifeMilliseconds)
  return {
    count(owner) {
      const before = served.get(owner)
      served.delete(owner)
      const [oldest] = served.keys()
      if (served.size >= ownersMax && oldest !== undefined) served.delete(oldest)
      served.set(owner, { count: (before ? left(before) : 0) + 1, at: now() })
    },
    read() {
      for (const [owner, each] of served) if (left(each) < leastCount) served.delete(owner)
      const counts = [...served].map(([owner, each]) => [owner, left(each)] as const)
      return { servedOwners: counts.map(([owner]) => owner), servedCounts: counts.map(([, count]) => count) }
    },
  }
}
