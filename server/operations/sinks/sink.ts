import { randomUUID, X509Certificate } from 'node:crypto'
import { limits } from '@countersign/protocol/formats/limits'
import type { Sink, SinkFault } from '@countersign/protocol/operations/sinks'
import { auditFieldsOf, type Operator, operatorKeyOf, operatorTransaction } from '#accounts/operators/operator-guard.ts'
import { recordAuditEvent, recordNamedEvent } from '#platform/audit/audit-log.ts'
import { readHead } from '#platform/audit/event-feed.ts'
import { findEvent } from '#platform/audit/event-list.ts'
import { defineErrors } from '#platform/api-error.ts'
import type { Database } from '#platform/database/database.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { mailChange } from './change-mail.ts'
import { deliver } from './delivery.ts'
import { createSecret, sealHeaders } from './secrets.ts'
import * as store from './store.ts'
import type { SinkRow } from './store.ts'

const errors = defineErrors({
  invalid_request: [400, 'The sink is not valid.'],
  sink_not_found: [404, 'No sink has this ID.'],
  sink_exists: [409, 'A sink has this key already.'],
  too_many_sinks: [409, `There can be at most ${limits.sinksMax} sinks.`],
  state_changed: [409, 'The sink was changed meanwhile. Read it and try again.'],
  cursor_ahead: [409, 'The cursor of a sink only moves back.'],
})

/** How long a change waits for the receiver that gets its announcement. */
const announcementMilliseconds = 5000

export async function listSinks(db: Database): Promise<Sink[]> {
  const { last } = await readHead(db)
  return (await store.listSinks(db)).map((row) => toSink(row, last))
}

/** Returns a sink. Throws `sink_not_found`. */
export async function getSink(db: Database, sinkId: string): Promise<Sink> {
  const row = await requireSink(db, sinkId)
  const { last } = await readHead(db)
  return toSink(row, last)
}

type Requested = {
  key: string
  kind: Sink['kind']
  url: string
  headers?: Record<string, string>
  caPem?: string
  actions?: string[]
}

/**
 * Adds a sink, which gets the events from now on. The answer alone contains the secret of kind http. Throws
 * `invalid_request`, `sink_exists`, `too_many_sinks` or `rate_limited`.
 */
export async function createSink(
  kernel: ServerContext,
  operator: Operator,
  { key, kind, url, headers = {}, caPem, actions = [] }: Requested,
  now: Date,
): Promise<{ sink: Sink; secret: string | null }> {
  const { db } = kernel
  requireTarget(kernel, { kind, url })
  if (caPem !== undefined) requireCertificates(caPem)
  requireHeaderless(kind, headers)
  await countChange(kernel, operator)
  const sinkId = randomUUID()
  const sealed = await sealHeaders(kernel, sinkId, headers)
  const made = kind === 'http' ? await createSecret(kernel, sinkId) : null
  await operatorTransaction(db, operator, async (tx) => {
    const { last } = await readHead(tx)
    const target = { sinkId, key, kind, url, caPem: caPem ?? null, actions }
    const row = { ...target, ...sealed, sealedSecret: made?.sealed ?? null, cursor: last }
    const outcome = await store.insertSink(tx, row, { max: limits.sinksMax, now })
    if (outcome === 'exists') throw errors.sink_exists()
    if (outcome === 'too many') throw errors.too_many_sinks()
    const details = { sinkId, key, kind, origin: originOf(url), actions }
    await recordAuditEvent(tx, { action: 'sink.created', ...auditFieldsOf(operator), details }, now)
  })
  await mailChange(kernel, key, now)
  return { sink: await getSink(db, sinkId), secret: made?.secret ?? null }
}

type Change = {
  url?: string
  headers?: Record<string, string>
  caPem?: string | null
  actions?: string[]
  status?: Sink['status']
}

/**
 * Changes a sink, after the change was sent to it. Another address or authority without headers removes them: they are
 * for the former receiver. Throws `sink_not_found`, `invalid_request`, `state_changed` or `rate_limited`.
 */
export async function updateSink(
  kernel: ServerContext,
  operator: Operator,
  { sinkId, ...change }: Change & { sinkId: string },
  now: Date,
): Promise<Sink> {
  const { db } = kernel
  const row = await requireSink(db, sinkId)
  const { url, headers, caPem, actions, status } = change
  if (url !== undefined) requireTarget(kernel, { kind: row.kind, url })
  if (typeof caPem === 'string') requireCertificates(caPem)
  if (headers) requireHeaderless(row.kind, headers)
  const isOtherReceiver =
    (url !== undefined && originOf(url) !== originOf(row.url)) || (caPem !== undefined && caPem !== row.caPem)
  const kept = headers ?? (isOtherReceiver ? {} : undefined)
  const sealed = kept && (await sealHeaders(kernel, sinkId, kept))
  const changed = Object.keys(change)
  const announced = { row, change: 'update', changed } as const
  await carryOut(kernel, operator, announced, async (tx) => {
    const fields = { url, caPem, actions, status, ...sealed }
    const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
    if (!(await store.updateSink(tx, { sinkId, version: row.version, ...given }, now))) throw errors.state_changed()
    const details = { sinkId, key: row.key, changed, origin: originOf(url ?? row.url) }
    await recordAuditEvent(tx, { action: 'sink.updated', ...auditFieldsOf(operator), details }, now)
  })
  return getSink(db, sinkId)
}

/** Removes a sink, after the change was sent to it. Throws `sink_not_found`, `state_changed` or `rate_limited`. */
export async function deleteSink(kernel: ServerContext, operator: Operator, sinkId: string, now: Date): Promise<void> {
  const row = await requireSink(kernel.db, sinkId)
  const announced = { row, change: 'delete', changed: [] } as const
  await carryOut(kernel, operator, announced, async (tx) => {
    if (!(await store.deleteSink(tx, row))) throw errors.state_changed()
    const details = { sinkId, key: row.key }
    await recordAuditEvent(tx, { action: 'sink.deleted', ...auditFieldsOf(operator), details }, now)
  })
}

/**
 * Sends the events after a place again. Throws `sink_not_found`, `cursor_ahead` for a place that the sink has not
 * reached, `state_changed` or `rate_limited`.
 */
export async function replaySink(
  kernel: ServerContext,
  operator: Operator,
  { sinkId, cursor }: { sinkId: string; cursor: number },
  now: Date,
): Promise<Sink> {
  const row = await requireSink(kernel.db, sinkId)
  if (cursor > row.cursor) throw errors.cursor_ahead()
  const announced = { row, change: 'replay', changed: [] } as const
  await carryOut(kernel, operator, announced, async (tx) => {
    if (!(await store.updateSink(tx, { sinkId, version: row.version, cursor }, now))) throw errors.state_changed()
    const details = { sinkId, key: row.key, cursor }
    await recordAuditEvent(tx, { action: 'sink.replayed', ...auditFieldsOf(operator), details }, now)
  })
  return getSink(kernel.db, sinkId)
}

/** Sends one event to a sink at once. Returns why it did not arrive. Throws `sink_not_found` or `rate_limited`. */
export async function testSink(
  kernel: ServerContext,
  operator: Operator,
  sinkId: string,
  now: Date,
): Promise<SinkFault | null> {
  const row = await requireSink(kernel.db, sinkId)
  await countChange(kernel, operator)
  const details = { sinkId, key: row.key }
  return sendAtOnce(kernel, operator, { row, action: 'sink.tested', details }, now)
}

type Announced = { row: SinkRow; change: 'update' | 'delete' | 'replay'; changed: readonly string[] }

/**
 * Carries out a change of a sink after it was sent to it, if it can be reached, and mails the owners: who takes over an
 * operator cannot silence a receiver unseen.
 */
async function carryOut(
  kernel: ServerContext,
  operator: Operator,
  { row, change, changed }: Announced,
  work: Parameters<typeof operatorTransaction<void>>[2],
): Promise<void> {
  await countChange(kernel, operator)
  const now = kernel.clock()
  const details = { sinkId: row.sinkId, key: row.key, change, changed: [...changed] }
  await sendAtOnce(kernel, operator, { row, action: 'sink.change_announced', details }, now)
  await operatorTransaction(kernel.db, operator, work)
  await mailChange(kernel, row.key, now)
}

type AtOnce = {
  row: SinkRow
  action: 'sink.tested' | 'sink.change_announced'
  details: Record<string, string | string[]>
}

/** Records an event and sends it to a sink before the others. The sink gets it again in its turn. */
async function sendAtOnce(
  kernel: ServerContext,
  operator: Operator,
  { row, action, details }: AtOnce,
  now: Date,
): Promise<SinkFault | null> {
  const { db } = kernel
  const audited = { action, ...auditFieldsOf(operator), details } as const
  const eventId = await operatorTransaction(db, operator, (tx) => recordNamedEvent(tx, audited, now))
  const event = await findEvent(db, eventId)
  if (!event) throw errors.state_changed()
  const { signal } = new AbortController()
  const fault = await deliver(kernel, row, [event], { withinMilliseconds: announcementMilliseconds, signal })
  return fault === 'interrupted' ? 'unreachable' : (fault ?? null)
}

async function requireSink(db: Database, sinkId: string): Promise<SinkRow> {
  const row = await store.findSink(db, sinkId)
  if (!row) throw errors.sink_not_found()
  return row
}

function requireTarget({ outbound }: ServerContext, target: Pick<SinkRow, 'kind' | 'url'>): void {
  const objection = outbound.sinks.objectionTo(target)
  if (objection !== undefined) throw errors.invalid_request({ sentence: `url ${objection}.` })
}

function requireHeaderless(kind: Sink['kind'], headers: Record<string, string>): void {
  if (kind === 'syslog' && Object.keys(headers).length > 0)
    throw errors.invalid_request({ sentence: 'headers are for sinks of kind http.' })
}

const [pemBegin, pemEnd] = ['-----BEGIN CERTIFICATE-----', '-----END CERTIFICATE-----']

function requireCertificates(pem: string): void {
  const parts = pem.split(pemEnd).map((part) => part.trim())
  const rest = parts.pop()
  if (rest !== '' || parts.length === 0 || !parts.every((part) => isCertificate(`${part}\n${pemEnd}`)))
    throw errors.invalid_request({ sentence: 'caPem must be certificates in PEM format.' })
}

function isCertificate(pem: string): boolean {
  try {
    return pem.startsWith(pemBegin) && new X509Certificate(pem).raw.length > 0
  } catch {
    return false
  }
}

/** The path can be a secret of the receiver. */
function originOf(url: string): string {
  return url.startsWith('tls:') ? url : new URL(url).origin
}

async function countChange({ rateLimits }: ServerContext, operator: Operator): Promise<void> {
  await rateLimits.count('sink-changes-per-operator', operatorKeyOf(operator))
}

function toSink(row: SinkRow, head: number): Sink {
  const { sinkId, key, kind, url, headerNames, caPem, actions, status, cursor, lastError } = row
  return {
    ...{ sinkId, key, kind, url, headerNames, caPem, actions, status, cursor, lastError },
    lag: Math.max(0, head - cursor),
    lastDeliveredAt: row.lastDeliveredAt?.toISOString() ?? null,
    createdAt: row.createdAt.toISOString(),
  }
}
