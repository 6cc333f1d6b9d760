import { sql, type RawBuilder } from 'kysely'

/** How much to take of a queue, of which lane. */
export type Claim = {
  lane: 'quick' | 'slow'
  now: Date
  leaseEndsAt: Date
  countMax: number
  countOfOwnerMax: number
  countOfAppMax: number
  /** Whose is under way, and for which app: one entry for each. */
  busyOwners: string[]
  busyClientIds: string[]
  /** For whom this process has had something under way of late, and for how many seconds. */
  servedOwners: string[]
  servedSeconds: number[]
}

/**
 * A table in which each row waits for an app. Its receivers are a query of the apps among those that wait (`waiting`),
 * with `client_id`, `due_at`, `owner`, `slow_until` and what else the claim is to know of them. `beside` is a query of
 * the apps that have the same owner as a `receiver`, which may be among them.
 */
export type Queue = { table: string; id: string; receivers: RawBuilder<unknown>; beside: RawBuilder<unknown> }

/** How many of those that wait the longest are looked at, and as many of the last that came. */
const rowsMax = 100
/** Where more wait, how many apps are looked at beside these, from a random place on in the order of their ids. */
const appsMax = 100
/** Then, in how many apps of an owner is looked for more that waits. */
const appsBesideMax = 10

/** Whether there may be more that is due than what is looked at. */
const isMore = sql`(select count(*) from oldest) = ${rowsMax}`

/**
 * The queries, up to `picked`, which choose what is taken next of a queue; they come after `with recursive`. Owners
 * take turns, and so do the apps of an owner: those with few under way come first, then those who had a slot for little
 * time of late and for whom little waits, and only then what is due first. So whoever comes later does not wait for the
 * backlogs of others, however many they are, and who answers soon is sent more than who does not.
 *
 * What is not due is not looked at, and of what is due not all where that is much: what came first, what came last, and
 * what some apps wait for, from a random place on, as the ids of apps are random. So a claim costs the same however
 * much is due, what has just come is seen at once, and each app is seen sooner or later, whatever others wait for.
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
            select from ${table} queue where queue.client_id = found.client_id and queue.due_at <= ${now}
            order by queue.due_at limit ${countOfAppMax}
          ) few
        ) as waiting_of_app
      from (${queue.receivers}) found
        left join unnest(${claim.servedOwners}::text[], ${claim.servedSeconds}::double precision[])
          of_late(owner, served) using (owner)
      where due_at <= ${now} and coalesce(slow_until > ${now}, false) = ${lane === 'slow'}
    ), candidate as (
      select receiver.*, (select count(*) from unnest(${busyOwners}::text[]) busy where busy = owner)
          + row_number() over (partition by owner order by busy_of_app, due_at) as turn,
        served + least(greatest(sum(waiting_of_app) over (partition by owner), waiting_beside), ${countOfOwnerMax})
          as burden
      from receiver cross join lateral (
        select count(*) as waiting_beside from (
          select from (${queue.beside} limit ${appsBesideMax}) app cross join lateral (
            select from ${table} queue where queue.client_id = app.client_id and queue.due_at <= ${now}
            order by queue.due_at limit 1
          ) one
          where ${isMore} and waiting_of_app < ${countOfOwnerMax} limit ${countOfOwnerMax}
        ) few
      ) beside
      where busy_of_app < ${countOfAppMax}
    ), chosen as materialized (
      select * from candidate where turn <= ${countOfOwnerMax} order by turn, burden, due_at limit ${countMax}
    ), due as materialized (
      select chosen.*, one.id as picked_id, one.due_at as picked_due_at
      from chosen cross join lateral (
        select ${id} as id, due_at from ${table} queue
        where queue.client_id = chosen.client_id and queue.due_at <= ${now}
        order by queue.due_at limit ${countOfAppMax} - chosen.busy_of_app for update skip locked
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

/** The queries, up to `waiting`, which find apps that wait for something, and when the first of that is due. */
function findWaiting(table: RawBuilder<unknown>, now: Date): RawBuilder<unknown> {
  // Written as the condition of the index by `due_at`, which no other query is to use.
  const inOrder = sql`due_at <= ${now} and attempts + 0 >= 0`
  // An app after the other, skipping what else the one before it waits for.
  const skip = (name: string, start: RawBuilder<unknown>, nth: RawBuilder<unknown>) => sql`
    ${sql.ref(name)} as (
      select ${start} as client_id, null::timestamptz as due_at, ${nth} as nth where ${isMore}
      union all (
        select next.client_id, next.due_at, nth + 1 from ${sql.ref(name)} app cross join lateral (
          select client_id, due_at from ${table} queue
          where due_at is not null and queue.client_id > app.client_id order by client_id, due_at limit 1
        ) next where nth < ${appsMax}
      )
    )`
  return sql`
    oldest as materialized (
      select client_id, due_at from ${table} where ${inOrder} order by due_at limit ${rowsMax}
    ), newest as materialized (
      select client_id, due_at from ${table} where ${inOrder} and ${isMore} order by due_at desc limit ${rowsMax}
    ), ${skip('further', sql`'app_' || md5(random()::text)`, sql`0`)},
    ${skip('around', sql`''`, sql`(select max(nth) from further)`)}, waiting as (
      select client_id, min(due_at) as due_at
      from (
        select client_id, due_at from oldest union all select client_id, due_at from newest
        union all select client_id, due_at from further union all select client_id, due_at from around
      ) app group by client_id
    )`
}
