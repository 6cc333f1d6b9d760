/** After each attempt that failed, how long until the next: three days in all, as Standard Webhooks suggests. */
const retrySeconds = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]
/** By how much of it at most a wait is lengthened, so that a receiver that comes back is not overrun. */
const jitter = 0.2
/** Nobody puts an attempt off for longer than the last wait is. */
const askedSecondsMax = 86_400

/**
 * For how long a delivery rests after an attempt that failed, counted from 1; `undefined` where that was the last. A
 * receiver that is busy (RFC 9110 §10.2.3) may ask for more than we would have waited, never for less.
 */
export function restAfter(attempt: number, retryAfter: string | undefined, now: Date): number | undefined {
  const seconds = retrySeconds[attempt - 1]
  if (seconds === undefined) return undefined
  const asked = Math.min(secondsAsked(retryAfter, now), askedSecondsMax)
  return Math.max(seconds, asked) * (1 + Math.random() * jitter)
}

/** `Retry-After` is a number of seconds, or a date; 0 where it is neither. */
function secondsAsked(retryAfter: string | undefined, now: Date): number {
  if (retryAfter === undefined) return 0
  if (/^\d+$/.test(retryAfter)) return Number(retryAfter)
  const at = Date.parse(retryAfter)
  return Number.isNaN(at) ? 0 : (at - now.getTime()) / 1000
}
