import assert from 'node:assert/strict'
import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import { test, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { createMetrics, type MetricFamily } from '#platform/observability/metrics.ts'
import { createWorkerMetrics } from '#platform/observability/process-metrics.ts'
import { serveAsWorker } from '#platform/process/workers.ts'

if (cluster.isWorker) await runAsWorker()
else {
  test('gauges are those of the workers that respond, and totals those of all', async (t) => {
    const [first, second] = [await startWorker(t), await startWorker(t)]
    const workers = new Map([first, second].map((worker, index) => [index + 1, worker]))
    const metrics = createWorkerMetrics(2)
    const before = await metrics.read(workers)
    assert.equal(valueOf(before, serving), 2)

    second.process.kill('SIGSTOP')
    const during = await metrics.read(workers)
    assert.equal(valueOf(during, serving), 1)
    assert.equal(valueOf(during, 'countersign_worker_processes_configured'), 2)
    assert.ok(valueOf(during, memory) < valueOf(before, memory) * 0.75)
    assert.ok(valueOf(during, processorTime) >= valueOf(before, processorTime))

    first.process.kill('SIGKILL')
    await once(first, 'exit')
    workers.delete(1)
    metrics.bury(1)
    const after = await metrics.read(workers)
    assert.equal(valueOf(after, serving), 0)
    assert.equal(valueOf(after, 'countersign_worker_processes_configured'), 2)
    assert.equal(
      after.find(({ name }) => name === 'countersign_build_info'),
      undefined,
    )
    assert.ok(valueOf(after, processorTime) >= valueOf(during, processorTime))
  })

  test('the delay of a worker that answers too late is reported when it responds again', async (t) => {
    const worker = await startWorker(t)
    const workers = new Map([[1, worker]])
    const metrics = createWorkerMetrics(1)
    worker.process.kill('SIGSTOP')
    for (let scrape = 0; scrape < 2; scrape += 1) assert.equal(valueOf(await metrics.read(workers), serving), 0)
    const late = once(worker, 'message')
    worker.process.kill('SIGCONT')
    await late
    const after = await metrics.read(workers)
    assert.equal(valueOf(after, serving), 1)
    assert.ok(valueOf(after, 'countersign_event_loop_delay_max_seconds') >= 1.5)
  })
}

const serving = 'countersign_worker_processes'
const memory = 'process_resident_memory_bytes'
const processorTime = 'process_cpu_seconds_total'

/** Returns the value of a metric without labels. */
function valueOf(families: MetricFamily[], name: string): number {
  const [, value] = families.find((family) => family.name === name)?.samples[0] ?? []
  assert.ok(value !== undefined, name)
  return value
}

/** Starts this file as a worker. */
async function startWorker(t: TestContext): Promise<Worker> {
  cluster.setupPrimary({ exec: import.meta.filename, execArgv: [], cwd: process.cwd() })
  const worker = cluster.fork()
  t.after(() => void worker.process.kill('SIGKILL'))
  await once(worker, 'message')
  return worker
}

async function runAsWorker(): Promise<void> {
  const metrics = createMetrics(() => ({ open: 0, idle: 0, waiting: 0 }))
  // The first tick of the timer of delays, which is due before, begins to measure.
  await pause(100)
  serveAsWorker({ end: () => process.exit(0), readMetrics: metrics.read })
}
