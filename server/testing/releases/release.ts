import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { sql } from 'kysely'
import type pg from 'pg'
import { insertRows } from '#operations/backup/store.ts'
import { createStorage, type Database, transaction } from '#platform/database/database.ts'
import { migrate } from '#platform/database/migrate.ts'
import { openTestPool } from '../database.ts'
import { createWorld } from '../world.ts'
import type { ReleasedUsers } from './users.ts'

const migrationsFolder = join(import.meta.dirname, '../../migrations')

/** A released version with a filled database. */
export type Release = {
  version: string
  /** Time of the service when its database was written. */
  at: string
  secretKey: string
  /** SHA-256 of each migration in hex, by name, in order. */
  migrations: Record<string, string>
  users: ReleasedUsers
}

/** Folder of a release: `release.json`, and `rows.br` with all rows. */
export const folderOf = (version: string): string => join(import.meta.dirname, version)

/** Lists the versions of all releases, oldest first. */
export async function listReleases(): Promise<string[]> {
  const entries = await readdir(import.meta.dirname, { withFileTypes: true })
  const versions = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
  return versions.toSorted(new Intl.Collator('en', { numeric: true }).compare)
}

export async function readRelease(version: string): Promise<Release> {
  return JSON.parse(await readFile(join(folderOf(version), 'release.json'), 'utf8'))
}

export async function hashMigration(name: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(join(migrationsFolder, name)))
    .digest('hex')
}

/** Opens a world of the present version on the database that a release has left. */
export async function openRelease({ version, at, secretKey, migrations }: Release, environment = {}) {
  const { pool, close } = await openTestPool()
  const storage = createStorage(pool, { closeAll: close })
  await createSchema(pool, Object.keys(migrations))
  await insertAll(storage.db, await readFile(join(folderOf(version), 'rows.br')))
  await migrate(pool)
  return createWorld({ environment, secretKey, storage, startedAt: new Date(at) })
}

/** Creates the schema of a release in an empty database, without the rows that say so. */
async function createSchema(pool: pg.Pool, migrations: string[]): Promise<void> {
  for (const name of migrations) await pool.query(await readFile(join(migrationsFolder, name), 'utf8'))
  await pool.query('create table schema_migration (name text primary key)')
  await pool.query('create table schema_lock (version integer primary key)')
}

async function insertAll(db: Database, compressed: Buffer): Promise<void> {
  const lines = brotliDecompressSync(compressed).toString().trimEnd().split('\n')
  const tables = Map.groupBy(lines, (line) => line.slice(0, line.indexOf('\t')))
  await transaction(db, async (tx) => {
    // The rows are consistent, but not in the order of their references.
    await sql`set local session_replication_role = replica`.execute(tx)
    for (const [table, rows] of tables) {
      const values = rows.map((line) => line.slice(table.length + 1))
      await insertRows(tx, table, values)
    }
  })
}
