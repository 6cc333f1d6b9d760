import { randomUUID } from 'node:crypto'
import { readHead } from '#platform/audit/event-feed.ts'
import { addSeconds, rest } from '#platform/clock.ts'
import { isReadOnly } from '#platform/database/database.ts'
import type { Background } from '#platform/module/define-module.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { deliver, readBatch } from './delivery.ts'
import * as store from './store.ts'
import type { SinkRow } from './store.ts'

const pollMilliseconds = 1000
const attemptMilliseconds = 15_000
/** Longer than an attempt can take. After it, the process that leased a sink has ended. */
const leaseSeconds = 60
const backOffSecondsMax = 300

/**
 * Sends the audit log to the sinks, in each process of the service. A process leases a sink; if it ends, another takes
 * over. A receiver therefore gets each event at least once, and knows it by its `entryId`.
 */
export function startSinkSender(kernel: ServerContext): Background {
  const { db, clock, log } = kernel
  const stopped = new AbortController()
  const underWay = new Set<Promise<void>>()

  async function sendDue(): Promise<void> {
    for (;;) {
      const [leaseId, now] = [randomUUID(), clock()]
      const sink = await store.leaseDue(db, { leaseId, now, leaseEndsAt: addSeconds(now, leaseSeconds) })
      if (!sink) return
      // Another process may send to it at once.
      if (stopped.signal.aborted) return store.release(db, { ...sink, leaseId })
      const sending = sendAll(kernel, sink, leaseId, stopped.signal)
        .catch((error: unknown) => log.warn({ error, sink: sink.key }, 'sending to a sink failed'))
        .finally(() => underWay.delete(sending))
      underWay.add(sending)
    }
  }

  const running = (async () => {
    while (!stopped.signal.aborted) {
      await sendDue().catch((error: unknown) => {
        // A read-only database stays readable, and its log does not grow.
        if (!isReadOnly(error)) log.warn({ error }, 'sinks could not be leased')
      })
      await rest(pollMilliseconds, stopped.signal)
    }
  })()
  return {
    async stop() {
      stopped.abort()
      await running
      await Promise.all(underWay)
    },
  }
}

/** Sends events to a leased sink until it has all, an attempt fails, the sink is changed or the process stops. */
async function sendAll(kernel: ServerContext, sink: SinkRow, leaseId: string, signal: AbortSignal): Promise<void> {
  const { db, clock } = kernel
  const held = { ...sink, leaseId }
  let { cursor, failures } = sink
  while (!signal.aborted) {
    const { last, pruned } = await readHead(db)
    const after = Math.max(cursor, pruned)
    const { events, upTo } = await readBatch(kernel, sink, { after, to: Math.max(after, last) })
    if (upTo === cursor) break
    const [first, ...others] = events
    if (first) {
      const error = await deliver(kernel, sink, [first, ...others], { withinMilliseconds: attemptMilliseconds, signal })
      if (error === 'interrupted') break
      const seconds = Math.min(2 ** failures, backOffSecondsMax)
      if (error) return store.release(db, held, { error, nextAttemptAt: addSeconds(clock(), seconds) })
      failures = 0
    }
    const leaseEndsAt = addSeconds(clock(), leaseSeconds)
    const moved = { cursor: upTo, deliveredAt: first && clock(), leaseEndsAt }
    if (!(await store.advance(db, held, moved))) break
    cursor = upTo
  }
  await store.release(db, held)
}
