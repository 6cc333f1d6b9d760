import assert from 'node:assert/strict'
import { sql } from 'kysely'
import type { Database } from '#platform/database/database.ts'
import { isDistributed } from '#platform/database/distributed/engine.ts'

/** True if the database has several connections. On the embedded database, transactions run one after another. */
export const isShared = process.env['TEST_DATABASE_URL'] !== undefined

/** Counts the transactions that wait for a lock of another. In a cluster, they wait on any node, or on several. */
export async function countWaiting(db: Database): Promise<number> {
  const waiting = isDistributed(db)
    ? sql`(select distinct global_pid from citus_stat_activity`
    : sql`(select pid from pg_stat_activity`
  const { rows } = await sql<{ there: number }>`
    select count(*)::integer as there
    from ${waiting} where datname = current_database() and wait_event_type = 'Lock') waiting`.execute(db)
  return rows[0]?.there ?? 0
}

/** Resolves when this many transactions wait for a lock of another, and at once on the embedded database. */
export async function untilWaiting(db: Database, count: number): Promise<void> {
  if (!isShared) return
  for (let looked = 0; looked < 5000; looked += 1) if ((await countWaiting(db)) === count) return
  assert.fail(`there were never ${count} that waited`)
}
