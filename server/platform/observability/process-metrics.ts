import type { Worker } from 'node:cluster'
import { configuredProcesses, type MetricFamily, mergeMetrics, servingProcesses } from './metrics.ts'

/**
 * Merged metrics of all workers. Totals never decrease, even if a worker dies and its successor starts from zero.
 * Gauges are those of the workers that respond.
 */
export type WorkerMetrics = {
  read: (workers: Map<number, Worker>) => Promise<MetricFamily[]>
  /** Adds the last reading of a worker that has died. */
  bury: (number: number) => void
}

const readingMilliseconds = 3000

export function createWorkerMetrics(configuredCount: number): WorkerMetrics {
  const sources = new Map<number, Source>()
  // Also if no worker responds: the number of those that serve is 0 then, and not unknown.
  const ofThePrimary = [servingProcesses(0), configuredProcesses(configuredCount)]
  let ofTheDead: MetricFamily[] = []

  function sourceOf(number: number, worker: Worker): Source {
    const known = sources.get(number)
    if (known?.worker === worker) return known
    const source = followWorker(worker)
    sources.set(number, source)
    return source
  }

  return {
    async read(workers) {
      const renewed = new Set<Source>()
      const requested = [...workers].map(async ([number, worker]) => {
        const source = sourceOf(number, worker)
        if (await source.renew()) renewed.add(source)
      })
      await Promise.all(requested)
      // Read now: a worker that has died meanwhile is buried already.
      const readings = [...sources.values()].map((source) => (renewed.has(source) ? source.take() : source.totals()))
      return mergeMetrics([ofThePrimary, ofTheDead, ...readings])
    },
    bury(number) {
      ofTheDead = mergeMetrics([ofTheDead, sources.get(number)?.totals() ?? []])
      sources.delete(number)
    },
  }
}

/** The readings of a worker. */
type Source = ReturnType<typeof followWorker>

/** Keeps what a worker reports. It measures delays since its previous reading, so one that arrives late counts too. */
function followWorker(worker: Worker) {
  let latest: MetricFamily[] = []
  let maximaOfLate: MetricFamily[] = []
  let pending: PromiseWithResolvers<void> | undefined
  let waitingCount = 0
  worker.on('message', (message: unknown) => {
    if (!isReading(message)) return
    latest = message.metrics
    if (waitingCount === 0) maximaOfLate = mergeMetrics([maximaOfLate, latest.filter(isMaximum)])
    pending?.resolve()
    pending = undefined
  })

  return {
    worker,
    /** Requests a reading, unless one is due. Returns false if the worker does not respond in time. */
    async renew(): Promise<boolean> {
      if (!pending) {
        if (!worker.isConnected()) return false
        pending = Promise.withResolvers()
        worker.send('read metrics')
      }
      waitingCount += 1
      const isRenewed = await resolvesInTime(pending.promise)
      waitingCount -= 1
      return isRenewed
    },
    /** Returns the latest reading, with the maxima of those that arrived late. */
    take(): MetricFamily[] {
      const taken = mergeMetrics([latest, maximaOfLate])
      maximaOfLate = []
      return taken
    },
    totals: (): MetricFamily[] => latest.filter(({ type }) => type !== 'gauge'),
  }
}

async function resolvesInTime(promise: Promise<void>): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>()
  const timer = setTimeout(resolve, readingMilliseconds, false)
  const isInTime = await Promise.race([promise.then(() => true), late])
  clearTimeout(timer)
  return isInTime
}

function isMaximum({ type, merged }: MetricFamily): boolean {
  return type === 'gauge' && merged === 'max'
}

function isReading(message: unknown): message is { metrics: MetricFamily[] } {
  return typeof message === 'object' && message !== null && 'metrics' in message
}
