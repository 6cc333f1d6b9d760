import { PostgresAdapter, PostgresDialect, sql, type PostgresPool, type RawBuilder } from 'kysely'
import type pg from 'pg'
import type { Database } from '../database.ts'
import type { Tables } from '../tables.ts'

/** Names of the replicas that the coordinator of a cluster has, by those of the tables that every node has. */
export type Replicas = ReadonlyMap<string, string>

/** Tells statements that their rows are in shards. */
class DistributedAdapter extends PostgresAdapter {
  readonly replicas: Replicas

  constructor(replicas: Replicas) {
    super()
    this.replicas = replicas
  }
}

class DistributedDialect extends PostgresDialect {
  readonly #replicas: Replicas

  constructor(pool: PostgresPool, replicas: Replicas) {
    super({ pool })
    this.#replicas = replicas
  }

  override createAdapter(): DistributedAdapter {
    return new DistributedAdapter(this.#replicas)
  }
}

/** Creates the dialect of a database, which is distributed if it has replicas. */
export function createDialect(pool: PostgresPool, replicas: Replicas | undefined): PostgresDialect {
  return replicas ? new DistributedDialect(pool, replicas) : new PostgresDialect({ pool })
}

/** Checks whether a database can be distributed on several nodes. */
export async function isCluster(pool: pg.Pool): Promise<boolean> {
  const { rows } = await pool.query<{ present: boolean }>(
    `select to_regclass('pg_dist_partition') is not null as present`,
  )
  return rows[0]?.present === true
}

/** Reads the replicas of a database, or returns undefined if it is not distributed. */
export async function readReplicas(pool: pg.Pool): Promise<Replicas | undefined> {
  if (!(await isCluster(pool))) return undefined
  const { rows } = await pool.query<{ name: string; replica: string }>(`
    select logicalrelid::text as name, shard_name(logicalrelid, shardid) as replica
    from pg_dist_partition join pg_dist_shard using (logicalrelid) where repmodel = 't'`)
  return rows.length > 0 ? new Map(rows.map(({ name, replica }) => [name, replica])) : undefined
}

/** Checks whether the rows of this database are in shards. */
export function isDistributed(db: Database): boolean {
  return db.getExecutor().adapter instanceof DistributedAdapter
}

/**
 * Returns a table that every node has, for a lock of rows that transactions share. Through Citus, such a lock is one of
 * all rows. In the replica of the coordinator it is one of a row: every change of the row changes that replica too, and
 * the service has no connection to another node. It is also for statements that change rows of the coordinator alone:
 * Citus refuses some of them with a table of every node.
 */
export function replicaOf(db: Database, table: keyof Tables): RawBuilder<unknown> {
  const { adapter } = db.getExecutor()
  const replica = adapter instanceof DistributedAdapter ? adapter.replicas.get(table) : undefined
  return replica === undefined ? sql.table(table) : sql`${sql.table(replica)} as ${sql.ref(table)}`
}

/**
 * Marks a statement of which a distributed database gets another form, because it does not take this one, or reads more
 * for it. The check of shards then reads the other form, on a cluster.
 */
export const onOneServer = sql`/* on one server */`

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

/**
 * Builds the lock of rows of tables that every node has, from which a statement inserts into such a table. Several
 * transactions can hold it. In a distributed database, it is one of the whole table, and two transactions that share it
 * wait for each other: there, one holds it at a time.
 */
export function lockShared(db: Database): RawBuilder<unknown> {
  return isDistributed(db) ? sql`for no key update` : sql`for key share`
}
