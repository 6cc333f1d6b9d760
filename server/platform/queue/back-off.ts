/** Delays after failed attempts, three days in total, as Standard Webhooks suggests. */
const retrySeconds = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]
/** Maximum random extension of a delay, so that a receiver that recovers is not overloaded. */
const jitter = 0.2
/** Maximum delay by `Retry-After`, equal to the last delay. */
const requestedSecondsMax = 86_400

/**
 * Returns the delay after a failed attempt, counted from 1, or undefined after the last one. A busy receiver (RFC 9110
 * §10.2.3) can extend the delay, but not shorten it.
 */
export function nextRetryDelay(attempt: number, retryAfter: string | undefined, now: Date): number | undefined {
  const seconds = retrySeconds[attempt - 1]
  if (seconds === undefined) return undefined
  const requested = Math.min(requestedSeconds(retryAfter, now), requestedSecondsMax)
  return Math.max(seconds, requested) * (1 + Math.random() * jitter)
}

/** Parses `Retry-After`, a number of seconds or a date. Returns 0 for other text. */
function requestedSeconds(retryAfter: string | undefined, now: Date): number {
  if (retryAfter === undefined) return 0
  if (/^\d+$/.test(retryAfter)) return Number(retryAfter)
  const at = Date.parse(retryAfter)
  return Number.isNaN(at) ? 0 : (at - now.getTime()) / 1000
}
