import { sql } from 'kysely'
import type { Selectable } from 'kysely'
import type { OrganizationId } from '@countersign/protocol/ids'
import { type Database, isTransaction, transaction, type Transaction } from '#platform/database/database.ts'
import { isDistributed } from '#platform/database/distributed/engine.ts'
import type { Tables } from '#platform/database/tables.ts'

/** Columns of an event that its hash covers, and those that its digest of details covers. */
export type ChainedEvent = Omit<Selectable<Tables['audit_event']>, 'sequence' | 'details'> & { details: string }

const eventColumns = [
  ...(['event_id', 'occurred_at', 'action', 'actor', 'user_id', 'identity_id', 'client_id'] as const),
  ...(['organization_id', 'operator_kind', 'operator_id', 'operator_name', 'app_name', 'device'] as const),
  ...(['origin_network', 'origin_request_id', 'origin_is_chained'] as const),
]

/** Checks whether a committed event has no place. */
export async function hasUnnumberedEvent(db: Database): Promise<boolean> {
  const found = await db
    .selectFrom('audit_event')
    .select('event_id')
    .where('sequence', 'is', null)
    .limit(1)
    .executeTakeFirst()
  return found !== undefined
}

/** Last place of the audit log, and the last one whose event was deleted with all events before it. */
export type ChainHead = {
  sequence: number
  hash: Uint8Array | null
  prunedSequence: number
  prunedHash: Uint8Array | null
}

const headColumns = ['sequence', 'hash', 'pruned_sequence', 'pruned_hash'] as const

type HeadRow = Pick<Selectable<Tables['audit_chain_head']>, (typeof headColumns)[number]>

function headOf(row: HeadRow): ChainHead {
  const { sequence, hash, pruned_sequence: prunedSequence, pruned_hash: prunedHash } = row
  return { sequence: Number(sequence), hash, prunedSequence: Number(prunedSequence), prunedHash }
}

/** Locks the head of the chain until the end of the transaction, and creates it for the first event. */
export async function lockHead(tx: Transaction): Promise<ChainHead> {
  if (isDistributed(tx)) await sql`select pg_advisory_xact_lock(${chainLock})`.execute(tx)
  await tx
    .insertInto('audit_chain_head')
    .values({ version: 0, sequence: '0', hash: null, pruned_sequence: '0', pruned_hash: null })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  return headOf(await tx.selectFrom('audit_chain_head').select(headColumns).forUpdate().executeTakeFirstOrThrow())
}

const chainLock = sql`hashtextextended('chain of the audit log', 0)`

/**
 * Waits until no transaction changes the chain, and keeps it as it is until the end of this one. The nodes of a
 * distributed database commit one after another: the head can be there before the events up to it. Unlike a lock of the
 * head, this one ends when all nodes have committed.
 */
export async function holdChain(tx: Transaction): Promise<void> {
  if (isDistributed(tx)) await sql`select pg_advisory_xact_lock_shared(${chainLock})`.execute(tx)
}

/**
 * Returns the head of the chain, or undefined before the first event. All events up to it can be read, unless this is
 * called in a transaction that does not hold the chain.
 */
export async function findHead(db: Database | Transaction): Promise<ChainHead | undefined> {
  if (isDistributed(db) && !isTransaction(db))
    return transaction(db, async (tx) => {
      await holdChain(tx)
      return findHead(tx)
    })
  const row = await db.selectFrom('audit_chain_head').select(headColumns).executeTakeFirst()
  return row && headOf(row)
}

/** Lists the oldest committed events that have no place. */
export function listUnnumberedEvents(tx: Transaction, count: number): Promise<ChainedEvent[]> {
  return tx
    .selectFrom('audit_event')
    .select(eventColumns)
    .select(sql<string>`details::text`.as('details'))
    .where('sequence', 'is', null)
    .orderBy('event_id')
    .limit(count)
    .execute()
}

/** Link of the chain, before it is stored. */
export type NewLink = { eventId: string; sequence: number; hash: Uint8Array; digest: Uint8Array; salt: Uint8Array }

/**
 * Gives events their places, which follow each other in the order of the IDs. The caller has locked the head. Throws if
 * one has a place already.
 */
export async function appendLinks(tx: Transaction, links: NewLink[]): Promise<void> {
  const eventIds = links.map(({ eventId }) => eventId)
  // The bucket of an ID is its index in the array, found by bisection. A join could compare all IDs with each other.
  const { numAffectedRows } = await sql`
    update audit_event
    set sequence = ${links[0]?.sequence}::bigint - 1 + width_bucket(event_id, ${eventIds}::uuid[]),
      origin_is_chained = true
    where event_id = any(${eventIds}::uuid[]) and sequence is null`.execute(tx)
  // In a distributed database, a transaction that Citus completes later can have given them theirs.
  if (Number(numAffectedRows) !== links.length) throw new Error('Events have got their places meanwhile.')
  await sql`
    insert into audit_chain (sequence, hash, details_digest, salt)
    select * from unnest(${links.map(({ sequence }) => sequence)}::bigint[], ${links.map(({ hash }) => hash)}::bytea[],
      ${links.map(({ digest }) => digest)}::bytea[], ${links.map(({ salt }) => salt)}::bytea[])`.execute(tx)
  const last = links.at(-1)
  if (!last) return
  await tx
    .updateTable('audit_chain_head')
    .set({ sequence: String(last.sequence), hash: last.hash })
    .execute()
}

/**
 * Finds the place of the last of the next `count` events up to which all happened before an instant and have their
 * entries in the trails of their organizations. Returns undefined if there is none.
 */
export async function findLastBefore(
  db: Database | Transaction,
  { after, border, count }: { after: number; border: Date; count: number },
): Promise<number | undefined> {
  const { rows } = await sql<{ last: string | null }>`
    with next as materialized (
      select sequence, occurred_at >= ${border} or pending.event_id is not null as kept
      from (select * from audit_event where sequence > ${after} order by sequence limit ${count}) event
      left join organization_trail_pending pending using (organization_id, event_id)
    )
    select max(sequence) as last from next
    where sequence < coalesce((select min(sequence) from next where kept), 9223372036854775807)`.execute(db)
  const last = rows[0]?.last ?? null
  return last === null ? undefined : Number(last)
}

/** Event that was deleted. */
export type DeletedEvent = { eventId: string; organizationId: OrganizationId | null }

/**
 * Deletes the events up to a place, whose hash stays as the checkpoint from which the chain continues. The caller has
 * locked the head. Throws if the place has no hash.
 */
export async function deleteEventsUpTo(tx: Transaction, to: number, { prunedSequence: after }: ChainHead) {
  // With the number itself, the database knows how few rows these are.
  const links = await sql<{ hash: Uint8Array }>`
    with deleted as (delete from audit_chain where sequence > ${after} and sequence <= ${to} returning sequence, hash)
    select hash from deleted where sequence = ${to}`.execute(tx)
  const [last] = links.rows
  if (!last) throw new Error(`The audit log has no place ${to}.`)
  await tx
    .updateTable('audit_chain_head')
    .set({ pruned_sequence: String(to), pruned_hash: last.hash })
    .execute()
  const { rows } = await sql<DeletedEvent>`
    delete from audit_event where sequence > ${after} and sequence <= ${to}
    returning event_id as "eventId", organization_id as "organizationId"`.execute(tx)
  return rows
}

/** Takes all events out of their places, so that they get new ones after a chain that is restored. */
export async function unnumberEvents(tx: Transaction): Promise<void> {
  await tx
    .updateTable('audit_event')
    .set({ sequence: null, origin_is_chained: null })
    .where('sequence', 'is not', null)
    .execute()
}

/** Link of the chain as it is stored. */
export type Link = { sequence: number; hash: Uint8Array; digest: Uint8Array; salt: Uint8Array | null }

type Range = { from: number; to: number }

/** Lists the links of a range of places. */
export async function listLinks(tx: Transaction, { from, to }: Range): Promise<Link[]> {
  const rows = await tx
    .selectFrom('audit_chain')
    .select(['sequence', 'hash', 'details_digest as digest', 'salt'])
    .where('sequence', '>=', String(from))
    .where('sequence', '<=', String(to))
    .execute()
  return rows.map((row) => ({ ...row, sequence: Number(row.sequence) }))
}

/** Lists the events of a range of places. */
export async function listPlacedEvents(
  tx: Transaction,
  { from, to }: Range,
): Promise<(ChainedEvent & { sequence: number })[]> {
  const rows = await tx
    .selectFrom('audit_event')
    .select(eventColumns)
    .select('sequence')
    .select(sql<string>`details::text`.as('details'))
    .where('sequence', '>=', String(from))
    .where('sequence', '<=', String(to))
    .execute()
  return rows.map((row) => ({ ...row, sequence: Number(row.sequence) }))
}
