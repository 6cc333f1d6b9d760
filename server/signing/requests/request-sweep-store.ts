import { sql } from 'kysely'
import type { Database, Transaction } from '#platform/database/database.ts'
import type { Ended } from './store.ts'

/** Writes down up to `batch` requests that have expired unanswered, and answers which those were. */
export async function expireDue(tx: Transaction, now: Date, batch: number): Promise<Ended[]> {
  // The condition is as the index says it that only the sweeps may take.
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

/** Deletes up to `batch` requests of deleted identities that have expired, and answers which those were. */
export async function deleteFormer(tx: Transaction, now: Date, batch: number): Promise<Ended[]> {
  const { rows } = await sql<Ended>`
    with due as (
      select request_id from signing_former_request where expires_at <= ${now} limit ${batch}
    )
    delete from signing_former_request using due
    where signing_former_request.request_id = due.request_id and expires_at <= ${now}
    returning identity_id as "identityId", signing_former_request.request_id as "requestId", client_id as "clientId",
      public_key as "publicKey", 'expired' as status, null as signature, expires_at as "expiresAt",
      null as "resolvedAt"`.execute(tx)
  return rows
}

/** Deletes up to `batch` requests that led to nothing and expired before `now`. */
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
    delete from signing_request_place using deleted
    where signing_request_place.request_id = deleted.request_id
    returning signing_request_place.request_id`.execute(db)
  return rows.length
}
