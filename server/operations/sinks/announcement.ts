import type { SinkFault } from '@countersign/protocol/operations/sinks'
import { auditFieldsOf, type Operator, operatorKeyOf, operatorTransaction } from '#accounts/operators/operator-guard.ts'
import { recordNamedEvent } from '#platform/audit/audit-log.ts'
import { findEvent } from '#platform/audit/event-list.ts'
import { defineErrors } from '#platform/api-error.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { deliver } from './delivery.ts'
import type { SinkRow } from './store.ts'

const errors = defineErrors({ state_changed: [409, 'The sink was changed meanwhile. Read it and try again.'] })

/** How long a change waits for the receiver that gets its announcement. */
const announcementMilliseconds = 5000

/** A change of a sink before it is made. */
export type Announced = {
  row: SinkRow
  change: 'update' | 'delete' | 'replay' | 'rotate_secret'
  changed: readonly string[]
}

/**
 * Sends a change to its sink before it is made, if it can be reached: who takes over an operator cannot silence a
 * receiver unseen. Runs in no transaction, since it waits for the receiver.
 */
export async function announceChange(
  kernel: ServerContext,
  operator: Operator,
  { row, change, changed }: Announced,
): Promise<void> {
  const details = { sinkId: row.sinkId, key: row.key, change, changed: [...changed] }
  await sendAtOnce(kernel, operator, { row, action: 'sink.change_announced', details }, kernel.clock())
}

type AtOnce = {
  row: SinkRow
  action: 'sink.tested' | 'sink.change_announced'
  details: Record<string, string | string[]>
}

/** Records an event and sends it to a sink before the others. The sink gets it again in its turn. */
export async function sendAtOnce(
  kernel: ServerContext,
  operator: Operator,
  { row, action, details }: AtOnce,
  now: Date,
): Promise<SinkFault | null> {
  const { db } = kernel
  const audited = { action, ...auditFieldsOf(operator), details } as const
  const eventId = await operatorTransaction(db, operator, (tx) => recordNamedEvent(tx, audited, now))
  const event = await findEvent({ ...kernel, readerKey: row.sinkId }, eventId)
  if (!event) throw errors.state_changed()
  const { signal } = new AbortController()
  const fault = await deliver(kernel, row, [event], { withinMilliseconds: announcementMilliseconds, signal })
  return fault === 'interrupted' ? 'unreachable' : (fault ?? null)
}

/** Counts a change or a test of a sink. Throws `rate_limited`. */
export async function countChange({ rateLimits }: ServerContext, operator: Operator): Promise<void> {
  await rateLimits.count('sink-changes-per-operator', operatorKeyOf(operator))
}
