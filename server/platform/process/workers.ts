import cluster, { type Worker } from 'node:cluster'
import type { Logger } from '#platform/observability/log.ts'
import type { Family } from '#platform/observability/metrics.ts'
import { createWorkerMetrics } from '#platform/observability/worker-metrics.ts'

/** The worker processes, and how they are stopped: they answer what was asked, but wait no longer than this. */
export type Workers = {
  /** What they have measured together, those that have died included. */
  readMetrics: () => Promise<Family[]>
  stop: (withinMilliseconds: number) => Promise<void>
}

/** A worker that ended before all of them were ready. It has said why itself. */
export class WorkerEnded extends Error {
  readonly exitCode: number

  constructor(exitCode: number) {
    super('a worker ended before it was ready')
    this.exitCode = exitCode
  }
}

type Crew = {
  count: number
  log: Logger
  /** Called when no worker is left, and those that are started end at once. */
  onGivingUp: (exitCode: number) => void
}

const settledMilliseconds = 10_000
const firstRestMilliseconds = 100
const longestRestMilliseconds = 5000
const earlyEndsMax = 5
const killAfterMilliseconds = 2000

/**
 * Starts the workers, which share the listening ports, and another for each that dies. The first one goes before the
 * others, so that what stands in the way of all is said once. Throws `WorkerEnded`.
 */
export async function startWorkers({ count, log, onGivingUp }: Crew): Promise<Workers> {
  const living = new Map<number, Worker>()
  const ready = new Set<number>()
  let phase: 'starting' | 'serving' | 'ending' = 'starting'
  let earlyEnds = 0
  let lastExitCode = 1
  const metrics = createWorkerMetrics()

  /** Resolves when the worker is ready, or has ended. */
  function startWorker(number: number): Promise<void> {
    const startedAt = performance.now()
    const worker = cluster.fork({ COUNTERSIGN_WORKER: String(number) })
    living.set(number, worker)
    return new Promise((resolve) => {
      worker.on('message', (message: unknown) => {
        if (message !== 'ready') return
        ready.add(number)
        log.info({ worker: number, pid: worker.process.pid }, 'a worker is ready')
        resolve()
      })
      worker.once('exit', (code: number | null, signal: string | null) => {
        const settled = ready.delete(number) && performance.now() - startedAt > settledMilliseconds
        living.delete(number)
        metrics.bury(number)
        earlyEnds = settled ? 0 : earlyEnds + 1
        lastExitCode = code || 1
        resolve()
        if (phase === 'serving') replace(number, { code, signal })
      })
    })
  }

  /** Starts a worker anew, later the more of them ended at once. Gives up only when nobody is left to serve. */
  function replace(number: number, how: { code: number | null; signal: string | null }): void {
    if (earlyEnds >= earlyEndsMax && living.size === 0) {
      phase = 'ending'
      log.fatal({ worker: number, ...how }, 'the workers end as soon as they are started')
      return onGivingUp(lastExitCode)
    }
    const milliseconds = restAfter(earlyEnds)
    log.error({ worker: number, ...how, restartInMilliseconds: milliseconds }, 'a worker has died')
    setTimeout(() => {
      if (phase === 'serving') void startWorker(number)
    }, milliseconds)
  }

  async function stop(withinMilliseconds: number): Promise<void> {
    phase = 'ending'
    await endWorkers([...living.values()], withinMilliseconds)
  }

  const numbers = Array.from({ length: count }, (_, index) => index + 1)
  await startWorker(1)
  if (ready.has(1)) await Promise.all(numbers.slice(1).map(startWorker))
  if (ready.size < count) {
    await stop(0)
    throw new WorkerEnded(lastExitCode)
  }
  phase = 'serving'
  return { readMetrics: () => metrics.read(living), stop }
}

/** None after one that had served for a while; else the longer the more of them ended at once. */
function restAfter(earlyEnds: number): number {
  return earlyEnds === 0 ? 0 : Math.min(longestRestMilliseconds, firstRestMilliseconds * 2 ** (earlyEnds - 1))
}

/** Ends them, and kills whoever is not done in time. */
async function endWorkers(workers: Worker[], withinMilliseconds: number): Promise<void> {
  const late = setTimeout(
    () => workers.forEach((worker) => worker.process.kill('SIGKILL')),
    withinMilliseconds + killAfterMilliseconds,
  )
  await Promise.all(workers.map((worker) => endWorker(worker, withinMilliseconds)))
  clearTimeout(late)
}

function endWorker(worker: Worker, withinMilliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    worker.once('exit', () => resolve())
    if (worker.isConnected()) worker.send({ endWithinMilliseconds: withinMilliseconds })
  })
}

/** Whether this process runs what only one of a machine's processes needs to run, such as sweeping. */
export function isFirstProcess(): boolean {
  return cluster.isPrimary || process.env['COUNTERSIGN_WORKER'] === '1'
}

type Worked = { end: (withinMilliseconds: number) => void; readMetrics: () => Family[] }

/**
 * The worker's side: says that it serves, what it has measured, and ends when it is told to. When the primary is gone,
 * Node ends it at once.
 */
export function serveAsWorker({ end, readMetrics }: Worked): void {
  process.on('message', (message: unknown) => {
    if (message === 'read metrics') process.send?.({ metrics: readMetrics() })
    if (typeof message !== 'object' || message === null || !('endWithinMilliseconds' in message)) return
    end(Number(message.endWithinMilliseconds))
  })
  process.send?.('ready')
}
