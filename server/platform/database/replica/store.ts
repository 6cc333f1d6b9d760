import { sql } from 'kysely'
import type { Database } from '../database.ts'

/** Where the history of the primary ends. */
export type Position = {
  /** Identifier of the cluster, which its standbys share, and OID of the database in it. */
  system: string
  database: string
  /** Last migration. */
  schema: string
  timeline: number
  /** Bytes of WAL up to its end. */
  end: bigint
}

export type StandbyState = Omit<Position, 'end'> & {
  isInRecovery: boolean
  /** Bytes of WAL up to the last record that it has replayed. */
  replayed: bigint
  sendsFeedback: boolean
}

const identity = sql`
  system_identifier::text as system,
  (select oid::text from pg_database where datname = current_database()) as database,
  (select max(name) from schema_migration) as schema`

/**
 * Returns the present end of the primary's history, or undefined if this database is not a primary now.
 *
 * The end of what is *inserted*: with `synchronous_commit = off`, and in transactions on unlogged tables alone, others
 * see a commit before it is flushed. The name of its WAL file has the timeline, also directly after a promotion, when
 * the last checkpoint is of the former one.
 */
export async function readPosition(primary: Database): Promise<Position | undefined> {
  const { rows } = await sql<Omit<Position, 'end' | 'timeline'> & { end: string; walFile: string | null }>`
    select ${identity}, pg_wal_lsn_diff(lsn, '0/0')::text as "end", pg_walfile_name(lsn) as "walFile"
    from pg_control_system(),
      (select case when pg_is_in_recovery() then null else pg_current_wal_insert_lsn() end as lsn) present`.execute(
    primary,
  )
  const [row] = rows
  if (!row || row.walFile === null) return undefined
  const { walFile, end, ...position } = row
  return { ...position, end: BigInt(end), timeline: Number.parseInt(walFile.slice(0, 8), 16) }
}

/**
 * Returns the state of a standby. Its timeline is the last one of which it has certainly replayed something: it learns
 * of a new one late, with a checkpoint of its own.
 */
export async function readStandbyState(standby: Database): Promise<StandbyState | undefined> {
  const { rows } = await sql<Omit<StandbyState, 'replayed'> & { replayed: string | null }>`
    select ${identity},
      greatest(timeline_id, min_recovery_end_timeline) as timeline,
      pg_is_in_recovery() as "isInRecovery",
      pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::text as replayed,
      current_setting('hot_standby_feedback')::boolean as "sendsFeedback"
    from pg_control_system(), pg_control_checkpoint(), pg_control_recovery()`.execute(standby)
  const [row] = rows
  return row && { ...row, replayed: BigInt(row.replayed ?? 0) }
}
