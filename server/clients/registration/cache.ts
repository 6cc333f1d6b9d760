import type { Clock } from '#platform/clock.ts'
import type { Config } from '#platform/config/config.ts'
import { idle } from '#platform/idle.ts'

type Entry<Value> = { value: Value; readAt: number }
type Settled<Value> = Map<string, Entry<Value>>

const staleAfterMilliseconds = 5000
const foundMax = 10_000
const missedMax = 1000

/**
 * Waits until no process remembers what was read before. The embedded database has one process, which has forgotten it
 * already.
 */
export async function passStale({ databaseUrl }: Pick<Config, 'databaseUrl'>): Promise<void> {
  if (databaseUrl) await idle(staleAfterMilliseconds)
}

/** What was read in the last five seconds, by its key. */
export type Cache<Value> = {
  /** The value of a key; undefined where there is none. Reads it at most once at a time, whoever asks. */
  read: (key: string) => Promise<Value | undefined>
  forget: (key: string) => void
  forgetAll: () => void
}

/**
 * A cache of bounded size. What does not exist is remembered apart from what does: a caller who makes up keys learns
 * nothing from the time that the answer takes, and drives out no key that is real.
 */
export function createCache<Value>(find: (key: string) => Promise<Value | undefined>, clock: Clock): Cache<Value> {
  const found: Settled<Value> = new Map()
  const missed: Settled<undefined> = new Map()
  const reading = new Map<string, Entry<Promise<Value | undefined>>>()

  async function readAnew(key: string): Promise<Value | undefined> {
    const readAt = clock().getTime()
    const answer = find(key)
    const mine = { value: answer, readAt }
    reading.set(key, mine)
    try {
      const value = await answer
      // A read that was forgotten while it was under way may be of before the change.
      if (reading.get(key) === mine) settle(key, value, readAt)
      return value
    } finally {
      if (reading.get(key) === mine) reading.delete(key)
    }
  }

  function settle(key: string, value: Value | undefined, readAt: number): void {
    found.delete(key)
    missed.delete(key)
    if (value === undefined) keep(missed, key, { value, readAt }, missedMax)
    else keep(found, key, { value, readAt }, foundMax)
  }

  return {
    async read(key) {
      const entry = found.get(key) ?? missed.get(key)
      if (entry && isFresh(entry, clock())) return entry.value
      const underWay = reading.get(key)
      return underWay && isFresh(underWay, clock()) ? underWay.value : readAnew(key)
    },
    forget(key) {
      for (const entries of [found, missed, reading]) entries.delete(key)
    },
    forgetAll() {
      for (const entries of [found, missed, reading]) entries.clear()
    },
  }
}

/** Keeps an entry, in place of the oldest where there are too many. */
function keep<Value>(entries: Settled<Value>, key: string, entry: Entry<Value>, max: number): void {
  const [oldest] = entries.keys()
  if (entries.size >= max && oldest !== undefined) entries.delete(oldest)
  entries.set(key, entry)
}

function isFresh({ readAt }: Entry<unknown>, now: Date): boolean {
  const age = now.getTime() - readAt
  return age >= 0 && age < staleAfterMilliseconds
}
