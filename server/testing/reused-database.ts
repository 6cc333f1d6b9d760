import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type pg from 'pg'
import { atEndOfTests } from '../../tools/end-of-tests.ts'
import { embeddedPool, openDatabase } from '#platform/database/embedded.ts'
import { startUpkeep } from '#platform/database/embedded/upkeep.ts'
import { copyMigrated, failing } from './migrated-database.ts'

type Reused = { database: Awaited<ReturnType<typeof openDatabase>>; directory: string; fingerprint: string }

/** Databases of this process that no test uses, without rows. */
const unused: Reused[] = []

// The timers of an open database keep its process alive for seconds.
atEndOfTests(() => Promise.all(unused.map(remove)))

/**
 * Opens a migrated embedded database without rows. Test files of one process get it one after another: opening one
 * takes as long as a test. A file that changes the schema or the statistics of the planner is the last to get it.
 */
export async function openReusedDatabase(): Promise<{ pool: pg.Pool; close: () => Promise<void> }> {
  const reused = unused.pop() ?? (await openNew())
  const pool = embeddedPool(reused.database, failing.onPanic)
  const stopUpkeep = startUpkeep(pool, failing.onUpkeepError)
  return {
    pool,
    async close() {
      await stopUpkeep()
      await pool.end()
      if (await becomesAsNew(reused)) unused.push(reused)
      else await remove(reused)
    },
  }
}

async function openNew(): Promise<Reused> {
  const directory = await mkdtemp(join(tmpdir(), 'countersign-'))
  await copyMigrated(directory)
  const database = await openDatabase(join(directory, 'database'))
  return { database, directory, fingerprint: await onConnection({ database }, readFingerprint) }
}

async function remove({ database, directory }: Reused): Promise<void> {
  await database.close()
  await rm(directory, { recursive: true, force: true })
}

/** Deletes all rows of tests. Returns whether nothing else has changed. */
function becomesAsNew(reused: Reused): Promise<boolean> {
  return onConnection(reused, async (pool) => {
    await pool.query(deleteAllRows)
    return (await readFingerprint(pool)) === reused.fingerprint
  })
}

/** A new connection inherits no settings, prepared statements or locks. */
async function onConnection<Result>(
  { database }: Pick<Reused, 'database'>,
  work: (pool: pg.Pool) => Promise<Result>,
): Promise<Result> {
  const pool = embeddedPool(database, failing.onPanic)
  try {
    return await work(pool)
  } finally {
    await pool.end()
  }
}

/** Deleted rows remain in the files of a table, so a large one is truncated, which costs more. */
const deleteAllRows = `
  do $$
  declare
    filled record;
  begin
    set local session_replication_role = replica;
    for filled in
      select oid::regclass::text as name, pg_relation_size(oid) > 65536 as is_large from pg_class
      where relkind = 'r' and relnamespace = 'public'::regnamespace and pg_relation_size(oid) > 0
        and relname not in ('schema_migration', 'schema_lock')
    loop
      execute case when filled.is_large then 'truncate ' else 'delete from ' end || filled.name
        || case when filled.is_large then ' cascade' else '' end;
    end loop;
  end $$`

/** Reads what describes the schema, its migrations, and what the planner knows of it. */
async function readFingerprint(pool: pg.Pool): Promise<string> {
  const { rows } = await pool.query<{ fingerprint: string }>(`
    select string_agg(each::text, ' ' order by each::text) as fingerprint from (
      select 'relation', md5(string_agg(row(relname, relkind, relnatts, reloptions, reltuples)::text, ',' order by oid))
      from pg_class where relnamespace = 'public'::regnamespace and relkind <> 'i'
      union all
      select 'column', md5(string_agg(
        row(attrelid, attname, atttypid, attnotnull, atthasdef)::text, ',' order by attrelid, attnum))
      from pg_attribute join pg_class on pg_class.oid = attrelid where relnamespace = 'public'::regnamespace
      union all
      select 'migration', md5(string_agg(schema_migration::text, ',' order by schema_migration::text))
      from schema_migration
      union all
      select 'index', md5(string_agg(row(indexrelid, indisvalid, indkey)::text, ',' order by indexrelid))
      from pg_index
      union all
      select 'trigger', md5(string_agg(row(tgname, tgenabled, tgrelid)::text, ',' order by oid)) from pg_trigger
      union all
      select 'function', md5(string_agg(row(proname, md5(prosrc))::text, ',' order by oid))
      from pg_proc where pronamespace = 'public'::regnamespace
      union all
      select 'constraint', md5(string_agg(row(conname, conrelid, convalidated)::text, ',' order by oid))
      from pg_constraint
      union all
      select 'statistics', count(*)::text from pg_statistic
      union all
      select 'settings', count(*)::text from pg_db_role_setting
    ) each`)
  return rows[0]?.fingerprint ?? ''
}
