import type { Worker } from 'node:cluster'
import { mergeMetrics, type MetricFamily } from './metrics.ts'

/** Merged metrics of all workers. Totals never decrease, even if a worker dies and its successor starts from zero. */
export type WorkerMetrics = {
  read: (workers: Map<number, Worker>) => Promise<MetricFamily[]>
  /** Adds the last reading of a worker that has died. */
  bury: (number: number) => void
}

const readingMilliseconds = 1000

export function createWorkerMetrics(): WorkerMetrics {
  const readings = new Map<number, MetricFamily[]>()
  let ofTheDead: MetricFamily[] = []

  return {
    async read(workers) {
      const requested = [...workers].map(async ([number, worker]) => {
        const reading = await askForMetrics(worker)
        if (reading && workers.get(number) === worker) readings.set(number, reading)
      })
      await Promise.all(requested)
      return mergeMetrics([ofTheDead, ...readings.values()])
    },
    bury(number) {
      const totals = (readings.get(number) ?? []).filter(({ type }) => type !== 'gauge')
      ofTheDead = mergeMetrics([ofTheDead, totals])
      readings.delete(number)
    },
  }
}

/** Requests the metrics of a worker. Returns undefined if it does not respond in time. */
function askForMetrics(worker: Worker): Promise<MetricFamily[] | undefined> {
  return new Promise((resolve) => {
    const late = setTimeout(done, readingMilliseconds, undefined)
    function hear(message: unknown) {
      if (isReading(message)) done(message.metrics)
    }
    function done(reading: MetricFamily[] | undefined) {
      clearTimeout(late)
      worker.off('message', hear)
      resolve(reading)
    }
    worker.on('message', hear)
    if (worker.isConnected()) worker.send('read metrics')
  })
}

function isReading(message: unknown): message is { metrics: MetricFamily[] } {
  return typeof message === 'object' && message !== null && 'metrics' in message
}
