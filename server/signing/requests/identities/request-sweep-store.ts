import { sql } from 'kysely'
import type { Database, Transaction } from '#platform/database/database.ts'
import type { Ended } from './store.ts'

/** Marks up to `batch` pending requests as expired and returns them. */
export async function expireDue(tx: Transaction, now: Date, batch: number): Promise<Ended[]> {
  // The condition repeats that of the partial index that only the cleanup may use.
  const { rows } = await sql<Ended>`
    with due as (
      select identity_id, request_id from signing_request
      where status || '' = 'pending' and expires_at <= ${now} limit ${batch}
    )
    update signing_request set status = 'expired' from due
    where signing_request.identity_id = due.identity_id and signing_request.request_id = due.request_id
      and signing_request.status = 'pending' and signing_request.expires_at <= ${now}
    returning signing_request.identity_id as "identityId", signing_request.request_id as "requestId",
      client_id as "clientId", public_key as "publicKey", status, signature, expires_at as "expiresAt",
      resolved_at as "resolvedAt"`.execute(tx)
  return rows
}

/** Marks up to `batch` requests of deleted identities as expired and returns them. */
export async function expireFormer(tx: Transaction, now: Date, batch: number): Promise<Ended[]> {
  const { rows } = await sql<Ended>`
    with due as (
      select request_id from signing_former_request where expires_at <= ${now} limit ${batch}
    )
    delete from signing_former_request using due
    where signing_former_request.request_id = due.request_id and expires_at <= ${now}
    returning identity_id as "identityId", signing_former_request.request_id as "requestId", client_id as "clientId",
      public_key as "publicKey", 'expired' as status, null as signature, expires_at as "expiresAt",
      null as "resolvedAt"`.execute(tx)
  if (rows.length === 0) return rows
  await sql`
    insert into signing_expired_former_request (request_id, identity_id, client_id, public_key, expires_at)
    select * from unnest(
      ${rows.map(({ requestId }) => requestId)}::uuid[], ${rows.map(({ identityId }) => identityId)}::uuid[],
      ${rows.map(({ clientId }) => clientId)}::text[], ${rows.map(({ publicKey }) => publicKey)}::bytea[],
      ${rows.map(({ expiresAt }) => expiresAt)}::timestamptz[]
    )`.execute(tx)
  return rows
}

/** Deletes up to `batch` requests of deleted identities that expired before `now`, and returns how many. */
export async function deleteExpiredFormer(db: Database, now: Date, batch: number): Promise<number> {
  const { numAffectedRows } = await sql`
    with due as (
      select request_id from signing_expired_former_request where expires_at <= ${now} limit ${batch}
    )
    delete from signing_expired_former_request using due
    where signing_expired_former_request.request_id = due.request_id`.execute(db)
  return Number(numAffectedRows)
}

/** Deletes up to `batch` unsigned requests that expired before `now`. */
export async function deleteEndedRequests(db: Database, now: Date, batch: number): Promise<number> {
  const { rows } = await sql<{ request_id: string }>`
    with ended as (
      select identity_id, request_id from signing_request
      where status || '' <> 'signed' and expires_at <= ${now} limit ${batch}
    ), deleted as (
      delete from signing_request using ended
      where signing_request.identity_id = ended.identity_id and signing_request.request_id = ended.request_id
        and signing_request.status <> 'signed' and signing_request.expires_at <= ${now}
      returning signing_request.request_id
    )
    delete from signing_request_route using deleted
    where signing_request_route.request_id = deleted.request_id
    returning signing_request_route.request_id`.execute(db)
  return rows.length
}
