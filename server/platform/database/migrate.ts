import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as pass } from 'node:timers/promises'
import type pg from 'pg'
import { ConfigError } from '#platform/config/config.ts'
import { databaseCode } from './database-reach.ts'
import { isCluster } from './distributed/engine.ts'

const folder = new URL('../../migrations/', import.meta.url)
const alreadyMade = new Set(['23505', '42P07', '42710'])
/** Error codes of a lock timeout and of a deadlock. */
const metOthers = new Set(['55P03', '40P01'])
/** A statement that waits for a table lock blocks all later ones on that table. */
const lockMilliseconds = 2000
const restMilliseconds = 1000
const attemptsMax = 30

/**
 * Brings the schema up to date: runs each file of `migrations/` once, in order, in its own transaction. Processes that
 * start together wait for each other on one row, without a time limit. A migration that does not get its locks is
 * rolled back and retried; `onWaiting` is called the first time. Throws if a newer version has migrated the database.
 */
export async function migrate(pool: pg.Pool, onWaiting: (reason: string) => void = () => {}): Promise<void> {
  const names = await listMigrations()
  await makeLedger(pool)
  // Citus sends some statements to other nodes as it gets them, and these take one at a time.
  const read = (await isCluster(pool)) ? readStatements : async (name: string) => [await readMigration(name)]
  while (await migrateNext(pool, { names, read }, onWaiting));
}

/** Lists the names of the migrations of this version, in their order. */
export async function listMigrations(): Promise<string[]> {
  return (await readdir(folder)).filter((name) => name.endsWith('.sql')).toSorted()
}

function readMigration(name: string): Promise<string> {
  return readFile(new URL(name, folder), 'utf8')
}

/** Reads the statements of a migration, each of which ends at the end of a line. */
export async function readStatements(name: string): Promise<string[]> {
  const text = (await readMigration(name)).replaceAll(/^ *--.*/gm, '')
  return text.split(/;$/m).filter((statement) => statement.trim() !== '')
}

/** Names of all migrations, and how one is read: the parts that are sent one after another. */
type Migrations = { names: string[]; read: (name: string) => Promise<string[]> }

async function migrateNext(
  pool: pg.Pool,
  migrations: Migrations,
  onWaiting: (reason: string) => void,
): Promise<boolean> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await migrateOnce(pool, migrations)
    } catch (error) {
      const code = databaseCode(error) ?? ''
      if (attempt === attemptsMax || !metOthers.has(code)) throw error
      if (attempt === 1) onWaiting(code)
      await pass(restMilliseconds)
    }
  }
}

/** Runs the next migration. Returns false if none is left. */
async function migrateOnce(pool: pg.Pool, { names, read }: Migrations): Promise<boolean> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    await client.query('set local statement_timeout = 0')
    // Only other starting processes wait for this row.
    await client.query('set local lock_timeout = 0')
    await client.query('select version from schema_lock where version = 0 for update')
    await client.query(`set local lock_timeout = ${lockMilliseconds}`)
    const { rows } = await client.query<{ name: string }>('select name from schema_migration order by name')
    const next = nextMigration(
      names,
      rows.map((row) => row.name),
    )
    if (next !== undefined) {
      for (const part of await read(next)) await client.query(part)
      await client.query('insert into schema_migration (name) values ($1)', [next])
    }
    await client.query('commit')
    return next !== undefined
  } catch (error) {
    // It fails if the connection broke, which `error` tells.
    await client.query('rollback').catch(() => {})
    throw error
  } finally {
    client.release()
  }
}

function nextMigration(names: string[], done: string[]): string | undefined {
  const unknown = done.find((name) => !names.includes(name))
  if (unknown)
    throw new ConfigError(
      `DATABASE_URL or DATA_DIR contains the schema of a newer version (${unknown}). Start that version.`,
    )
  return names.find((name) => !done.includes(name))
}

/**
 * Creates the two tables for migrations. Two processes may do so at the same time; one of them finds the tables
 * created.
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
