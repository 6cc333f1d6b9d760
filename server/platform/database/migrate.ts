import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as pass } from 'node:timers/promises'
import type pg from 'pg'
import { ConfigError } from '#platform/config/config.ts'
import { databaseCode } from './database-reach.ts'
import { isCluster } from './distributed/engine.ts'
import { onOwnConnection, urlOf } from './server-pool.ts'

const folder = new URL('../../migrations/', import.meta.url)
const alreadyMade = new Set(['23505', '42P07', '42710'])
/** Error codes of a lock timeout and of a deadlock. */
const metOthers = new Set(['55P03', '40P01'])
/** A statement that waits for a table lock blocks all later ones on that table. */
const lockMilliseconds = 2000
const restMilliseconds = 1000
const attemptsMax = 30

/**
 * Brings the schema up to date: runs each file of `migrations/` once, in order, in its own transaction, after building
 * the indexes that it creates concurrently. Processes that start together wait for each other, without a time limit. A
 * migration that does not get its locks is rolled back and retried; `onWaiting` is called the first time. Throws if a
 * newer version has migrated the database.
 */
export async function migrate(pool: pg.Pool, onWaiting: (reason: string) => void = () => {}): Promise<void> {
  const names = await listMigrations()
  await makeLedger(pool)
  // Citus sends some statements to other nodes as it gets them, and these take one at a time.
  const together = !(await isCluster(pool))
  const database = { pool, url: urlOf(pool), together }
  while (await migrateNext(database, names, onWaiting));
}

/** Lists the names of the migrations of this version, in their order. */
export async function listMigrations(): Promise<string[]> {
  return (await readdir(folder)).filter((name) => name.endsWith('.sql')).toSorted()
}

/** Reads the statements of a migration, each of which ends at the end of a line. */
export async function readStatements(name: string): Promise<string[]> {
  const text = (await readFile(new URL(name, folder), 'utf8')).replaceAll(/^ *--.*/gm, '')
  return text.split(/;$/m).flatMap((statement) => (statement.trim() === '' ? [] : [statement.trim()]))
}

type Migrated = {
  pool: pg.Pool
  /** How further connections reach the database. The embedded one has a single connection. */
  url: string | undefined
  /** True if one message may contain several statements. */
  together: boolean
}

async function migrateNext(database: Migrated, names: string[], onWaiting: (reason: string) => void): Promise<boolean> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await migrateOnce(database, names)
    } catch (error) {
      const code = databaseCode(error) ?? ''
      if (attempt === attemptsMax || !metOthers.has(code)) throw error
      if (attempt === 1) onWaiting(code)
      await pass(restMilliseconds)
    }
  }
}

/** Runs the next migration. Returns false if none is left. */
async function migrateOnce({ pool, url, together }: Migrated, names: string[]): Promise<boolean> {
  const next = await inTurn(pool, (client) => findNext(client, names))
  if (next === undefined) return false
  const { indexes, others } = partsOf(await readStatements(next), url !== undefined)
  if (url !== undefined && indexes.length > 0) await buildIndexes(pool, url, indexes)
  await inTurn(pool, async (client) => {
    if ((await findNext(client, names)) !== next) return
    for (const part of together ? [others.join(';\n')] : others) await client.query(part)
    await client.query('insert into schema_migration (name) values ($1)', [next])
  })
  return true
}

/** An index, with its name, that is built while other processes write to its table. */
const concurrentIndex = /^create index concurrently if not exists (\w+)/

/** Separates the indexes that are built outside of the transaction. Over a single connection, no other writes. */
function partsOf(statements: string[], hasConnections: boolean): { indexes: string[]; others: string[] } {
  if (!hasConnections) return { indexes: [], others: statements.map(withoutConcurrency) }
  const { indexes = [], others = [] } = Object.groupBy(statements, (statement) =>
    concurrentIndex.test(statement) ? 'indexes' : 'others',
  )
  return { indexes, others }
}

/** Returns a migration as one transaction can run it, without other users of the database. */
export function withoutConcurrency(text: string): string {
  return text.replaceAll('create index concurrently ', 'create index ')
}

/** Runs work in a transaction while no other process migrates: these wait for a row. */
async function inTurn<Result>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<Result>): Promise<Result> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    await client.query('set local statement_timeout = 0')
    // Only other starting processes wait for this row.
    await client.query('set local lock_timeout = 0')
    await client.query('select version from schema_lock where version = 0 for update')
    await client.query(`set local lock_timeout = ${lockMilliseconds}`)
    const result = await work(client)
    await client.query('commit')
    return result
  } catch (error) {
    // It fails if the connection broke, which `error` tells.
    await client.query('rollback').catch(() => {})
    throw error
  } finally {
    client.release()
  }
}

/**
 * Builds indexes outside of a transaction, one process at a time. The process locks another row than for a transaction,
 * and the others ask for it again and again. A statement that waits for a lock keeps its snapshot, the building of an
 * index waits for that, and the database would not notice that the two wait for each other.
 */
async function buildIndexes(pool: pg.Pool, url: string, indexes: string[]): Promise<void> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    await client.query('set local idle_in_transaction_session_timeout = 0')
    while (!(await lockBuilding(client))) await pass(restMilliseconds)
    await onOwnConnection(url, 0, async (own) => {
      await dropUnfinished(own, indexes)
      for (const index of indexes) await own.query(index)
    })
  } finally {
    await client.query('rollback').catch(() => {})
    client.release()
  }
}

async function lockBuilding(client: pg.PoolClient): Promise<boolean> {
  const { rowCount } = await client.query('select from schema_lock where version = 1 for update skip locked')
  return rowCount === 1
}

/** Drops those of the indexes that were not completed: the database keeps them, and reads none. */
async function dropUnfinished(pool: pg.Pool, indexes: string[]): Promise<void> {
  const names = indexes.map((index) => concurrentIndex.exec(index)?.[1])
  const { rows } = await pool.query<{ name: string }>(
    `select relname as name from pg_index join pg_class on pg_class.oid = indexrelid
     where not indisvalid and relname = any($1) and relnamespace = current_schema()::regnamespace`,
    [names],
  )
  for (const { name } of rows) await pool.query(`drop index concurrently ${name}`)
}

async function findNext(client: pg.PoolClient, names: string[]): Promise<string | undefined> {
  const { rows } = await client.query<{ name: string }>('select name from schema_migration order by name')
  const done = rows.map((row) => row.name)
  return nextMigration(names, done)
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
    'insert into schema_lock (version) values (0), (1) on conflict do nothing',
  ]
  for (const statement of statements)
    await pool.query(statement).catch((error: Error & { code?: string }) => {
      if (!alreadyMade.has(error.code ?? '')) throw error
    })
}
