import { type AppUsage, type UsageError, usageErrors } from '@countersign/protocol/clients/usage'
import { limits } from '@countersign/protocol/formats/limits'
import type { ClientId } from '@countersign/protocol/ids'
import { rest } from '#platform/clock.ts'
import type { Database } from '#platform/database/database.ts'
import type { Background } from '#platform/module/define-module.ts'
import type { ServerContext } from '#platform/module/services.ts'
import type { DayCount } from './store.ts'
import * as store from './store.ts'

/**
 * Counts the sign-ins and errors of apps in the memory of this process. A crash loses the counts of the last seconds,
 * and no request waits for the database.
 */
export type UsageCounter = {
  countSignIn: (clientId: ClientId) => void
  /** Counts an error of a registered app. The number of counts is limited by the number of apps and codes. */
  countError: (app: { clientId: ClientId; metadataFetchedAt: Date | null }, code: string) => void
  /** Adds the counts to the database. They are kept if that fails. */
  flush: () => Promise<void>
}

const flushMilliseconds = 2000
const dayMilliseconds = 24 * 3600 * 1000
const signIn = 'sign_in'

export function createUsageCounter({ db, clock }: Pick<ServerContext, 'db' | 'clock'>): UsageCounter {
  let counts = new Map<string, DayCount>()

  function add(added: DayCount): void {
    const { clientId, kind, day } = added
    const key = `${clientId} ${kind} ${day}`
    const earlier = counts.get(key)
    counts.set(key, earlier ? { ...added, count: earlier.count + added.count } : added)
  }

  function countOne(clientId: ClientId, kind: string): void {
    const now = clock()
    add({ clientId, kind, day: dayOf(now), count: 1, lastAt: now })
  }

  return {
    countSignIn: (clientId) => countOne(clientId, signIn),
    countError({ clientId, metadataFetchedAt }, code) {
      if (metadataFetchedAt === null) countOne(clientId, isUsageError(code) ? code : 'other')
    },
    async flush() {
      if (counts.size === 0) return
      const flushed = counts
      counts = new Map()
      try {
        await store.addCounts(db, [...flushed.values()])
      } catch (error) {
        const later = counts
        counts = flushed
        for (const count of later.values()) add(count)
        throw error
      }
    },
  }
}

/** Flushes the counts of this process every two seconds, and when it stops. */
export function startFlushing({ log }: Pick<ServerContext, 'log'>, usage: UsageCounter): Background {
  const stopped = new AbortController()
  const flush = () => usage.flush().catch((error: unknown) => log.warn({ error }, 'app usage not stored'))
  const running = (async () => {
    while (!stopped.signal.aborted) {
      await rest(flushMilliseconds, stopped.signal)
      await flush()
    }
  })()
  return {
    async stop() {
      stopped.abort()
      await running
    },
  }
}

/** Returns the usage of an app in the last days, including the current one. */
export async function getAppUsage(db: Database, clientId: ClientId, now: Date): Promise<AppUsage> {
  const counts = await store.listCounts(db, clientId)
  const today = dayOf(now)
  const firstDay = today - limits.usageShownDays + 1
  const shown = counts.filter(({ day }) => day >= firstDay)
  const total = (of: DayCount[]) => of.reduce((sum, { count }) => sum + count, 0)
  const days = Array.from({ length: limits.usageShownDays }, (_, nth) => {
    const ofDay = shown.filter(({ day }) => day === firstDay + nth)
    return {
      day: new Date((firstDay + nth) * dayMilliseconds).toISOString().slice(0, 10),
      signInCount: total(ofDay.filter(({ kind }) => kind === signIn)),
      errorCount: total(ofDay.filter(({ kind }) => kind !== signIn)),
    }
  })
  const errors = usageErrors.flatMap((error) => {
    const ofError = shown.filter(({ kind }) => kind === error)
    const lastAt = ofError.at(-1)?.lastAt.toISOString()
    return lastAt === undefined ? [] : [{ error, count: total(ofError), lastAt }]
  })
  const lastSignInAt = counts.findLast(({ kind }) => kind === signIn)?.lastAt.toISOString() ?? null
  return { days, errors: errors.toSorted((one, other) => other.lastAt.localeCompare(one.lastAt)), lastSignInAt }
}

/** Returns when users last signed in to these apps. Apps without a stored sign-in are absent. */
export async function findLastSignIns(db: Database, clientIds: ClientId[]): Promise<Map<ClientId, Date>> {
  const latest = clientIds.length === 0 ? [] : await store.findLatest(db, clientIds, signIn)
  return new Map(latest.map(({ clientId, lastAt }) => [clientId, lastAt]))
}

/** Deletes up to `batch` counts of days that are no longer of use. Returns their number. */
export function pruneUsage(db: Database, now: Date, batch: number): Promise<number> {
  return store.deleteCountsBefore(db, dayOf(now) - limits.usageKeptDays, batch)
}

function isUsageError(code: string): code is UsageError {
  return usageErrors.some((error) => error === code)
}

function dayOf(now: Date): number {
  return Math.floor(now.getTime() / dayMilliseconds)
}
