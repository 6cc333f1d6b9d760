import { sql } from 'kysely'
import type { Sink, SinkFault } from '@countersign/protocol/operations/sinks'
import type { Database, Transaction } from '#platform/database/database.ts'
import { lockUnlocked } from '#platform/database/distributed/engine.ts'

const columns = [
  'sink_id as sinkId',
  'key',
  'kind',
  'url',
  'header_names as headerNames',
  'sealed_headers as sealedHeaders',
  'sealed_secret as sealedSecret',
  'previous_sealed_secret as previousSealedSecret',
  'previous_secret_until as previousSecretUntil',
  'ca_pem as caPem',
  'actions',
  'status',
  'cursor_sequence as cursor',
  'version',
  'failures',
  'last_error as lastError',
  'last_delivered_at as lastDeliveredAt',
  'created_at as createdAt',
  'updated_at as updatedAt',
] as const

/** Sink as stored, with its sealed secrets. */
export type SinkRow = {
  sinkId: string
  key: string
  kind: Sink['kind']
  url: string
  headerNames: string[]
  sealedHeaders: string | null
  sealedSecret: string | null
  previousSealedSecret: string | null
  previousSecretUntil: Date | null
  caPem: string | null
  actions: string[]
  status: Sink['status']
  cursor: number
  version: number
  failures: number
  lastError: SinkFault | null
  lastDeliveredAt: Date | null
  createdAt: Date
  updatedAt: Date
}

/** The driver returns a bigint as text. */
function toRow({ cursor, ...row }: Omit<SinkRow, 'cursor'> & { cursor: string }): SinkRow {
  return { ...row, cursor: Number(cursor) }
}

function select(db: Database) {
  return db.selectFrom('sink').select(columns)
}

/** Lists the sinks by their keys. They are few. */
export async function listSinks(db: Database): Promise<SinkRow[]> {
  return (await select(db).orderBy('key').execute()).map(toRow)
}

export async function findSink(db: Database, sinkId: string): Promise<SinkRow | undefined> {
  const row = await select(db).where('sink_id', '=', sinkId).executeTakeFirst()
  return row && toRow(row)
}

type NewSink = Pick<SinkRow, 'sinkId' | 'key' | 'kind' | 'url' | 'headerNames' | 'sealedHeaders' | 'sealedSecret'> &
  Pick<SinkRow, 'caPem' | 'actions' | 'cursor' | 'status'>

/** Inserts a sink. Returns why it did not, if so. The number cannot grow between the count and the commit. */
export async function insertSink(
  tx: Transaction,
  sink: NewSink,
  { max, now }: { max: number; now: Date },
): Promise<'inserted' | 'exists' | 'too many'> {
  await sql`lock table sink in share row exclusive mode`.execute(tx)
  const existing = await tx.selectFrom('sink').select('key').execute()
  if (existing.some(({ key }) => key === sink.key)) return 'exists'
  if (existing.length >= max) return 'too many'
  await tx
    .insertInto('sink')
    .values({
      sink_id: sink.sinkId,
      key: sink.key,
      kind: sink.kind,
      url: sink.url,
      header_names: sink.headerNames,
      sealed_headers: sink.sealedHeaders,
      sealed_secret: sink.sealedSecret,
      ca_pem: sink.caPem,
      actions: sink.actions,
      status: sink.status,
      cursor_sequence: String(sink.cursor),
      next_attempt_at: now,
      created_at: now,
      updated_at: now,
    })
    .execute()
  return 'inserted'
}

/** The secret of a sink, and the one before with its end. */
type Secrets = Pick<SinkRow, 'sealedSecret' | 'previousSealedSecret' | 'previousSecretUntil'>

/** Changed fields of a sink, at the version from which the change derives. */
export type SinkChange = { sinkId: string; version: number } & Partial<
  Pick<SinkRow, 'url' | 'headerNames' | 'sealedHeaders' | 'caPem' | 'actions' | 'status' | 'cursor'> & Secrets
>

/** Changes a sink, and lets it be tried at once. Returns false if it was changed or removed meanwhile. */
export async function updateSink(tx: Transaction, change: SinkChange, now: Date): Promise<boolean> {
  const { sinkId, version, url, headerNames, sealedHeaders, caPem, actions, status, cursor } = change
  const { sealedSecret, previousSealedSecret, previousSecretUntil } = change
  const { numUpdatedRows } = await tx
    .updateTable('sink')
    .set(({ eb }) => ({
      ...(url !== undefined && { url }),
      ...(headerNames !== undefined && { header_names: headerNames }),
      ...(sealedHeaders !== undefined && { sealed_headers: sealedHeaders }),
      ...(caPem !== undefined && { ca_pem: caPem }),
      ...(actions !== undefined && { actions }),
      ...(status !== undefined && { status }),
      ...(cursor !== undefined && { cursor_sequence: String(cursor) }),
      ...(sealedSecret !== undefined && { sealed_secret: sealedSecret }),
      ...(previousSealedSecret !== undefined && { previous_sealed_secret: previousSealedSecret }),
      ...(previousSecretUntil !== undefined && { previous_secret_until: previousSecretUntil }),
      version: eb('version', '+', 1),
      failures: 0,
      last_error: null,
      next_attempt_at: now,
      updated_at: now,
    }))
    .where('sink_id', '=', sinkId)
    .where('version', '=', version)
    .$if(cursor !== undefined, (later) => later.where('cursor_sequence', '>=', String(cursor)))
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

/** Deletes a sink. Returns false if it was changed or removed meanwhile. */
export async function deleteSink(tx: Transaction, { sinkId, version }: SinkChange): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('sink')
    .where('sink_id', '=', sinkId)
    .where('version', '=', version)
    .executeTakeFirstOrThrow()
  return numDeletedRows === 1n
}

/** Replaces sealed headers, unless they were changed meanwhile. */
export async function replaceHeaders(db: Database, sinkId: string, from: string | null, to: string | null) {
  await db
    .updateTable('sink')
    .set({ sealed_headers: to })
    .where('sink_id', '=', sinkId)
    .where('sealed_headers', '=', from)
    .execute()
}

/** Replaces sealed secrets, unless one was changed meanwhile. */
export async function replaceSecrets(
  db: Database,
  sinkId: string,
  from: SealedSecrets,
  { sealedSecret, previousSealedSecret }: SealedSecrets,
): Promise<void> {
  await db
    .updateTable('sink')
    .set({ sealed_secret: sealedSecret, previous_sealed_secret: previousSealedSecret })
    .where('sink_id', '=', sinkId)
    .where(sql<boolean>`sealed_secret is not distinct from ${from.sealedSecret}`)
    .where(sql<boolean>`previous_sealed_secret is not distinct from ${from.previousSealedSecret}`)
    .execute()
}
type SealedSecrets = Pick<SinkRow, 'sealedSecret' | 'previousSealedSecret'>

/** Deletes former secrets that no longer sign. Returns their number. */
export async function deleteEndedSecrets(db: Database, now: Date): Promise<number> {
  const { numUpdatedRows } = await db
    .updateTable('sink')
    .set({ previous_sealed_secret: null, previous_secret_until: null })
    .where('previous_secret_until', '<=', now)
    .executeTakeFirstOrThrow()
  return Number(numUpdatedRows)
}

/** Right of one process to send to a sink, for some time. */
export type Lease = { leaseId: string; now: Date; leaseEndsAt: Date }

/** Leases a sink that is due and behind the log to this process. Returns undefined if there is none. */
export async function leaseDue(db: Database, { leaseId, now, leaseEndsAt }: Lease): Promise<SinkRow | undefined> {
  const due = sql<string>`(
    select sink_id from sink cross join audit_chain_head head
    where status = 'enabled' and next_attempt_at <= ${now} and (leased_until is null or leased_until <= ${now})
      and cursor_sequence < head.sequence
    order by next_attempt_at, sink_id limit 1 ${lockUnlocked(db, 'sink')}
  )`
  const row = await db
    .updateTable('sink')
    .set({ lease_id: leaseId, leased_until: leaseEndsAt })
    .where('sink_id', '=', due)
    .returning(columns)
    .executeTakeFirst()
  return row && toRow(row)
}

type Held = { sinkId: string; version: number; leaseId: string }

/**
 * Moves the cursor of a leased sink forward, and extends the lease. Returns false if the sink was changed, or the lease
 * has passed to another process.
 */
export async function advance(
  db: Database,
  { sinkId, version, leaseId }: Held,
  { cursor, deliveredAt, leaseEndsAt }: { cursor: number; deliveredAt: Date | undefined; leaseEndsAt: Date },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('sink')
    .set({
      cursor_sequence: String(cursor),
      leased_until: leaseEndsAt,
      ...(deliveredAt && { failures: 0, last_error: null, last_delivered_at: deliveredAt }),
    })
    .where('sink_id', '=', sinkId)
    .where('version', '=', version)
    .where('lease_id', '=', leaseId)
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

/** Returns a lease. A failure says when the next attempt follows, unless the sink was changed meanwhile. */
export async function release(
  db: Database,
  { sinkId, version, leaseId }: Held,
  failure?: { error: SinkFault; nextAttemptAt: Date },
): Promise<void> {
  await db
    .updateTable('sink')
    .set({ lease_id: null, leased_until: null })
    .where('sink_id', '=', sinkId)
    .where('lease_id', '=', leaseId)
    .execute()
  if (!failure) return
  await db
    .updateTable('sink')
    .set(({ eb }) => ({
      last_error: failure.error,
      next_attempt_at: failure.nextAttemptAt,
      failures: eb('failures', '+', 1),
    }))
    .where('sink_id', '=', sinkId)
    .where('version', '=', version)
    .execute()
}
