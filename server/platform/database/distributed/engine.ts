import { PostgresAdapter, PostgresDialect, sql, type PostgresPool, type RawBuilder } from 'kysely'
import type pg from 'pg'
import type { Database } from '../database.ts'

/** Tells statements that their rows are in shards. */
class DistributedAdapter extends PostgresAdapter {}

class DistributedDialect extends PostgresDialect {
  override createAdapter(): DistributedAdapter {
    return new DistributedAdapter()
  }
}

export function createDialect(pool: PostgresPool, distributed: boolean): PostgresDialect {
  return distributed ? new DistributedDialect({ pool }) : new PostgresDialect({ pool })
}

/** Checks whether the tables of a database are distributed on several nodes. */
export async function isCluster(pool: pg.Pool): Promise<boolean> {
  const { rows } = await pool.query<{ present: boolean }>(
    `select to_regclass('pg_dist_partition') is not null as present`,
  )
  return rows[0]?.present === true
}

/** Checks whether the rows of this database are in shards. */
export function isDistributed(db: Database): boolean {
  return db.getExecutor().adapter instanceof DistributedAdapter
}

/**
 * Builds a part of a statement that only a distributed database executes. One server gets it as a comment: it needs no
 * condition that tells the shards, and may plan a worse statement with it. For statements that are texts.
 */
export function inShards(part: string): string {
  return `/* in shards: ${part} */`
}

/** Returns a statement as a distributed database executes it. */
export function toSharded<Statement extends { text: string }>(statement: Statement): Statement {
  return { ...statement, text: statement.text.replaceAll(/\/\* in shards: ([^*]+) \*\//g, '$1') }
}

/** Adds an interval to an instant, in UTC. That of both depends on the time zone, and Citus refuses it in an update. */
export function addInterval(instant: Date, interval: RawBuilder<unknown>): RawBuilder<Date> {
  return sql`(${instant}::timestamptz at time zone 'UTC' + ${interval}) at time zone 'UTC'`
}

/**
 * Builds the lock of rows that background work takes, so that several processes take different ones. A distributed
 * database cannot lock what it selects in several shards, or the same rows on every node. There, processes can select
 * the same rows, and all but one wait for the first and then find them changed: the statement itself must check that.
 */
export function lockUnlocked(db: Database, table?: string): RawBuilder<unknown> {
  if (isDistributed(db)) return sql``
  return table === undefined ? sql`for update skip locked` : sql`for update of ${sql.table(table)} skip locked`
}
