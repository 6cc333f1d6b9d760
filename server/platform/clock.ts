/** Where the present instant comes from: the system's clock, or one that a test turns. */
export type Clock = () => Date

export const systemClock: Clock = () => new Date()

/** Before every token of ours: what it is read at counts, whether or not it has ended. */
export const beforeAnyExpiry = new Date(0)

export function secondsAfter(instant: Date, seconds: number): Date {
  return new Date(instant.getTime() + seconds * 1000)
}

/** Whole seconds from `now` to an instant, at least one: what Retry-After says (RFC 9110 §10.2.3). */
export function secondsUntil(now: Date, instant: Date): number {
  return Math.max(1, Math.ceil((instant.getTime() - now.getTime()) / 1000))
}

export function laterOf(one: Date, other: Date): Date {
  return one < other ? other : one
}

/** Seconds since the epoch, as JWTs count (RFC 7519 §2, NumericDate). */
export function numericDate(instant: Date): number {
  return Math.floor(instant.getTime() / 1000)
}
