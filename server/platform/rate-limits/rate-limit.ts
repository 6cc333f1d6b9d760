import { secondsAfter, type Clock } from '#platform/clock.ts'
import type { Prepared } from '#platform/database/database.ts'
import { sha256 } from '#platform/crypto/digest.ts'
import { countersBeyond, countersOf, type Counter, type Key, type PersonKey } from './rate-limit-key.ts'
import * as store from './store.ts'
import type { Taken } from './store.ts'
import { refusals, type Refusal } from '#platform/refusal.ts'
import { sourceAddress } from '#platform/http/source-address.ts'

/** The limits of completions §8: so many in so many seconds, for each source address unless said otherwise. */
export const limited = {
  'register start': { points: 10, seconds: 60 },
  'sign-in start': { points: 60, seconds: 60 },
  'failed sign-in': { points: 20, seconds: 60 },
  'passkey lookup': { points: 60, seconds: 60 },
  'failed recovery': { points: 20, seconds: 3600 },
  'failed client authentication': { points: 30, seconds: 60 },
  'failed authentication of a client': { points: 60, seconds: 60 },
  // So many that it takes a hundred networks to turn the `invalid_client` of others into a 429.
  'failed authentication of a client from anywhere': { points: 6000, seconds: 60 },
  'failed redemption of a client': { points: 60, seconds: 60 },
  'pushed request without a secret': { points: 60, seconds: 60 },
  'sign-in with a proof': { points: 600, seconds: 60 },
  'pushed request of a client': { points: 600, seconds: 60 },
  'mail to an address': { points: 10, seconds: 24 * 3600 },
  'mail for a person': { points: 20, seconds: 24 * 3600 },
  'change of a person': { points: 1200, seconds: 3600 },
  'profile change of a person': { points: 60, seconds: 3600 },
  'reserved handle of a person': { points: 10, seconds: 24 * 3600 },
  'reauthentication of a person': { points: 60, seconds: 3600 },
  'account export of a person': { points: 6, seconds: 3600 },
  'signing key rotation of an identity': { points: 10, seconds: 24 * 3600 },
  'signing request of an app to one signer': { points: 600, seconds: 3600 },
  'signing request of an unconnected app to one signer': { points: 20, seconds: 3600 },
  'signing request of unconnected apps to one signer': { points: 600, seconds: 3600 },
  'app change of a person': { points: 60, seconds: 3600 },
  'webhook test of an app': { points: 10, seconds: 3600 },
  'signature verification': { points: 300, seconds: 60 },
  'public signing key': { points: 300, seconds: 60 },
  'public encryption key': { points: 300, seconds: 60 },
  'demonstration of signing': { points: 20, seconds: 60 },
  'device approval of a person': { points: 20, seconds: 3600 },
  'app lookup': { points: 60, seconds: 60 },
  'app lookup in an app': { points: 600, seconds: 60 },
  metadata: { points: 600, seconds: 60 },
  'document of a client': { points: 30, seconds: 60 },
  'new organization of a person': { points: 20, seconds: 24 * 3600 },
  'sso start': { points: 30, seconds: 60 },
  // An answer is read before it is known whose it is, which takes up to ten milliseconds.
  'saml answer': { points: 60, seconds: 60 },
  // Each part that its provider has signed takes up to fifty, and anybody can have an organization with a provider.
  'signed saml answer of an organization': { points: 600, seconds: 60 },
  'sso discovery': { points: 30, seconds: 60 },
  'recorded sso failure of a connection': { points: 20, seconds: 3600 },
  'sso connection of an organization': { points: 30, seconds: 3600 },
  'organization key of an organization': { points: 30, seconds: 3600 },
  'organization key for a member': { points: 120, seconds: 3600 },
  'kms of an organization': { points: 30, seconds: 3600 },
  'failed provisioning': { points: 30, seconds: 60 },
  'provisioning of a connection': { points: 3000, seconds: 60 },
  'domain claim of an organization': { points: 100, seconds: 3600 },
  'domain check': { points: 30, seconds: 60 },
  'domain check of an organization': { points: 10, seconds: 3600 },
  'invitation of a person': { points: 100, seconds: 24 * 3600 },
  'federated accounts of a session': { points: 120, seconds: 60 },
  'federated sign-in of a session': { points: 30, seconds: 60 },
  'described app of a person': { points: 60, seconds: 3600 },
} as const
export type Limited = keyof typeof limited

/** What counts for a person: by what they act, so that no stolen session uses up what they may. */
type OfPerson = Extract<Limited, `${string} ${'of' | 'for'} a person`>
type KeyOf<What extends Limited> = What extends OfPerson ? PersonKey : Key

/** Other numbers of points than those above, as the operator has set them. */
export type RateLimitNumbers = Partial<Record<Limited, number>>

const refuse = refusals({ rate_limited: [429, 'Too many attempts. Wait a little and try again.'] })

export type RateLimits = {
  /** Counts one more; refuses `rate_limited` past the limit. */
  count: <What extends Limited>(what: What, key: KeyOf<What>) => Promise<void>
  /** Refuses `rate_limited` where the limit is known to have been reached; asks nobody and counts nothing. */
  check: (what: Limited, key: string) => Promise<void>
}

/** Where nothing is limited. */
export const noRateLimits: RateLimits = { count: async () => {}, check: async () => {} }

type Setting = {
  clock: Clock
  /** The database that processes share their counts in; undefined where this process is alone. */
  shared: Prepared | undefined
  numbers?: RateLimitNumbers
  /** Told of each refusal. */
  onRefusal?: (what: Limited) => void
}

/** What this process knows of a key in its present window. */
type Window = {
  endsAt: Date
  /** How many this process may still let pass without asking. */
  left: number
  /** Whether everything has been taken, here or by another process. */
  exhausted: boolean
}

/**
 * How many keys of one limit are remembered. The one whose window is the oldest gives way; where counts are shared, the
 * database still knows it.
 */
const keysMax = 20_000
/** A process that shares takes at most this part of a limit at a time. */
const leasesOfLimit = 20
/** How far the clocks of two processes may be apart. */
const clocksApartSecondsMax = 300

/**
 * Rate limits with fixed windows. Where success is authenticated only failures are counted (`check` before, `count`
 * after), so that a busy honest client is never limited.
 *
 * A process alone takes a whole limit at once. Processes that share take theirs from the database in small leases: all
 * of them together never let more pass than the limit, and one may refuse early by what the others have leased and not
 * used. Of a limit below 40 a lease is one, so that there the count is exact. While the database is away nothing can
 * be leased, and what is counted fails as any other request does: 503.
 *
 * A window that ends later than any that was opened by now was opened by a clock that ran ahead. It counts for nothing,
 * or it would keep its key out until the right clock has come so far.
 */
export function createRateLimits({ clock, shared, numbers = {}, onRefusal }: Setting): RateLimits {
  const counters = createCounters({ clock, shared })
  const pointsOf = (what: Limited) => numbers[what] ?? limited[what].points

  function refusal(what: Limited, blocked: Blocked): Refusal {
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

/** What this process knows of the counters of all limits. */
function createCounters({ clock, shared }: Pick<Setting, 'clock' | 'shared'>) {
  const known = new Map<Limited, Map<string, Window>>()
  const underWay = new Map<string, Promise<void>>()

  function windowsOf(what: Limited): Map<string, Window> {
    const windows = known.get(what) ?? new Map<string, Window>()
    known.set(what, windows)
    return windows
  }

  function windowOf(what: Limited, key: string): Window | undefined {
    const window = known.get(what)?.get(key)
    const now = clock()
    return window && window.endsAt > now && window.endsAt <= latestEndOf(what, now) ? window : undefined
  }

  /** Takes a lease, or waits for the one that is being taken for the same key. */
  function lease(what: Limited, counter: Counter): Promise<void> {
    const name = `${what}\0${counter.key}`
    const waiting = underWay.get(name)
    if (waiting) return waiting
    const taking = leaseAnew(what, counter, sha256(name)).finally(() => underWay.delete(name))
    underWay.set(name, taking)
    return taking
  }

  async function leaseAnew(what: Limited, { key, points }: Counter, keySha256: Uint8Array): Promise<void> {
    const size = shared ? Math.max(1, Math.floor(points / leasesOfLimit)) : points
    const now = clock()
    const endsAt = secondsAfter(now, limited[what].seconds)
    const { taken, endsAt: ends }: Taken = shared
      ? await store.takeRateLimit(shared, { keySha256, lease: size, endsAt, latestEnd: latestEndOf(what, now) }, now)
      : { taken: points, endsAt }
    const left = Math.max(0, Math.min(size, points - (taken - size)))
    remember(windowsOf(what), key, { endsAt: ends, left, exhausted: taken >= points }, now)
  }

  /** Takes one of a counter; answers what is known of it where there is none left. */
  async function takeOne(what: Limited, counter: Counter): Promise<Blocked | undefined> {
    for (;;) {
      const window = windowOf(what, counter.key)
      if (window && window.left > 0) return void (window.left -= 1)
      if (window?.exhausted) return { points: counter.points, endsAt: window.endsAt }
      await lease(what, counter)
    }
  }

  function firstUsedUp(what: Limited, counters: Counter[]): Blocked | undefined {
    for (const { key, points } of counters) {
      const window = windowOf(what, key)
      if (window?.exhausted && window.left === 0) return { points, endsAt: window.endsAt }
    }
    return undefined
  }

  async function takeAll(what: Limited, counters: Counter[]): Promise<Blocked | undefined> {
    // What the wide counter refuses is not counted in the narrow one, nor the other way round: who is past the limit
    // of their own network takes nothing from their neighbors.
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

function latestEndOf(what: Limited, now: Date): Date {
  return secondsAfter(now, limited[what].seconds + clocksApartSecondsMax)
}

/** A counter that has none left: its number, and when its window ends. */
type Blocked = { points: number; endsAt: Date }

/** Keeps a window in place of those that have ended, and of the oldest where there are too many. */
function remember(windows: Map<string, Window>, key: string, window: Window, now: Date): void {
  windows.delete(key)
  for (const [oldest, { endsAt }] of windows) {
    if (endsAt > now && windows.size < keysMax) break
    windows.delete(oldest)
  }
  windows.set(key, window)
}

function tooMany({ points, endsAt }: Blocked, now: Date) {
  const seconds = String(Math.max(1, Math.ceil((endsAt.getTime() - now.getTime()) / 1000)))
  return refuse.rate_limited({
    headers: {
      'retry-after': seconds,
      'ratelimit-limit': String(points),
      'ratelimit-remaining': '0',
      'ratelimit-reset': seconds,
    },
  })
}

/**
 * Whom a limit counts for: the source address, IPv4 however it is written, and IPv6 by its /64. What is counted under
 * such a network is counted under its /48 as well, by `RateLimits` itself.
 */
export function addressKey(request: Parameters<typeof sourceAddress>[0]): string {
  const address = sourceAddress(request)
  return address.includes(':') ? `${networkOf(address)}::/64` : address
}

/** The first 64 bits of an IPv6 address as RFC 5952 writes it. */
function networkOf(address: string): string {
  const [head = '', tail] = address.split('::')
  const before = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? 0 : 8 - before.length - after.length
  return [...before, ...Array<string>(zeros).fill('0'), ...after].slice(0, 4).join(':')
}

/** A key for a limit that counts by a text of unbounded length, such as a client id that someone claims. */
export function textKey(text: string): string {
  return sha256(text).toString('base64url')
}
