/** Returns the current time: the system's, or that of a test. */
export type Clock = () => Date

export const systemClock: Clock = () => new Date()

/** Before the issue time of any token: a token that is parsed at this instant is accepted even if it has expired. */
export const epoch = new Date(0)

export function addSeconds(instant: Date, seconds: number): Date {
  return new Date(instant.getTime() + seconds * 1000)
}

/** Returns the whole seconds from `now` to an instant, at least one, for Retry-After (RFC 9110 §10.2.3). */
export function secondsUntil(now: Date, instant: Date): number {
  return Math.max(1, Math.ceil((instant.getTime() - now.getTime()) / 1000))
}

export function maxDate(one: Date, other: Date): Date {
  return one < other ? other : one
}

/** Returns seconds since the epoch (RFC 7519 §2, NumericDate). */
export function toNumericDate(instant: Date): number {
  return Math.floor(instant.getTime() / 1000)
}

/** Resolves after a delay, or earlier when the signal aborts. */
export function rest(milliseconds: number, stopped: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (stopped.aborted) return resolve()
    const timer = setTimeout(done, milliseconds)
    function done() {
      clearTimeout(timer)
      stopped.removeEventListener('abort', done)
      resolve()
    }
    stopped.addEventListener('abort', done)
  })
}
