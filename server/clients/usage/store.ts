import { sql } from 'kysely'
import type { ClientId } from '@countersign/protocol/ids'
import type { Database } from '#platform/database/database.ts'
import { lockShared } from '#platform/database/distributed/engine.ts'

/** Requests of an app with one outcome on one day. `day` counts from 1970-01-01 (UTC). */
export type DayCount = { clientId: ClientId; kind: string; day: number; count: number; lastAt: Date }

/**
 * Adds counts, except those of apps that are gone and of unregistered clients. Processes add in the same order, so that
 * none waits for another that waits for it.
 */
export async function addCounts(db: Database, counts: DayCount[]): Promise<void> {
  const column = <Key extends keyof DayCount>(key: Key) => counts.map((count) => count[key])
  await sql`
    insert into app_usage (client_id, kind, day, count, last_at)
    select counted.client_id, kind, day, count, last_at
    from unnest(
      ${column('clientId')}::text[], ${column('kind')}::text[], ${column('day')}::integer[],
      ${column('count')}::bigint[], ${column('lastAt')}::timestamptz[]
    ) as counted (client_id, kind, day, count, last_at)
    cross join lateral (
      select 1 from app where app.client_id = counted.client_id and metadata_fetched_at is null
      ${lockShared(db)}
    ) registered
    order by counted.client_id, kind, day
    on conflict (client_id, kind, day) do update set
      count = app_usage.count + excluded.count, last_at = greatest(app_usage.last_at, excluded.last_at)`.execute(db)
}

/** Lists the counts of an app, oldest day first. */
export async function listCounts(db: Database, clientId: ClientId): Promise<DayCount[]> {
  const rows = await db
    .selectFrom('app_usage')
    .select(['client_id as clientId', 'kind', 'day', 'count', 'last_at as lastAt'])
    .where('client_id', '=', clientId)
    .orderBy('day')
    .execute()
  return rows.map(({ count, ...row }) => ({ ...row, count: Number(count) }))
}

/** Finds the latest count of one kind for each of these apps. */
export async function findLatest(
  db: Database,
  clientIds: ClientId[],
  kind: string,
): Promise<{ clientId: ClientId; lastAt: Date }[]> {
  const { rows } = await sql<{ clientId: ClientId; lastAt: Date }>`
    select requested.client_id as "clientId", latest.last_at as "lastAt"
    from unnest(${clientIds}::text[]) as requested (client_id)
    cross join lateral (
      select last_at from app_usage where app_usage.client_id = requested.client_id and kind = ${kind}
      order by day desc limit 1
    ) latest`.execute(db)
  return rows
}

/** Deletes up to `batch` counts of days before one. Returns their number. */
export async function deleteCountsBefore(db: Database, day: number, batch: number): Promise<number> {
  const old = db.selectFrom('app_usage').select(['client_id', 'kind', 'day']).where('day', '<', day).limit(batch)
  const { numDeletedRows } = await db
    .deleteFrom('app_usage')
    .where(({ eb, refTuple }) =>
      eb(refTuple('client_id', 'kind', 'day'), 'in', old.$asTuple('client_id', 'kind', 'day')),
    )
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}
