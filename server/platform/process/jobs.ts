import type { CleanupTask, MaintenanceTask, Module } from '#platform/module/define-module.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { rest } from '#platform/clock.ts'

/** Initial and maximum number of rows per statement, and the maximum time for which a statement may hold locks. */
const batchMin = 500
const batchMax = 20_000
const statementMilliseconds = 50
/** Maximum time of one cleanup task before the others get their turn. */
const turnMilliseconds = 10_000
const restMilliseconds = 30_000
const busyDelayMs = 10

type TaskModule = Pick<Module<never>, 'name' | 'cleanupTasks' | 'maintenanceTasks'>

export type Jobs = { stop: () => Promise<void> }

/**
 * Runs the cleanup tasks in batches so small that no request waits for them. A task that fills its batch is repeated
 * with a batch that grows while it is quick, so that rows are deleted faster than they are added. When nothing is left,
 * the jobs pause. Maintenance tasks run first. Failures are logged and retried after the pause.
 */
export function startJobs(kernel: ServerContext, modules: readonly TaskModule[]): Jobs {
  const { db, clock, log } = kernel
  const maintenanceTasks = modules.flatMap(({ maintenanceTasks: tasks = {} }) => Object.entries(tasks))
  const cleanupTasks = modules.flatMap(({ cleanupTasks: tasks = {} }) => Object.entries(tasks))
  const stopped = new AbortController()
  const running = (async () => {
    while (!stopped.signal.aborted) {
      await runMaintenanceTasks(kernel, maintenanceTasks, clock())
      const full = await runCleanupBatch({ db, clock, log }, cleanupTasks, stopped.signal)
      await rest(full ? busyDelayMs : restMilliseconds, stopped.signal)
    }
  })()
  return {
    async stop() {
      stopped.abort()
      await running
    },
  }
}

async function runMaintenanceTasks(
  kernel: ServerContext,
  tasks: [name: string, perform: MaintenanceTask][],
  now: Date,
): Promise<void> {
  for (const [task, perform] of tasks) {
    try {
      await perform(kernel, now)
    } catch (error) {
      kernel.log.warn({ error, task }, 'maintenance task failed')
    }
  }
}

type CleanupContext = Pick<ServerContext, 'db' | 'clock' | 'log'>

/** Runs each cleanup task in turn. Returns true if any of them has more rows to delete. */
async function runCleanupBatch(
  { db, clock, log }: CleanupContext,
  tasks: [name: string, deleteBatch: CleanupTask][],
  stopped: AbortSignal,
): Promise<boolean> {
  let full = false
  for (const [task, deleteBatch] of tasks) {
    try {
      full = (await repeatCleanup((batch) => deleteBatch(db, clock(), batch), stopped)) || full
    } catch (error) {
      log.warn({ error, task }, 'cleanup task failed')
    }
  }
  return full
}

/** Repeats a cleanup task until a batch is not full or its turn is over. Returns true if more rows are left. */
async function repeatCleanup(deleteBatch: (batch: number) => Promise<number>, stopped: AbortSignal): Promise<boolean> {
  const turnEndsAt = performance.now() + turnMilliseconds
  for (let batch = batchMin; !stopped.aborted;) {
    const startedAt = performance.now()
    if ((await deleteBatch(batch)) < batch) return false
    const endedAt = performance.now()
    if (endedAt >= turnEndsAt) return true
    // Goes halfway to the batch that would just fit the time, because one slow statement alone says little.
    const fitting = (batch * statementMilliseconds) / (endedAt - startedAt)
    batch = Math.round(Math.min(batchMax, Math.max(batchMin, (batch + fitting) / 2)))
    // Pauses as long as the statement took: on the single connection of the embedded database, requests get half of the
    // time.
    await rest(Math.max(busyDelayMs, endedAt - startedAt), stopped)
  }
  return true
}
