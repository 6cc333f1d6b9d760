import { sql, type RawBuilder } from 'kysely'
import type { ClientId } from '@countersign/protocol/ids'

/** A claim on a queue: lane and limits. */
export type Claim = {
  lane: 'quick' | 'slow'
  now: Date
  leaseEndsAt: Date
  countMax: number
  countOfOwnerMax: number
  countOfAppMax: number
  /** Owners and apps of the deliveries in progress: one entry for each. */
  busyOwners: string[]
  busyClientIds: ClientId[]
  /** Owners that this process has recently served, and for how many seconds. */
  servedOwners: string[]
  servedSeconds: number[]
}

/**
 * A table in which each row waits for an app. `receivers` is a query of the apps with waiting rows (`waiting`), with
 * `client_id`, `next_attempt_at`, `owner`, `slow_until` and further columns for the claim. `beside` is a query of the
 * apps with the same owner as a `receiver`, which may be among them.
 */
export type Queue = { table: string; id: string; receivers: RawBuilder<unknown>; beside: RawBuilder<unknown> }

/** Number of the oldest waiting rows to consider, and of the newest. */
const rowsMax = 100
/** If more wait, number of further apps to consider, from a random position in the order of their IDs. */
const appsMax = 100
/** Number of an owner's other apps in which more waiting rows are searched. */
const appsBesideMax = 10

/** Checks whether more rows may be due than are considered. */
const isMore = sql`(select count(*) from oldest) = ${rowsMax}`

/**
 * Builds the queries, up to `picked`, that choose the next rows of a queue; they follow `with recursive`. Owners take
 * turns, and so do the apps of an owner. Those with few deliveries in progress come first, then those that recently
 * used a slot for little time and have few waiting rows, and only then the earliest due. A new owner therefore does not
 * wait for the backlogs of others, and receivers that respond quickly get more deliveries.
 *
 * Rows that are not due are not considered, and of many due rows only some: the oldest, the newest, and those of some
 * apps from a random position, because app IDs are random. A claim therefore costs the same for any backlog, new rows
 * are seen at once, and each app is seen eventually.
 */
export function pickInTurn(queue: Queue, claim: Claim): RawBuilder<unknown> {
  const [table, id] = [sql.table(queue.table), sql.ref(queue.id)]
  const { lane, now, countMax, countOfOwnerMax, countOfAppMax, busyOwners, busyClientIds } = claim
  return sql`
    ${findWaiting(table, now)}, receiver as (
      select found.*, coalesce(served, 0) as served,
        (select count(*) from unnest(${busyClientIds}::text[]) busy where busy = found.client_id) as busy_of_app,
        (
          select count(*) from (
            select from ${table} queue where queue.client_id = found.client_id and queue.next_attempt_at <= ${now}
            order by queue.next_attempt_at limit ${countOfAppMax}
          ) few
        ) as waiting_of_app
      from (${queue.receivers}) found
        left join unnest(${claim.servedOwners}::text[], ${claim.servedSeconds}::double precision[])
          of_late(owner, served) using (owner)
      where next_attempt_at <= ${now} and coalesce(slow_until > ${now}, false) = ${lane === 'slow'}
    ), candidate as (
      select receiver.*, (select count(*) from unnest(${busyOwners}::text[]) busy where busy = owner)
          + row_number() over (partition by owner order by busy_of_app, next_attempt_at) as turn,
        served + least(greatest(sum(waiting_of_app) over (partition by owner), waiting_beside), ${countOfOwnerMax})
          as burden
      from receiver cross join lateral (
        select count(*) as waiting_beside from (
          select from (${queue.beside} limit ${appsBesideMax}) app cross join lateral (
            select from ${table} queue where queue.client_id = app.client_id and queue.next_attempt_at <= ${now}
            order by queue.next_attempt_at limit 1
          ) one
          where ${isMore} and waiting_of_app < ${countOfOwnerMax} limit ${countOfOwnerMax}
        ) few
      ) beside
      where busy_of_app < ${countOfAppMax}
    ), chosen as materialized (
      select * from candidate where turn <= ${countOfOwnerMax} order by turn, burden, next_attempt_at limit ${countMax}
    ), due as materialized (
      select chosen.*, one.id as picked_id, one.next_attempt_at as picked_due_at
      from chosen cross join lateral (
        select ${id} as id, next_attempt_at from ${table} queue
        where queue.client_id = chosen.client_id and queue.next_attempt_at <= ${now}
        order by queue.next_attempt_at limit ${countOfAppMax} - chosen.busy_of_app for update skip locked
      ) one
    ), ranked as (
      select *, row_number() over (partition by client_id order by picked_due_at) as nth_of_app from due
    ), in_turn as (
      select *, (select count(*) from unnest(${busyOwners}::text[]) busy where busy = owner)
        + row_number() over (partition by owner order by nth_of_app, picked_due_at) as turn_of_owner
      from ranked
    ), picked as materialized (
      select * from in_turn where turn_of_owner <= ${countOfOwnerMax}
      order by turn_of_owner, burden, picked_due_at limit ${countMax}
    )`
}

/** Builds the queries, up to `waiting`, that find apps with due rows, and when the first of these is due. */
function findWaiting(table: RawBuilder<unknown>, now: Date): RawBuilder<unknown> {
  // Repeats the condition of the index on `next_attempt_at`, which no other query should use.
  const inOrder = sql`next_attempt_at <= ${now} and attempts + 0 >= 0`
  // Steps from app to app, skipping the other rows of the previous one.
  const skip = (name: string, start: RawBuilder<unknown>, nth: RawBuilder<unknown>) => sql`
    ${sql.ref(name)} as (
      select ${start} as client_id, null::timestamptz as next_attempt_at, ${nth} as nth where ${isMore}
      union all (
        select next.client_id, next.next_attempt_at, nth + 1 from ${sql.ref(name)} app cross join lateral (
          select client_id, next_attempt_at from ${table} queue
          where next_attempt_at is not null and queue.client_id > app.client_id
          order by client_id, next_attempt_at limit 1
        ) next where nth < ${appsMax}
      )
    )`
  return sql`
    oldest as materialized (
      select client_id, next_attempt_at from ${table} where ${inOrder} order by next_attempt_at limit ${rowsMax}
    ), newest as materialized (
      select client_id, next_attempt_at from ${table} where ${inOrder} and ${isMore}
      order by next_attempt_at desc limit ${rowsMax}
    ), ${skip('further', sql`'app_' || md5(random()::text)`, sql`0`)},
    ${skip('around', sql`''`, sql`(select max(nth) from further)`)}, waiting as (
      select client_id, min(next_attempt_at) as next_attempt_at
      from (
        select client_id, next_attempt_at from oldest union all select client_id, next_attempt_at from newest
        union all select client_id, next_attempt_at from further union all select client_id, next_attempt_at from around
      ) app group by client_id
    )`
}
