import type pg from 'pg'

const upkeepMilliseconds = 60_000
/** The log that a start after `kill -9` or a power failure has to replay, apart from that of the last minute. */
const logBytesMax = 64 * 1024 * 1024

/** Begins the upkeep, and returns the function that ends it. `onError` is called if a run fails; others follow. */
export function startUpkeep(pool: pg.Pool, onError: (error: Error) => void): () => Promise<void> {
  let running: Promise<void> | undefined
  const timer = setInterval(() => {
    // One that waits for a long transaction is enough.
    running ??= keepUp(pool)
      .catch(onError)
      .finally(() => (running = undefined))
  }, upkeepMilliseconds).unref()
  return async () => {
    clearInterval(timer)
    await running
  }
}

/** Does what separate processes of a PostgreSQL server do: autovacuum, and checkpoints, so that its log is reused. */
async function keepUp(pool: pg.Pool): Promise<void> {
  // One table at a time, because all requests wait for it. The thresholds are the defaults of autovacuum. Large values
  // are in tables of their own (kind `t`), which have no statistics to update.
  const { rows: tables } = await pool.query<{ name: string }>(`
    select relid::regclass::text as name
    from pg_stat_all_tables join pg_class on pg_class.oid = relid
    where n_dead_tup > 50 + 0.2 * reltuples or age(relfrozenxid) > 2e8
      or (relkind <> 't' and n_mod_since_analyze > 50 + 0.1 * reltuples)
    order by age(relfrozenxid) > 2e8 desc, n_dead_tup + n_mod_since_analyze desc limit 1`)
  if (tables[0]) await pool.query(`vacuum (analyze) ${tables[0].name}`)

  const log = 'select pg_current_wal_insert_lsn() - redo_lsn > $1 as "isLong" from pg_control_checkpoint()'
  const { rows } = await pool.query<{ isLong: boolean }>(log, [logBytesMax])
  if (rows[0]?.isLong) await pool.query('checkpoint')
}
