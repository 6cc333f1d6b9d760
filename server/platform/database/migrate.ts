import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as pass } from 'node:timers/promises'
import type pg from 'pg'
import { ConfigError } from '#platform/config/config.ts'
import { databaseCode } from './database-reach.ts'

const folder = new URL('../../migrations/', import.meta.url)
const alreadyMade = new Set(['23505', '42P07', '42710'])
/** A lock that was not free in time, or one for which two transactions waited for each other. */
const metOthers = new Set(['55P03', '40P01'])
/** Who waits for a lock on a table stands before everybody who asks for that table later. */
const lockMilliseconds = 2000
const restMilliseconds = 1000
const attemptsMax = 30

/**
 * Brings the schema up to date: each file of `migrations/` once, in order, in a transaction of its own. Processes that
 * start together wait for each other on one row, for as long as it takes. A migration that does not get its locks is
 * undone and tried again; `onWaiting` hears of the first time. Refuses a database that a newer version has migrated.
 */
export async function migrate(pool: pg.Pool, onWaiting: (reason: string) => void = () => {}): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).toSorted()
  await makeLedger(pool)
  while (await migrateNext(pool, names, onWaiting));
}

async function migrateNext(pool: pg.Pool, names: string[], onWaiting: (reason: string) => void): Promise<boolean> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await migrateOnce(pool, names)
    } catch (error) {
      const code = databaseCode(error) ?? ''
      if (attempt === attemptsMax || !metOthers.has(code)) throw error
      if (attempt === 1) onWaiting(code)
      await pass(restMilliseconds)
    }
  }
}

/** Takes the next migration, if there is one; false when there is none left. */
async function migrateOnce(pool: pg.Pool, names: string[]): Promise<boolean> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    await client.query('set local statement_timeout = 0')
    // Nobody but other starts waits for this row.
    await client.query('set local lock_timeout = 0')
    await client.query('select version from schema_lock where version = 0 for update')
    await client.query(`set local lock_timeout = ${lockMilliseconds}`)
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
