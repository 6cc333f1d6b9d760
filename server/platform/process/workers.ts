import cluster, { type Worker } from 'node:cluster'
import type { Logger } from '#platform/observability/log.ts'
import type { MetricFamily } from '#platform/observability/metrics.ts'
import { createMailRelay } from '#platform/outbound/development-inbox.ts'
import { createWorkerMetrics } from '#platform/observability/process-metrics.ts'

/** The worker processes. Stopping them completes pending requests within a time limit. */
export type Workers = {
  /** Returns the merged metrics of all workers, including those that have died. */
  readMetrics: () => Promise<MetricFamily[]>
  stop: (withinMilliseconds: number) => Promise<void>
}

/** Thrown if a worker ends before all are ready. The worker has logged the reason. */
export class WorkerExitError extends Error {
  readonly exitCode: number

  constructor(exitCode: number) {
    super('a worker ended before it was ready')
    this.exitCode = exitCode
  }
}

type WorkerPoolOptions = {
  count: number
  log: Logger
  /** Called when no worker is left and restarted ones end at once. */
  onGivingUp: (exitCode: number) => void
}

const settledMilliseconds = 10_000
const firstRestMilliseconds = 100
const longestRestMilliseconds = 5000
const earlyEndsMax = 5
const killAfterMilliseconds = 2000

/**
 * Starts the workers, which share the listening ports, and restarts those that die. The first one starts alone, so that
 * a common problem is reported once. Throws `WorkerExitError`.
 */
export async function startWorkers({ count, log, onGivingUp }: WorkerPoolOptions): Promise<Workers> {
  const living = new Map<number, Worker>()
  const ready = new Set<number>()
  let phase: 'starting' | 'serving' | 'ending' = 'starting'
  let earlyEnds = 0
  let lastExitCode = 1
  const metrics = createWorkerMetrics(count)
  const mails = createMailRelay()

  /** Resolves when the worker is ready or has ended. */
  function startWorker(number: number): Promise<void> {
    const startedAt = performance.now()
    const worker = cluster.fork({ COUNTERSIGN_WORKER: String(number) })
    living.set(number, worker)
    return new Promise((resolve) => {
      worker.on('message', (message: unknown) => {
        mails.pass(
          message,
          connectedOf(living).filter((other) => other !== worker),
        )
        if (message !== 'ready') return
        mails.introduce(worker)
        ready.add(number)
        log.info({ worker: number, pid: worker.process.pid }, 'worker ready')
        resolve()
      })
      onEnd(worker, (how) => {
        const settled = ready.delete(number) && performance.now() - startedAt > settledMilliseconds
        living.delete(number)
        metrics.bury(number)
        earlyEnds = settled ? 0 : earlyEnds + 1
        lastExitCode = how.exitCode || 1
        resolve()
        if (phase === 'serving') replace(number, how)
      })
    })
  }

  /**
   * Restarts a worker, with a delay that grows with the number of immediate ends. Gives up only when no worker is left.
   */
  function replace(number: number, how: WorkerEnd): void {
    if (earlyEnds >= earlyEndsMax && living.size === 0) {
      phase = 'ending'
      log.fatal({ worker: number, ...how }, 'workers crash-looping, giving up')
      return onGivingUp(lastExitCode)
    }
    const milliseconds = restAfter(earlyEnds)
    log.error({ worker: number, ...how, restartInMilliseconds: milliseconds }, 'worker exited')
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
    throw new WorkerExitError(lastExitCode)
  }
  phase = 'serving'
  return { readMetrics: () => metrics.read(readyOf(living, ready)), stop }
}

/** One that is starting serves nothing yet, and can miss the message that asks for its metrics. */
function readyOf(living: Map<number, Worker>, ready: Set<number>): Map<number, Worker> {
  return new Map([...living].filter(([number]) => ready.has(number)))
}

/** How a worker ended. `error` is the reason why it could not be started. */
type WorkerEnd = { exitCode: number | null; signal: string | null; error?: Error }

/**
 * Calls back when the worker has ended, or could not be started. Other errors are those of messages to a worker that
 * has died: its exit follows.
 */
function onEnd(worker: Worker, ended: (how: WorkerEnd) => void): void {
  worker.once('exit', (exitCode: number | null, signal: string | null) => ended({ exitCode, signal }))
  worker.on('error', (error: Error) => {
    if (worker.process.pid === undefined) ended({ exitCode: null, signal: null, error })
  })
}

/** A worker that is ending may have closed its channel. */
function connectedOf(workers: Map<number, Worker>): Worker[] {
  return [...workers.values()].filter((worker) => worker.isConnected())
}

/** Returns no delay after a worker that had served for a while. Otherwise the delay doubles with each immediate end. */
function restAfter(earlyEnds: number): number {
  return earlyEnds === 0 ? 0 : Math.min(longestRestMilliseconds, firstRestMilliseconds * 2 ** (earlyEnds - 1))
}

/** Ends workers, and kills those that take too long. */
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

/** Checks whether this process runs tasks that only one process per machine needs to run, such as the cleanup. */
export function isFirstProcess(): boolean {
  return cluster.isPrimary || process.env['COUNTERSIGN_WORKER'] === '1'
}

type WorkerHandle = { end: (withinMilliseconds: number) => void; readMetrics: () => Promise<MetricFamily[]> }

/**
 * Runs the worker's side: reports readiness and metrics, and ends on request. When the primary is gone, Node ends it at
 * once.
 */
export function serveAsWorker({ end, readMetrics }: WorkerHandle): void {
  function report(metrics: MetricFamily[]): void {
    if (process.connected) process.send?.({ metrics })
  }
  process.on('message', (message: unknown) => {
    if (message === 'read metrics') void readMetrics().then(report)
    if (typeof message !== 'object' || message === null || !('endWithinMilliseconds' in message)) return
    end(Number(message.endWithinMilliseconds))
  })
  process.send?.('ready')
}
