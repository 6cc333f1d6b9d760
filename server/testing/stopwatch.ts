const tickMilliseconds = 10
/** What counts of a longer time without a tick in which this process did no work either. */
const pauseMillisecondsMax = 50

/** Measures a time until it is disposed of. */
export type Stopwatch = Disposable & { milliseconds: () => number }

/**
 * Measures time as a process that is never stopped would: a virtual machine may stand still for seconds, which no
 * promise of the product covers. Time in which this process waits for others, or works itself, counts in full. For
 * upper bounds only: what waits for a given time may take less on this watch.
 */
export function startStopwatch(): Stopwatch {
  let counted = 0
  let seenAt = performance.now()
  let worked = workMilliseconds()
  const look = () => {
    const [now, work] = [performance.now(), workMilliseconds()]
    counted += Math.min(now - seenAt, Math.max(pauseMillisecondsMax, work - worked))
    seenAt = now
    worked = work
    return counted
  }
  const ticking = setInterval(look, tickMilliseconds)
  return { milliseconds: look, [Symbol.dispose]: () => clearInterval(ticking) }
}

/** Returns the processor time of this process. */
function workMilliseconds(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
