import type { FastifyRequest } from 'fastify'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { refusals } from './refusal.ts'
import { sha256 } from './digest.ts'

/** The limits of completions §8: so many in so many seconds, for each source address unless said otherwise. */
const limited = {
  'register start': { points: 10, seconds: 60 },
  'sign-in start': { points: 60, seconds: 60 },
  'failed sign-in': { points: 20, seconds: 60 },
  'failed client authentication': { points: 30, seconds: 60 },
  'failed authentication of a client': { points: 60, seconds: 60 },
  'failed redemption of a client': { points: 60, seconds: 60 },
  metadata: { points: 600, seconds: 60 },
} as const
export type Limited = keyof typeof limited

const refuse = refusals({ rate_limited: [429, 'Too many attempts. Wait a little and try again.'] })

export type RateLimits = {
  /** Counts one more; refuses `rate_limited` past the limit. */
  count: (what: Limited, key: string) => Promise<void>
  /** Refuses `rate_limited` where the limit has been reached, and counts nothing. */
  check: (what: Limited, key: string) => Promise<void>
}

/**
 * Rate limits of this process. Where success is authenticated only failures are counted (`check` before, `count`
 * after), so that a busy honest client is never limited.
 */
export function createRateLimits(enabled: boolean): RateLimits {
  if (!enabled) return { count: async () => {}, check: async () => {} }
  const limiters = new Map(
    Object.entries(limited).map(([what, { points, seconds }]) => [
      what,
      new RateLimiterMemory({ keyPrefix: what, points, duration: seconds }),
    ]),
  )
  const limiterOf = (what: Limited) => {
    const limiter = limiters.get(what)
    if (!limiter) throw new Error(`no rate limit is named ${what}`)
    return limiter
  }
  return {
    async count(what, key) {
      try {
        await limiterOf(what).consume(key)
      } catch (reached) {
        if (reached instanceof RateLimiterRes) throw tooMany(what, reached)
        throw reached
      }
    },
    async check(what, key) {
      const state = await limiterOf(what).get(key)
      if (state && state.consumedPoints >= limited[what].points) throw tooMany(what, state)
    },
  }
}

function tooMany(what: Limited, { msBeforeNext }: RateLimiterRes) {
  const seconds = String(Math.max(1, Math.ceil(msBeforeNext / 1000)))
  return refuse.rate_limited({
    headers: {
      'retry-after': seconds,
      'ratelimit-limit': String(limited[what].points),
      'ratelimit-remaining': '0',
      'ratelimit-reset': seconds,
    },
  })
}

/** Whom a limit counts for: the source address, IPv6 by its /64 and IPv4 however it is written. */
export function addressKey(request: Pick<FastifyRequest, 'ip'>): string {
  const address = request.ip.toLowerCase()
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(address)?.[1]
  if (mapped) return mapped
  return address.includes(':') ? networkOf(address) : address
}

/** The first 64 bits of an IPv6 address. */
function networkOf(address: string): string {
  const [head = '', tail] = (address.split('%')[0] ?? '').split('::')
  const before = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? 0 : 8 - before.length - after.length
  const groups = [...before, ...Array<string>(Math.max(0, zeros)).fill('0'), ...after]
  return groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')
}

/** A key for a limit that counts by a text of unbounded length, such as a client id that someone claims. */
export function textKey(text: string): string {
  return sha256(text).toString('base64url')
}
