import { readdir, readFile } from 'node:fs/promises'
import type pg from 'pg'
import { ConfigError } from './config.ts'

const folder = new URL('../migrations/', import.meta.url)
const alreadyMade = new Set(['23505', '42P07', '42710'])

/**
 * Brings the schema up to date: each file of `migrations/` once, in order, in a transaction of its own. Processes that
 * start together wait for each other on one row. Refuses a database that a newer version has migrated.
 */
export async function migrate(pool: pg.Pool): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).toSorted()
  await makeLedger(pool)
  while (await migrateOnce(pool, names));
}

/** Takes the next migration, if there is one; false when there is none left. */
async function migrateOnce(pool: pg.Pool, names: string[]): Promise<boolean> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    await client.query('select version from schema_lock where version = 0 for update')
    const { rows } = await client.query<{ name: string }>('select name from schema_migration order by name')
    const next = nextMigration(
      names,
      rows.map((row) => row.name),
    )
    if (next !== undefined) {
      await client.query(await readFile(new URL(next, folder), 'utf8'))
      await client.query('insert into schema_migration (name) values ($1)', [next])
    }
    await client.query('commit')
    return next !== undefined
  } catch (error) {
    await client.query('rollback')
    throw error
  } finally {
    client.release()
  }
}

function nextMigration(names: string[], done: string[]): string | undefined {
  const unknown = done.find((name) => !names.includes(name))
  if (unknown)
    throw new ConfigError(
      `DATABASE_URL or DATA_DIR holds the schema of a newer version (${unknown}): start that version.`,
    )
  return names.find((name) => !done.includes(name))
}

/**
 * The two tables that the migrations stand on. Two processes may make them at once; one of them then finds them made.
 */
async function makeLedger(pool: pg.Pool): Promise<void> {
  const statements = [
    'create table if not exists schema_migration (name text primary key)',
    'create table if not exists schema_lock (version integer primary key)',
    'insert into schema_lock (version) values (0) on conflict do nothing',
  ]
  for (const statement of statements)
    await pool.query(statement).catch((error: Error & { code?: string }) => {
      if (!alreadyMade.has(error.code ?? '')) throw error
    })
}
