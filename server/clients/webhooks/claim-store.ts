import { sql } from 'kysely'
import type { Database } from '#platform/database/database.ts'
import { replicaOf } from '#platform/database/distributed/engine.ts'
import { withPicked, type Claim } from '#platform/queue/turns.ts'
import type { Receiver } from '#platform/queue/lanes.ts'
import { addParts, type StoredPart } from './event-parts.ts'

export type ClaimedDelivery = Receiver & {
  deliveryId: string
  payload: string
  /** Number of this attempt, from 1. It is unique for this delivery. */
  attempt: number
  url: string
  /** That of the app; a webhook of the service is always active. */
  appStatus: string
  /** Whether an operator named the URL: of the service, or of an app that an operator registered. */
  isOfOperator: boolean
  /** Active secrets, newest first. */
  sealedSecrets: string[]
}

/** Active webhooks with pending deliveries: of apps, and of the service, which have no app and are of the operator. */
const receivers = sql`
  select receiver_id, next_attempt_at, coalesce(owner_user_id::text, receiver_id) as owner, owner_user_id, slow_until,
    coalesce(app.status, 'active') as app_status, url,
    app.owner_user_id is null and app.metadata_fetched_at is null as is_of_operator
  from waiting join webhook_endpoint using (receiver_id) left join app using (client_id)
  where webhook_endpoint.disabled_at is null`

const beside = sql`
  select webhook_endpoint.receiver_id from app join webhook_endpoint using (client_id)
  where app.owner_user_id = receiver.owner_user_id`

/** Leases due deliveries to receivers of a lane, in turn, so that no other process sends them until the lease ends. */
export async function claimDue(db: Database, claim: Claim): Promise<ClaimedDelivery[]> {
  const { now, leaseEndsAt } = claim
  const queue = { table: 'webhook_delivery', id: 'delivery_id', receiver: 'receiver_id', receivers, beside }
  const columns = sql`receiver_id text, picked_id uuid, owner text, url text, app_status text, is_of_operator boolean`
  const statement = sql`, claimed as (
      update webhook_delivery delivery set next_attempt_at = ${leaseEndsAt}, attempts = attempts + 1
      from picked
      where delivery.receiver_id = picked.receiver_id and delivery.delivery_id = picked.picked_id
        and delivery.next_attempt_at <= ${now}
      returning delivery.receiver_id, delivery.delivery_id, payload, attempts, owner, url, app_status, is_of_operator
    )
    select receiver_id as "receiverId", delivery_id as "deliveryId", payload, attempts as attempt, owner, url,
      app_status as "appStatus", is_of_operator as "isOfOperator",
      array(
        select sealed_secret from ${replicaOf(db, 'webhook_secret')}
        where webhook_secret.receiver_id = claimed.receiver_id and (expires_at is null or expires_at > ${now})
        order by webhook_secret.created_at desc
      ) as "sealedSecrets",
      coalesce((
        select json_agg(json_build_object('path', path, 'value', value)) from webhook_delivery_part part
        where part.receiver_id = claimed.receiver_id and part.delivery_id = claimed.delivery_id
      ), '[]') as parts
    from claimed`
  const rows = await withPicked<ClaimedDelivery & { parts: StoredPart[] }>(db, { queue, claim, columns, statement })
  return rows.map(({ parts, payload, ...claimed }) => ({ ...claimed, payload: addParts(payload, parts) }))
}

/** Marks a receiver as slow until an instant, or removes the mark. */
export async function setSlow(db: Database, receiverId: string, slowUntil: Date | null): Promise<void> {
  await db
    .updateTable('webhook_endpoint')
    .set({ slow_until: slowUntil })
    .where('receiver_id', '=', receiverId)
    .where('slow_until', 'is distinct from', slowUntil)
    .execute()
}
