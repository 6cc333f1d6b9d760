import { sql } from 'kysely'
import type { Database, Transaction } from '#platform/database/database.ts'
import { replicaOf } from '#platform/database/distributed/engine.ts'

/** Deletes expired secrets, all at once, because there are few of each webhook. */
export async function deleteEndedSecrets(db: Database | Transaction, now: Date): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('webhook_secret')
    .where('expires_at', '<=', now)
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

/** Deletes up to `batch` deliveries from before an instant, with their attempts. Returns their number. */
export async function deleteDeliveries(db: Database, before: Date, batch: number): Promise<number> {
  const old = db
    .selectFrom('webhook_delivery')
    .select(['receiver_id', 'delivery_id'])
    .where('created_at', '<=', before)
    .limit(batch)
  const { numDeletedRows } = await db
    .deleteFrom('webhook_delivery')
    .where(({ eb, refTuple }) =>
      eb(refTuple('receiver_id', 'delivery_id'), 'in', old.$asTuple('receiver_id', 'delivery_id')),
    )
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

/**
 * Deletes up to `batch` deliveries to webhooks that have been removed, alone or with their app. Returns their number.
 * It steps from receiver to receiver, however many deliveries each has.
 */
export async function deleteFormerDeliveries(db: Database, batch: number): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    with recursive receiver as (
      (select receiver_id from webhook_delivery order by receiver_id limit 1)
      union all
      select next.receiver_id from receiver cross join lateral (
        select receiver_id from webhook_delivery where webhook_delivery.receiver_id > receiver.receiver_id
        order by receiver_id limit 1
      ) next
    ), former as (
      select receiver_id from receiver where not exists (
        select from ${replicaOf(db, 'webhook_endpoint')} where webhook_endpoint.receiver_id = receiver.receiver_id
      )
    )
    delete from webhook_delivery where (receiver_id, delivery_id) in (
      select remaining.receiver_id, remaining.delivery_id from former cross join lateral (
        select receiver_id, delivery_id from webhook_delivery where webhook_delivery.receiver_id = former.receiver_id
        order by receiver_id, delivery_id limit ${batch}
      ) remaining
      limit ${batch}
    )`.execute(db)
  return Number(numAffectedRows)
}

/** Number of deliveries that fail at once when their webhook is disabled. Cleanup continues with more. */
const failedAtOnce = sql.lit(1000)

/** Marks pending deliveries to a receiver as failed: no more than a request may change. */
export async function failPendingDeliveries(tx: Transaction, receiverId: string): Promise<void> {
  await sql`
    update webhook_delivery set state = 'failed', next_attempt_at = null
    where receiver_id = ${receiverId} and state = 'pending' and delivery_id = any(array(
      select delivery_id from webhook_delivery where receiver_id = ${receiverId} and next_attempt_at is not null
      order by next_attempt_at limit ${failedAtOnce}
    ))`.execute(tx)
}

/** Marks up to `batch` pending deliveries to disabled webhooks as failed. Returns their number. */
export async function failDeliveriesOfDisabled(db: Database, batch: number): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    update webhook_delivery set state = 'failed', next_attempt_at = null
    where (receiver_id, delivery_id) in (
      select waiting.receiver_id, waiting.delivery_id
      from ${replicaOf(db, 'webhook_endpoint')} cross join lateral (
        select receiver_id, delivery_id from webhook_delivery
        where webhook_delivery.receiver_id = webhook_endpoint.receiver_id and next_attempt_at is not null
        order by receiver_id, next_attempt_at limit ${batch}
      ) waiting
      where disabled_at is not null limit ${batch}
    ) and state = 'pending'`.execute(db)
  return Number(numAffectedRows)
}
