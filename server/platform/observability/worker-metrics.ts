import type { Worker } from 'node:cluster'
import { mergeFamilies, type Family } from './metrics.ts'

/** What workers have measured together. Their totals never fall, though a worker dies and its own begin anew. */
export type WorkerMetrics = {
  read: (workers: Map<number, Worker>) => Promise<Family[]>
  /** Adds what a worker that has died had counted when it was last read. */
  bury: (number: number) => void
}

const readingMilliseconds = 1000

export function createWorkerMetrics(): WorkerMetrics {
  const readings = new Map<number, Family[]>()
  let ofTheDead: Family[] = []

  return {
    async read(workers) {
      const asked = [...workers].map(async ([number, worker]) => {
        const reading = await askForMetrics(worker)
        if (reading && workers.get(number) === worker) readings.set(number, reading)
      })
      await Promise.all(asked)
      return mergeFamilies([ofTheDead, ...readings.values()])
    },
    bury(number) {
      const totals = (readings.get(number) ?? []).filter(({ type }) => type !== 'gauge')
      ofTheDead = mergeFamilies([ofTheDead, totals])
      readings.delete(number)
    },
  }
}

/** What a worker has measured; undefined where it doesn't say in time. */
function askForMetrics(worker: Worker): Promise<Family[] | undefined> {
  return new Promise((resolve) => {
    const late = setTimeout(done, readingMilliseconds, undefined)
    function hear(message: unknown) {
      if (isReading(message)) done(message.metrics)
    }
    function done(reading: Family[] | undefined) {
      clearTimeout(late)
      worker.off('message', hear)
      resolve(reading)
    }
    worker.on('message', hear)
    if (worker.isConnected()) worker.send('read metrics')
  })
}

function isReading(message: unknown): message is { metrics: Family[] } {
  return typeof message === 'object' && message !== null && 'metrics' in message
}
