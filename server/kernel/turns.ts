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
 * with `client_id`, `due_at`, `owner`, `slow_until` and what else the claim is to know of them.
 */
export type Queue = { table: string; id: string; receivers: RawBuilder<unknown> }

/**
 * The queries, up to `picked`, which choose what is taken next of a queue; they come after `with recursive`. Owners
 * take turns, and so do the apps of an owner: those with few under way come first, then those who had a slot for little
 * time of late and for whom little waits, and only then what is due first. So whoever comes later does not wait for the
 * backlogs of others, however many they are, and who answers soon is sent more than who does not. The apps that wait
 * are found by skipping from one to the next in the index, so that it does not matter how much an app waits for.
 */
export function pickInTurn(queue: Queue, claim: Claim): RawBuilder<unknown> {
  const [table, id] = [sql.table(queue.table), sql.ref(queue.id)]
  const { lane, now, countMax, countOfOwnerMax, countOfAppMax, busyOwners, busyClientIds } = claim
  return sql`
    waiting as (
      (select client_id, due_at from ${table} where due_at is not null order by client_id, due_at limit 1)
      union all (
        select next.client_id, next.due_at from waiting cross join lateral (
          select client_id, due_at from ${table} queue
          where due_at is not null and queue.client_id > waiting.client_id order by client_id, due_at limit 1
        ) next
      )
    ), receiver as (
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
      select *, (select count(*) from unnest(${busyOwners}::text[]) busy where busy = owner)
          + row_number() over (partition by owner order by busy_of_app, due_at) as turn,
        served + least(sum(waiting_of_app) over (partition by owner), ${countOfOwnerMax}) as burden
      from receiver where busy_of_app < ${countOfAppMax}
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
