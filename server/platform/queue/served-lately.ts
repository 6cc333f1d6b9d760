import { performance } from 'node:perf_hooks'

/** Owners that a sender has served recently. */
export type ServedLately = {
  /** Runs work for an owner and counts its duration: an owner that occupies a slot for long gets the next one later. */
  during: (owner: string, work: () => Promise<void>) => Promise<void>
  /** Returns the owners and the seconds of each, with a half-life of a minute. */
  read: () => { servedOwners: string[]; servedSeconds: number[] }
}

const halfLifeMilliseconds = 60_000
const ownersMax = 1000
/** Owners with less are forgotten. */
const leastCount = 0.01
/** Minimum duration that counts, because claiming and recording a delivery take time too. */
const leastSeconds = 0.02

export function createServedLately(now: () => number = () => performance.now()): ServedLately {
  const served = new Map<string, { count: number; at: number }>()
  const left = ({ count, at }: { count: number; at: number }) => count * 2 ** ((at - now()) / halfLifeMilliseconds)
  return {
    during(owner, work) {
      const begun = now()
      return work().finally(() => {
        const seconds = Math.max((now() - begun) / 1000, leastSeconds)
        const before = served.get(owner)
        served.delete(owner)
        const [oldest] = served.keys()
        if (served.size >= ownersMax && oldest !== undefined) served.delete(oldest)
        served.set(owner, { count: (before ? left(before) : 0) + seconds, at: now() })
      })
    },
    read() {
      for (const [owner, each] of served) if (left(each) < leastCount) served.delete(owner)
      const counts = [...served].map(([owner, each]) => [owner, left(each)] as const)
      return { servedOwners: counts.map(([owner]) => owner), servedSeconds: counts.map(([, seconds]) => seconds) }
    },
  }
}
