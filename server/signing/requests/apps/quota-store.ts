import { sql } from 'kysely'
import type { Database, Transaction } from '#platform/database/database.ts'
import type { Asking } from './quota.ts'

type Recording = { now: Date; after: Date; ofUnconnectedMax: number }

/**
 * Records that the audit log gets an entry for a request of an app. Returns false if the same app has had one since
 * `after`, or if apps that are not connected have used up their shared entries. The transaction has locked the signer.
 */
export async function noteRecorded(
  tx: Transaction,
  { signerId, clientId, isConnected }: Asking,
  { now, after, ofUnconnectedMax }: Recording,
): Promise<boolean> {
  const { rows } = await sql<{ signer_id: Asking['signerId'] }>`
    insert into signing_request_record (signer_id, client_id, is_connected, recorded_at)
    select ${signerId}::uuid, ${clientId}::text, ${isConnected}::boolean, ${now}::timestamptz
    where not exists (
      select from signing_request_record
      where signer_id = ${signerId} and client_id = ${clientId} and recorded_at > ${after}
    ) and (${isConnected} or ${ofUnconnectedMax} > (
      select count(*) from signing_request_record
      where signer_id = ${signerId} and not is_connected and recorded_at > ${after}
    ))
    on conflict (signer_id, client_id) do update
      set is_connected = excluded.is_connected, recorded_at = excluded.recorded_at
    returning signer_id`.execute(tx)
  return rows.length === 1
}

/** Pending requests: of one app or its owner's apps, and of all apps that are (or are not) connected. */
export type PendingCounts = { ofApp: string; firstOfApp: Date | null; ofAll: string; firstOfAll: Date | null }

/** Builds the columns of `PendingCounts` from rows `pending` with `client_id` and `expires_at`. */
export function pendingCounts({ clientId, ownerUserId, isConnected }: Omit<Asking, 'signerId'>) {
  const isOfApp =
    isConnected || ownerUserId === null
      ? sql`client_id = ${clientId}`
      : sql`client_id in (select client_id from app where owner_user_id = ${ownerUserId})`
  return sql`count(*) filter (where ${isOfApp}) as "ofApp", min(expires_at) filter (where ${isOfApp}) as "firstOfApp",
    count(*) as "ofAll", min(expires_at) as "firstOfAll"`
}

/** Reads the counts and the first expiry. */
export function readCounts([counts]: PendingCounts[], now: Date) {
  return {
    ofApp: { count: Number(counts?.ofApp ?? 0), firstExpiry: counts?.firstOfApp ?? now },
    ofAll: { count: Number(counts?.ofAll ?? 0), firstExpiry: counts?.firstOfAll ?? now },
  }
}

/** Deletes the audit records of signers that are being deleted. */
export async function deleteRecords(tx: Transaction, signerIds: Asking['signerId'][]): Promise<void> {
  await tx.deleteFrom('signing_request_record').where('signer_id', 'in', signerIds).execute()
}

/** Deletes up to `batch` records from before an instant and returns how many. */
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
