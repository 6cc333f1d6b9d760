import { randomUUID, X509Certificate } from 'node:crypto'
import { limits } from '@countersign/protocol/formats/limits'
import type { Sink, SinkFault } from '@countersign/protocol/operations/sinks'
import { auditFieldsOf, type Operator, operatorTransaction } from '#accounts/operators/operator-guard.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { readHead } from '#platform/audit/event-feed.ts'
import { defineErrors } from '#platform/api-error.ts'
import { addSeconds } from '#platform/clock.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { type Announced, announceChange, countChange, sendAtOnce } from './announcement.ts'
import { mailChange } from './change-mail.ts'
import { createSecret, sealHeaders } from './secrets.ts'
import * as store from './store.ts'
import type { SinkRow } from './store.ts'

export type { SinkRow }

const errors = defineErrors({
  invalid_request: [400, 'The sink is not valid.'],
  sink_not_found: [404, 'No sink has this ID.'],
  sink_exists: [409, 'A sink has this key already.'],
  too_many_sinks: [409, `There can be at most ${limits.sinksMax} sinks.`],
  state_changed: [409, 'The sink was changed meanwhile. Read it and try again.'],
  cursor_ahead: [409, 'The cursor of a sink only moves back.'],
})

export async function listSinks(db: Database): Promise<Sink[]> {
  const { last } = await readHead(db)
  return (await store.listSinks(db)).map((row) => toSink(row, last))
}

/** Lists the sinks as they are stored, by key. */
export function listSinkRows(db: Database): Promise<SinkRow[]> {
  return store.listSinks(db)
}

/** Returns a sink. Throws `sink_not_found`. */
export async function getSink(db: Database, sinkId: string): Promise<Sink> {
  const row = await requireSink(db, sinkId)
  const { last } = await readHead(db)
  return toSink(row, last)
}

export type NewSink = {
  key: string
  kind: Sink['kind']
  url: string
  headers?: Record<string, string>
  caPem?: string | null
  actions?: string[]
  status?: Sink['status']
}

/**
 * Adds a sink, which gets the events from now on. The answer alone contains the secret of kind http. Throws
 * `invalid_request`, `sink_exists`, `too_many_sinks` or `rate_limited`.
 */
export async function createSink(
  kernel: ServerContext,
  operator: Operator,
  requested: NewSink,
  now: Date,
): Promise<{ sink: Sink; secret: string | null }> {
  const { db } = kernel
  requireValid(kernel, requested)
  await countChange(kernel, operator)
  const { sinkId, secret } = await operatorTransaction(db, operator, (tx) =>
    insertSink({ ...kernel, db: tx }, operator, requested, now),
  )
  await mailChange(kernel, requested.key, now)
  return { sink: await getSink(db, sinkId), secret }
}

/** Adds a sink in a transaction. Returns the secret of kind http. Throws as `createSink`. */
export async function insertSink(
  kernel: ServerContext & { db: Transaction },
  operator: Operator,
  requested: NewSink,
  now: Date,
): Promise<{ sinkId: string; secret: string | null }> {
  requireValid(kernel, requested)
  const { key, kind, url, headers = {}, caPem = null, actions = [], status = 'enabled' } = requested
  const { db: tx } = kernel
  const sinkId = randomUUID()
  const sealed = await sealHeaders(kernel, sinkId, headers)
  const made = kind === 'http' ? await createSecret(kernel, sinkId) : null
  const { last } = await readHead(tx)
  const row = {
    sinkId,
    key,
    kind,
    url,
    caPem,
    actions,
    status,
    ...sealed,
    sealedSecret: made?.sealed ?? null,
    cursor: last,
  }
  const outcome = await store.insertSink(tx, row, { max: limits.sinksMax, now })
  if (outcome === 'exists') throw errors.sink_exists()
  if (outcome === 'too many') throw errors.too_many_sinks()
  const details = { sinkId, key, kind, origin: originOf(url), actions }
  await recordAuditEvent(tx, { action: 'sink.created', ...auditFieldsOf(operator), details }, now)
  return { sinkId, secret: made?.secret ?? null }
}

function requireValid(kernel: ServerContext, { kind, url, headers = {}, caPem }: NewSink): void {
  requireTarget(kernel, { kind, url })
  if (typeof caPem === 'string') requireCertificates(caPem)
  requireHeaderless(kind, headers)
}

export type SinkChange = {
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
  { sinkId, ...change }: SinkChange & { sinkId: string },
  now: Date,
): Promise<Sink> {
  const { db } = kernel
  const row = await requireSink(db, sinkId)
  requireValidChange(kernel, row, change)
  const announced = { row, change: 'update', changed: Object.keys(change) } as const
  await carryOut(kernel, operator, announced, (tx) => changeSink({ ...kernel, db: tx }, operator, { row, change }, now))
  return getSink(db, sinkId)
}

/** Changes a sink in a transaction. Throws as `updateSink`. */
export async function changeSink(
  kernel: ServerContext & { db: Transaction },
  operator: Operator,
  { row, change }: { row: SinkRow; change: SinkChange },
  now: Date,
): Promise<void> {
  requireValidChange(kernel, row, change)
  const { sinkId, version, key } = row
  const { url, headers, caPem, actions, status } = change
  const kept = headers ?? (isOtherReceiver(row, change) ? {} : undefined)
  const sealed = kept && (await sealHeaders(kernel, sinkId, kept))
  const fields = { url, caPem, actions, status, ...sealed }
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
  if (!(await store.updateSink(kernel.db, { sinkId, version, ...given }, now))) throw errors.state_changed()
  const details = { sinkId, key, changed: Object.keys(change), origin: originOf(url ?? row.url) }
  await recordAuditEvent(kernel.db, { action: 'sink.updated', ...auditFieldsOf(operator), details }, now)
}

/** Checks whether a change leads to another receiver, which must not get the headers of the former one. */
export function isOtherReceiver(row: SinkRow, { url, caPem }: SinkChange): boolean {
  return (url !== undefined && originOf(url) !== originOf(row.url)) || (caPem !== undefined && caPem !== row.caPem)
}

function requireValidChange(kernel: ServerContext, { kind }: SinkRow, { url, headers, caPem }: SinkChange): void {
  if (url !== undefined) requireTarget(kernel, { kind, url })
  if (typeof caPem === 'string') requireCertificates(caPem)
  if (headers) requireHeaderless(kind, headers)
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

/** Deletes a sink if it is still paused. Returns false if it is enabled. */
export async function deletePausedSink(
  tx: Transaction,
  { sinkId, since }: { sinkId: string; since: Date },
  now: Date,
): Promise<boolean> {
  const row = await store.findSink(tx, sinkId)
  if (row?.status !== 'paused' || row.updatedAt > since || !(await store.deleteSink(tx, row))) return false
  await recordAuditEvent(tx, { action: 'sink.deleted', actor: 'system', details: { sinkId, key: row.key } }, now)
  return true
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

/**
 * Creates a new secret of a sink of kind http, and returns it only here. The one before signs too for `graceSeconds`,
 * and no earlier one. Throws `sink_not_found`, `invalid_request`, `state_changed` or `rate_limited`.
 */
export async function rotateSecret(
  kernel: ServerContext,
  operator: Operator,
  { sinkId, graceSeconds }: { sinkId: string; graceSeconds: number },
  now: Date,
): Promise<{ secret: string; previousUntil: Date }> {
  const row = await requireSink(kernel.db, sinkId)
  const { kind, key, version, sealedSecret: previous } = row
  if (kind !== 'http') throw errors.invalid_request({ sentence: 'Only requests of kind http are signed.' })
  const { secret, sealed } = await createSecret(kernel, sinkId)
  const previousUntil = addSeconds(now, graceSeconds)
  const before =
    graceSeconds > 0
      ? { previousSealedSecret: previous, previousSecretUntil: previousUntil }
      : { previousSealedSecret: null, previousSecretUntil: null }
  await carryOut(kernel, operator, { row, change: 'rotate_secret', changed: [] }, async (tx) => {
    if (!(await store.updateSink(tx, { sinkId, version, sealedSecret: sealed, ...before }, now)))
      throw errors.state_changed()
    const details = { sinkId, key, graceSeconds }
    await recordAuditEvent(tx, { action: 'sink.secret_rotated', ...auditFieldsOf(operator), details }, now)
  })
  return { secret, previousUntil }
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

/** Carries out a change of a sink after it was sent to it, and mails the owners. */
async function carryOut(
  kernel: ServerContext,
  operator: Operator,
  announced: Announced,
  work: Parameters<typeof operatorTransaction<void>>[2],
): Promise<void> {
  await countChange(kernel, operator)
  await announceChange(kernel, operator, announced)
  await operatorTransaction(kernel.db, operator, work)
  await mailChange(kernel, announced.row.key, kernel.clock())
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

function toSink(row: SinkRow, head: number): Sink {
  const { sinkId, key, kind, url, headerNames, caPem, actions, status, cursor, lastError } = row
  return {
    ...{ sinkId, key, kind, url, headerNames, caPem, actions, status, cursor, lastError },
    lag: Math.max(0, head - cursor),
    lastDeliveredAt: row.lastDeliveredAt?.toISOString() ?? null,
    createdAt: row.createdAt.toISOString(),
  }
}
