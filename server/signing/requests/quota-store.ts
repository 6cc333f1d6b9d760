import { sql } from 'kysely'
import type { Database, Transaction } from '#platform/database/database.ts'
import type { Asking } from './quota.ts'

type Recording = { now: Date; after: Date; ofUnconnectedMax: number }

/**
 * Notes that the audit log records a request of an app; false where it has recorded one of the same app since `after`,
 * or, of an app that is not connected, of as many of those as it may. The transaction holds the signer.
 */
export async function noteRecorded(
  tx: Transaction,
  { signerId, clientId, isConnected }: Asking,
  { now, after, ofUnconnectedMax }: Recording,
): Promise<boolean> {
  const { rows } = await sql<{ signer_id: string }>`
    insert into signing_request_record (signer_id, client_id, is_connected, recorded_at)
    select ${signerId}::uuid, ${clientId}::text, ${isConnected}::boolean, ${now}::timestamptz
    where ${isConnected} or ${ofUnconnectedMax} > (
      select count(*) from signing_request_record
      where signer_id = ${signerId} and not is_connected and recorded_at > ${after}
    )
    on conflict (signer_id, client_id) do update
      set is_connected = excluded.is_connected, recorded_at = excluded.recorded_at
      where signing_request_record.recorded_at <= ${after}
    returning signer_id`.execute(tx)
  return rows.length === 1
}

/** Forgets what was noted of signers that are going. */
export async function deleteRecords(tx: Transaction, signerIds: string[]): Promise<void> {
  await tx.deleteFrom('signing_request_record').where('signer_id', 'in', signerIds).execute()
}

/** Forgets up to `batch` of what was noted before an instant, and says how many. */
export async function deleteRecordsBefore(db: Database, instant: Date, batch: number): Promise<number> {
  const old = db
    .selectFrom('signing_request_record')
    .select(['signer_id', 'client_id'])
    .where('recorded_at', '<=', instant)
    .limit(batch)
  const { numDeletedRows } = await db
    .deleteFrom('signing_request_record')
    .where(({ eb, refTuple }) => eb(refTuple('signer_id', 'client_id'), 'in', old.$asTuple('signer_id', 'client_id')))
    .where('recorded_at', '<=', instant)
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}
