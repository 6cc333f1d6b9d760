import { sql } from 'kysely'
import type { Database, Transaction } from '#platform/database/database.ts'

/** Webhook of the service, with the last attempt of the newest event that was sent. */
export type ServiceWebhookRow = {
  webhookId: string
  url: string
  eventTypes: string[]
  disabledAt: Date | null
  createdAt: Date
  updatedAt: Date
  at: Date | null
  status: number | null
  reason: string | null
}

/** Lists the webhooks of the service, or that with an ID, the oldest first. They are few. */
async function listRows(db: Database, webhookId?: string): Promise<ServiceWebhookRow[]> {
  const { rows } = await sql<ServiceWebhookRow>`
    select receiver_id as "webhookId", url, event_types as "eventTypes", disabled_at as "disabledAt",
      created_at as "createdAt", updated_at as "updatedAt", attempted_at as at, response_status as status, reason
    from webhook_endpoint left join lateral (
      select attempted_at, response_status, reason from webhook_attempt
      where webhook_attempt.receiver_id = webhook_endpoint.receiver_id
      order by receiver_id desc, delivery_id desc, attempt desc limit 1
    ) last on true
    where client_id is null ${webhookId === undefined ? sql`` : sql`and receiver_id = ${webhookId}`}
    order by created_at, receiver_id`.execute(db)
  return rows
}

export function listWebhooks(db: Database): Promise<ServiceWebhookRow[]> {
  return listRows(db)
}

export async function findWebhook(db: Database, webhookId: string): Promise<ServiceWebhookRow | undefined> {
  return (await listRows(db, webhookId))[0]
}

export type Subscriber = { receiverId: string; eventTypes: string[] }

/** Lists the active webhooks of the service, with the types of events that they get; of all if there are none. */
export async function listSubscribers(tx: Transaction): Promise<Subscriber[]> {
  return tx
    .selectFrom('webhook_endpoint')
    .select(['receiver_id as receiverId', 'event_types as eventTypes'])
    .where('client_id', 'is', null)
    .where('disabled_at', 'is', null)
    .execute()
}

type New = { webhookId: string; url: string; eventTypes: string[] }

/** Inserts a webhook. Returns false if there are `max`. The number cannot grow between the count and the commit. */
export async function insertWebhook(
  tx: Transaction,
  { webhookId, url, eventTypes }: New,
  { max, now }: { max: number; now: Date },
): Promise<boolean> {
  // Not the table: apps set their webhooks meanwhile.
  await sql`select pg_advisory_xact_lock(hashtextextended('webhooks of the service', 0))`.execute(tx)
  const { rows } = await sql`
    insert into webhook_endpoint (receiver_id, url, event_types, created_at, updated_at)
    select ${webhookId}::text, ${url}::text, ${eventTypes}::text[], ${now}::timestamptz, ${now}::timestamptz
    where (select count(*) from webhook_endpoint where client_id is null) < ${max}
    returning receiver_id`.execute(tx)
  return rows.length > 0
}

export type WebhookChange = { url?: string; eventTypes?: string[]; isDisabled?: boolean }

/** Changes a webhook. Returns false if there is none. */
export async function updateWebhook(
  tx: Transaction,
  webhookId: string,
  { url, eventTypes, isDisabled }: WebhookChange,
  now: Date,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('webhook_endpoint')
    .set(({ fn, ref, val }) => ({
      ...(url !== undefined && { url }),
      ...(eventTypes !== undefined && { event_types: eventTypes }),
      ...(isDisabled !== undefined && {
        disabled_at: isDisabled ? fn.coalesce(ref('disabled_at'), val(now)) : null,
      }),
      updated_at: now,
    }))
    .where('receiver_id', '=', webhookId)
    .where('client_id', 'is', null)
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}
