import { sql, type RawBuilder } from 'kysely'
import { transaction, type Database } from '#platform/database/database.ts'
import { isDistributed } from '#platform/database/distributed/engine.ts'

/** A claim on a queue: lane and limits. */
export type Claim = {
  lane: 'quick' | 'slow'
  now: Date
  leaseEndsAt: Date
  countMax: number
  countOfOwnerMax: number
  countOfReceiverMax: number
  /** Owners and receivers of the deliveries in progress: one entry for each. */
  busyOwners: string[]
  busyReceivers: string[]
  /** Owners that this process has recently served, and for how many seconds. */
  servedOwners: string[]
  servedSeconds: number[]
}

/**
 * A table in which each row waits for a receiver, mostly an app, whose ID is in the column `receiver`. `receivers` is a
 * query of those with waiting rows (`waiting`), with `receiver_id`, `next_attempt_at`, `owner`, `slow_until` and
 * further columns for the claim. `beside` is a query of the `receiver_id` of those with the same owner as a `receiver`,
 * which may be among them.
 */
export type Queue = {
  table: string
  id: string
  receiver: string
  receivers: RawBuilder<unknown>
  beside: RawBuilder<unknown>
}

/** Number of the oldest waiting rows to consider, and of the newest. */
const rowsMax = 100
/** If more wait, number of further receivers to consider, from a random position in the order of their IDs. */
const receiversMax = 100
/** Number of an owner's other receivers in which more waiting rows are searched. */
const receiversBesideMax = 10

/** Checks whether more rows may be due than are considered. */
const isMore = sql`(select count(*) from oldest) = ${rowsMax}`

/**
 * Builds the queries, up to `picked`, that choose the next rows of a queue; they follow `with recursive`. Owners take
 * turns, and so do the receivers of an owner. Those with few deliveries in progress come first, then those that
 * recently used a slot for little time and have few waiting rows, and only then the earliest due. A new owner therefore
 * does not wait for the backlogs of others, and receivers that respond quickly get more deliveries.
 *
 * Rows that are not due are not considered, and of many due rows only some: the oldest, the newest, and those of some
 * receivers from a random position, because app IDs are random. A claim therefore costs the same for any backlog, new
 * rows are seen at once, and each receiver is seen eventually.
 */
function pickInTurn(queue: Queue, claim: Claim): RawBuilder<unknown> {
  const [table, id, its] = [sql.table(queue.table), sql.ref(queue.id), sql.ref(queue.receiver)]
  const { lane, now, countMax, countOfOwnerMax, countOfReceiverMax, busyOwners, busyReceivers } = claim
  return sql`
    ${findWaiting(table, its, now)}, receiver as (
      select found.*, coalesce(served, 0) as served,
        (select count(*) from unnest(${busyReceivers}::text[]) busy where busy = found.receiver_id)
          as busy_of_receiver,
        (
          select count(*) from (
            select from ${table} queue where queue.${its} = found.receiver_id and queue.next_attempt_at <= ${now}
            order by queue.next_attempt_at limit ${countOfReceiverMax}
          ) few
        ) as waiting_of_receiver
      from (${queue.receivers}) found
        left join unnest(${claim.servedOwners}::text[], ${claim.servedSeconds}::double precision[])
          of_late(owner, served) using (owner)
      where next_attempt_at <= ${now} and coalesce(slow_until > ${now}, false) = ${lane === 'slow'}
    ), candidate as (
      select receiver.*, (select count(*) from unnest(${busyOwners}::text[]) busy where busy = owner)
          + row_number() over (partition by owner order by busy_of_receiver, next_attempt_at) as turn,
        served + least(greatest(sum(waiting_of_receiver) over (partition by owner), waiting_beside), ${countOfOwnerMax})
          as burden
      from receiver cross join lateral (
        select count(*) as waiting_beside from (
          select from (${queue.beside} limit ${receiversBesideMax}) near cross join lateral (
            select from ${table} queue where queue.${its} = near.receiver_id and queue.next_attempt_at <= ${now}
            order by queue.next_attempt_at limit 1
          ) one
          where ${isMore} and waiting_of_receiver < ${countOfOwnerMax} limit ${countOfOwnerMax}
        ) few
      ) beside
      where busy_of_receiver < ${countOfReceiverMax}
    ), chosen as materialized (
      select * from candidate where turn <= ${countOfOwnerMax} order by turn, burden, next_attempt_at limit ${countMax}
    ), due as materialized (
      select chosen.*, one.id as picked_id, one.next_attempt_at as picked_due_at
      from chosen cross join lateral (
        select ${id} as id, next_attempt_at from ${table} queue
        where queue.${its} = chosen.receiver_id and queue.next_attempt_at <= ${now}
        order by queue.next_attempt_at limit ${countOfReceiverMax} - chosen.busy_of_receiver for update skip locked
      ) one
    ), ranked as (
      select *, row_number() over (partition by receiver_id order by picked_due_at) as nth_of_receiver from due
    ), in_turn as (
      select *, (select count(*) from unnest(${busyOwners}::text[]) busy where busy = owner)
        + row_number() over (partition by owner order by nth_of_receiver, picked_due_at) as turn_of_owner
      from ranked
    ), picked as materialized (
      select * from in_turn where turn_of_owner <= ${countOfOwnerMax}
      order by turn_of_owner, burden, picked_due_at limit ${countMax}
    )`
}

type Work = { queue: Queue; claim: Claim; columns: RawBuilder<unknown>; statement: RawBuilder<unknown> }

/**
 * Runs a statement about the next rows of a queue, which it reads as `picked`, with `columns` among others. A
 * distributed database does not choose them in a statement that changes rows, so there it takes two.
 */
export async function withPicked<Row extends object>(
  db: Database,
  { queue, claim, columns, statement }: Work,
): Promise<Row[]> {
  const picking = sql`with recursive ${pickInTurn(queue, claim)}`
  if (!isDistributed(db)) return (await sql<Row>`${picking} ${statement}`.execute(db)).rows
  return transaction(db, async (tx) => {
    const picked = JSON.stringify((await sql`${picking} select * from picked`.execute(tx)).rows)
    const again = sql`with picked as (select * from json_to_recordset(${picked}::json) as picked (${columns}))`
    return (await sql<Row>`${again} ${statement}`.execute(tx)).rows
  })
}

/** Builds the queries, up to `waiting`, that find receivers with due rows, and when the first of these is due. */
function findWaiting(table: RawBuilder<unknown>, its: RawBuilder<unknown>, now: Date): RawBuilder<unknown> {
  // Repeats the condition of the index on `next_attempt_at`, which no other query should use.
  const inOrder = sql`next_attempt_at <= ${now} and attempts + 0 >= 0`
  // Steps from receiver to receiver, skipping the other rows of the previous one.
  const skip = (name: string, start: RawBuilder<unknown>, nth: RawBuilder<unknown>) => sql`
    ${sql.ref(name)} as (
      select ${start} as receiver_id, null::timestamptz as next_attempt_at, ${nth} as nth where ${isMore}
      union all (
        select next.receiver_id, next.next_attempt_at, nth + 1 from ${sql.ref(name)} seen cross join lateral (
          select ${its} as receiver_id, next_attempt_at from ${table} queue
          where next_attempt_at is not null and queue.${its} > seen.receiver_id
          order by queue.${its}, next_attempt_at limit 1
        ) next where nth < ${receiversMax}
      )
    )`
  return sql`
    oldest as materialized (
      select ${its} as receiver_id, next_attempt_at from ${table} where ${inOrder}
      order by next_attempt_at limit ${rowsMax}
    ), newest as materialized (
      select ${its} as receiver_id, next_attempt_at from ${table} where ${inOrder} and ${isMore}
      order by next_attempt_at desc limit ${rowsMax}
    ), ${skip('further', sql`'app_' || md5(random()::text)`, sql`0`)},
    ${skip('around', sql`''`, sql`(select max(nth) from further)`)}, waiting as (
      select receiver_id, min(next_attempt_at) as next_attempt_at
      from (
        select receiver_id, next_attempt_at from oldest union all select receiver_id, next_attempt_at from newest
        union all select receiver_id, next_attempt_at from further
        union all select receiver_id, next_attempt_at from around
      ) seen group by receiver_id
    )`
}
