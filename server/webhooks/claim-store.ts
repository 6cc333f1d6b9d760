import { sql } from 'kysely'
import type { Database } from '#kernel/database.ts'
import type { Lane, Receiver, Room } from './lanes.ts'

export type Claimed = Receiver & {
  deliveryId: string
  payload: string
  /** Which attempt this is, from 1. Nobody else has this number of this delivery. */
  attempt: number
  url: string
  appStatus: string
  /** The secrets that sign, the newest first. */
  sealedSecrets: string[]
}

type Claim = Room & { lane: Lane; now: Date; leaseEndsAt: Date }

/**
 * Takes deliveries that are due to receivers of a lane, so that until the lease ends nobody else does. Owners take
 * turns, and so do the apps of an owner: those with few under way come first. The apps that wait are found by skipping
 * from one to the next in the index, so that it does not matter how much an app waits for.
 */
export async function claimDue(db: Database, claim: Claim): Promise<Claimed[]> {
  const { lane, now, leaseEndsAt, countMax, countOfOwnerMax, countOfAppMax, busyOwners, busyClientIds } = claim
  const { rows } = await sql<Claimed>`
    with recursive waiting as (
      (
        select client_id, due_at from webhook_delivery
        where due_at is not null order by client_id, due_at limit 1
      ) union all (
        select next.client_id, next.due_at from waiting cross join lateral (
          select client_id, due_at from webhook_delivery
          where due_at is not null and webhook_delivery.client_id > waiting.client_id
          order by client_id, due_at limit 1
        ) next
      )
    ), receiver as (
      select client_id, due_at, coalesce(owner_user_id::text, client_id) as owner, app.status as app_status, url,
        (select count(*) from unnest(${busyClientIds}::text[]) busy where busy = client_id) as busy_of_app
      from waiting join webhook_endpoint using (client_id) join app using (client_id)
      where due_at <= ${now} and coalesce(slow_until > ${now}, false) = ${lane === 'slow'}
    ), candidate as (
      select *, (select count(*) from unnest(${busyOwners}::text[]) busy where busy = owner)
        + row_number() over (partition by owner order by busy_of_app, due_at) as turn
      from receiver where busy_of_app < ${countOfAppMax}
    ), chosen as materialized (
      select * from candidate where turn <= ${countOfOwnerMax} order by turn, due_at limit ${countMax}
    ), due as materialized (
      select chosen.*, delivery.delivery_id, delivery.due_at as delivery_due_at
      from chosen cross join lateral (
        select delivery_id, due_at from webhook_delivery
        where webhook_delivery.client_id = chosen.client_id and webhook_delivery.due_at <= ${now}
        order by webhook_delivery.due_at limit ${countOfAppMax} - chosen.busy_of_app for update skip locked
      ) delivery
    ), ranked as (
      select *, row_number() over (partition by client_id order by delivery_due_at) as nth_of_app from due
    ), in_turn as (
      select *, (select count(*) from unnest(${busyOwners}::text[]) busy where busy = owner)
        + row_number() over (partition by owner order by nth_of_app, delivery_due_at) as turn_of_owner
      from ranked
    ), picked as materialized (
      select * from in_turn where turn_of_owner <= ${countOfOwnerMax}
      order by turn_of_owner, delivery_due_at limit ${countMax}
    ), claimed as (
      update webhook_delivery delivery set due_at = ${leaseEndsAt}, attempts = attempts + 1
      from picked
      where delivery.client_id = picked.client_id and delivery.delivery_id = picked.delivery_id
        and delivery.due_at <= ${now}
      returning delivery.client_id, delivery.delivery_id, payload, attempts, owner, url, app_status
    )
    select client_id as "clientId", delivery_id as "deliveryId", payload, attempts as attempt, owner, url,
      app_status as "appStatus",
      array(
        select sealed_secret from webhook_secret
        where webhook_secret.client_id = claimed.client_id and (expires_at is null or expires_at > ${now})
        order by webhook_secret.created_at desc
      ) as "sealedSecrets"
    from claimed`.execute(db)
  return rows
}

/** Has a receiver counted as slow until then, or as quick again. */
export async function setSlow(db: Database, clientId: string, slowUntil: Date | null): Promise<void> {
  await db
    .updateTable('webhook_endpoint')
    .set({ slow_until: slowUntil })
    .where('client_id', '=', clientId)
    .where('slow_until', 'is distinct from', slowUntil)
    .execute()
}
