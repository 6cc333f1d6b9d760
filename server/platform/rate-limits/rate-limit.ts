import { addSeconds, type Clock } from '#platform/clock.ts'
import type { PreparedQuery } from '#platform/database/database.ts'
import { sha256 } from '#platform/crypto/secret.ts'
import { countersBeyond, countersOf, type Counter, type Key, type PersonKey } from './rate-limit-key.ts'
import * as store from './store.ts'
import type { RateLimitState } from './store.ts'

export { pruneRateLimits } from './store.ts'
import { defineErrors, type ApiError } from '#platform/api-error.ts'
import { ConfigError } from '#platform/config-error.ts'
import { sourceAddress } from '#platform/source-address.ts'

/** Points per number of seconds (completions §8), for each source address unless the name says otherwise. */
export type RateLimitPolicy = { points: number; seconds: number }

/** Names of limits by the module that declares them. Each `module.ts` adds its own. */
export interface DeclaredRateLimits {}
export type RateLimitName = DeclaredRateLimits[keyof DeclaredRateLimits]
export type RateLimitPolicies = Record<RateLimitName, RateLimitPolicy>

/** Limits per user count by the key of a session, so that a stolen session does not exhaust the user's limit. */
type OfUser = Extract<RateLimitName, `${string}-per-user`>
type KeyOf<What extends RateLimitName> = What extends OfUser ? PersonKey : Key

/** Points by the name of a limit, which the operator has set instead of the defaults. */
export type RateLimitNumbers = Record<string, number>

/** Applies the operator's numbers to the default policies. Throws `ConfigError` if one names no limit. */
export function applyRateLimitNumbers(policies: RateLimitPolicies, numbers: RateLimitNumbers): RateLimitPolicies {
  const unknown = Object.keys(numbers).find((name) => !Object.hasOwn(policies, name))
  if (unknown !== undefined)
    throw new ConfigError(
      `RATE_LIMIT_NUMBERS names ${unknown}, which is not a limit. Valid names: ${Object.keys(policies).join(', ')}.`,
    )
  const changed = Object.entries<RateLimitPolicy>(policies).map(([name, policy]): [string, RateLimitPolicy] => [
    name,
    { ...policy, points: numbers[name] ?? policy.points },
  ])
  return { ...policies, ...Object.fromEntries(changed) }
}

const errors = defineErrors({ rate_limited: [429, 'Too many requests. Retry after the time in Retry-After.'] })

export type RateLimits = {
  /** Counts one request. Throws `rate_limited` above the limit. */
  count: <What extends RateLimitName>(what: What, key: KeyOf<What>) => Promise<void>
  /** Throws `rate_limited` if the limit is known to be reached. It counts nothing and sends no query. */
  check: (what: RateLimitName, key: string) => Promise<void>
}

/** Rate limits that limit nothing. */
export const noRateLimits: RateLimits = { count: async () => {}, check: async () => {} }

type Setting = {
  clock: Clock
  /** Database in which processes share their counts. Undefined for a single process. */
  shared: PreparedQuery | undefined
  policies: RateLimitPolicies
  /** Called for each rejection. */
  onRefusal?: (what: RateLimitName) => void
}

/** State of a key in its current window, as this process knows it. */
type Window = {
  expiresAt: Date
  /** Points that this process can still use without a query. */
  left: number
  /** True if the limit is exhausted, by this or another process. */
  exhausted: boolean
}

/**
 * Maximum number of keys per limit in memory. The key with the oldest window is evicted; shared counts remain in the
 * database.
 */
const keysMax = 20_000
/** A process that shares counts leases at most this fraction of a limit at a time. */
const leasesOfLimit = 20
/** Maximum difference between the clocks of two processes. */
const clocksApartSecondsMax = 300

/**
 * Creates rate limits with fixed windows. Where success is authenticated, only failures count (`check` before, `count`
 * after), so that a busy valid client is never limited.
 *
 * A single process uses the whole limit at once. Processes that share counts lease points from the database in small
 * parts. Together they never allow more than the limit, and one may reject early because of points that others have
 * leased and not used. Below a limit of 40, a lease is one point, so the count is exact. While the database is
 * unavailable, no points can be leased, and counting fails like any other request: 503.
 *
 * A window that ends later than any window opened now was opened by a clock that ran ahead. It is ignored, because it
 * would otherwise block its key until the correct clock reaches it.
 */
export function createRateLimits({ clock, shared, policies, onRefusal }: Setting): RateLimits {
  const counters = createCounters({ clock, shared, policies })
  const pointsOf = (what: RateLimitName) => policies[what].points

  function refusal(what: RateLimitName, blocked: Blocked): ApiError {
    onRefusal?.(what)
    return tooMany(blocked, clock())
  }

  return {
    async count(what, key) {
      const blocked = await counters.takeAll(what, countersOf(key, pointsOf(what)))
      if (!blocked) return
      const beyond = countersBeyond(key, pointsOf(what))
      if (beyond.length === 0 || (await counters.takeAll(what, beyond))) throw refusal(what, blocked)
    },
    async check(what, key) {
      const usedUp = counters.firstUsedUp(what, countersOf(key, pointsOf(what)))
      if (usedUp) throw refusal(what, usedUp)
    },
  }
}

/** Creates the counters of all limits in this process. */
function createCounters({ clock, shared, policies }: Omit<Setting, 'onRefusal'>) {
  const known = new Map<RateLimitName, Map<string, Window>>()
  const underWay = new Map<string, Promise<void>>()

  function windowsOf(what: RateLimitName): Map<string, Window> {
    const windows = known.get(what) ?? new Map<string, Window>()
    known.set(what, windows)
    return windows
  }

  function windowOf(what: RateLimitName, key: string): Window | undefined {
    const window = known.get(what)?.get(key)
    const now = clock()
    return window && window.expiresAt > now && window.expiresAt <= latestEndOf(policies[what], now) ? window : undefined
  }

  /** Takes a lease, or waits for a concurrent lease of the same key. */
  function lease(what: RateLimitName, counter: Counter): Promise<void> {
    const name = `${what}\0${counter.key}`
    const waiting = underWay.get(name)
    if (waiting) return waiting
    const taking = leaseAnew(what, counter, sha256(name)).finally(() => underWay.delete(name))
    underWay.set(name, taking)
    return taking
  }

  async function leaseAnew(what: RateLimitName, { key, points }: Counter, keySha256: Uint8Array): Promise<void> {
    const size = shared ? Math.max(1, Math.floor(points / leasesOfLimit)) : points
    const now = clock()
    const expiresAt = addSeconds(now, policies[what].seconds)
    const request = { keySha256, lease: size, expiresAt, latestEnd: latestEndOf(policies[what], now) }
    const { count, expiresAt: ends }: RateLimitState = shared
      ? await store.consumeRateLimit(shared, request, now)
      : { count: points, expiresAt }
    const left = Math.max(0, Math.min(size, points - (count - size)))
    remember(windowsOf(what), key, { expiresAt: ends, left, exhausted: count >= points }, now)
  }

  /** Takes one point of a counter. Returns its state if there is none left. */
  async function takeOne(what: RateLimitName, counter: Counter): Promise<Blocked | undefined> {
    for (;;) {
      const window = windowOf(what, counter.key)
      if (window && window.left > 0) return void (window.left -= 1)
      if (window?.exhausted) return { points: counter.points, expiresAt: window.expiresAt }
      await lease(what, counter)
    }
  }

  function firstUsedUp(what: RateLimitName, counters: Counter[]): Blocked | undefined {
    for (const { key, points } of counters) {
      const window = windowOf(what, key)
      if (window?.exhausted && window.left === 0) return { points, expiresAt: window.expiresAt }
    }
    return undefined
  }

  async function takeAll(what: RateLimitName, counters: Counter[]): Promise<Blocked | undefined> {
    // A request that one counter rejects is not counted in the other. A client above the limit of its network therefore
    // uses nothing of its neighbors' limit.
    const usedUp = firstUsedUp(what, counters)
    if (usedUp) return usedUp
    for (const counter of counters) {
      const blocked = await takeOne(what, counter)
      if (blocked) return blocked
    }
    return undefined
  }

  return { firstUsedUp, takeAll }
}

function latestEndOf({ seconds }: RateLimitPolicy, now: Date): Date {
  return addSeconds(now, seconds + clocksApartSecondsMax)
}

/** An exhausted counter: its limit, and when its window ends. */
type Blocked = { points: number; expiresAt: Date }

/** Stores a window, and evicts those that have ended and the oldest if there are too many. */
function remember(windows: Map<string, Window>, key: string, window: Window, now: Date): void {
  windows.delete(key)
  for (const [oldest, { expiresAt }] of windows) {
    if (expiresAt > now && windows.size < keysMax) break
    windows.delete(oldest)
  }
  windows.set(key, window)
}

function tooMany({ points, expiresAt }: Blocked, now: Date) {
  const seconds = String(Math.max(1, Math.ceil((expiresAt.getTime() - now.getTime()) / 1000)))
  return errors.rate_limited({
    headers: {
      'retry-after': seconds,
      'ratelimit-limit': String(points),
      'ratelimit-remaining': '0',
      'ratelimit-reset': seconds,
    },
  })
}

/**
 * Returns the rate limit key of a source address: IPv4 in any notation, IPv6 by its /64. `RateLimits` also counts such
 * a network under its /48.
 */
export function clientAddressKey(request: Parameters<typeof sourceAddress>[0]): string {
  const address = sourceAddress(request)
  return address.includes(':') ? `${networkOf(address)}::/64` : address
}

/** Returns the first 64 bits of an IPv6 address in the format of RFC 5952. */
function networkOf(address: string): string {
  const [head = '', tail] = address.split('::')
  const before = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? 0 : 8 - before.length - after.length
  return [...before, ...Array<string>(zeros).fill('0'), ...after].slice(0, 4).join(':')
}

/** Returns a key of bounded length for a text of any length, such as a claimed client ID. */
export function hashKey(text: string): string {
  return sha256(text).toString('base64url')
}
