import { constants, existsSync } from 'node:fs'
import { access, cp, mkdir, realpath, rename, rm } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { PGlite } from '@electric-sql/pglite'
import manifest from '#package.json' with { type: 'json' }
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { ConfigError } from '#platform/config/config.ts'
import { canFlush, flushDirectory } from '#platform/config/data-directory.ts'
import { FlushedFiles, flushParameters, flushTree } from './embedded/flushed-files.ts'
import { EmbeddedSocket } from './embedded/socket.ts'
import { startUpkeep } from './embedded/upkeep.ts'

/**
 * Template of an empty database, as `initdb` creates it. Installation builds it, because that takes longer than the
 * rest of a start.
 */
const template = fileURLToPath(
  new URL(`../../dist/database-${manifest.dependencies['@electric-sql/pglite']}`, import.meta.url),
)

/** Creates the template, unless it exists for this version of the database. */
export async function createEmbeddedTemplate(): Promise<void> {
  if (existsSync(template)) return
  const unfinished = `${template}.new`
  await rm(unfinished, { recursive: true, force: true })
  await initialize(unfinished)
  await rename(unfinished, template)
}

async function initialize(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true })
  const database = await PGlite.create(directory)
  await database.close()
}

/** Creates an empty database, as a copy of the template if there is one. It gets its name when it is on the disk. */
async function createDatabase(directory: string): Promise<void> {
  const unfinished = `${directory}.new`
  await rm(unfinished, { recursive: true, force: true })
  if (existsSync(template)) await cp(template, unfinished, { recursive: true })
  else await initialize(unfinished)
  flushTree(unfinished)
  await rename(unfinished, directory)
  flushDirectory(dirname(directory))
}

/** `shared_buffers` suits one process on a small machine; the default takes 128 MB more. */
const startParameters = ['-c', 'shared_buffers=16MB', ...flushParameters]

/** `onPanic` is called before any other request reaches a failed backend. After `onUpkeepError` the database works. */
export type Listeners = { onPanic: (message: string) => void; onUpkeepError: (error: Error) => void }

export type Embedded = { pool: pg.Pool; close: () => Promise<void> }

/**
 * Opens PostgreSQL in this process, with its files in `directory`. Throws `ConfigError` if another process uses it.
 */
export async function openEmbeddedDatabase(directory: string, listeners: Listeners): Promise<Embedded> {
  const lock = await lockDirectory(directory)
  const database = await openDatabase(join(directory, 'database')).catch((error: Error) => {
    const isRefused = 'code' in error && typeof error.code === 'string' && refusals.has(error.code)
    throw new ConfigError(
      isRefused
        ? `DATA_DIR cannot be used (${error.message}). Make ${directory} writable for this user, with free space.`
        : `DATA_DIR contains a database that cannot be opened (${error.message}). Restore ${directory} from a backup.`,
    )
  })
  const pool = embeddedPool(database, listeners.onPanic)
  const stopUpkeep = startUpkeep(pool, listeners.onUpkeepError)
  return {
    pool,
    async close() {
      await stopUpkeep()
      await pool.end()
      await database.close()
      lock.close()
    },
  }
}

/** Codes with which the operating system refuses to write. They do not mean that the database is damaged. */
const refusals = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'EDQUOT'])

/** Opens the database in a directory, which it creates. The caller locks the directory. */
export async function openDatabase(directory: string): Promise<PGlite> {
  if (!existsSync(directory)) await createDatabase(directory)
  await access(join(directory, 'global/pg_control'), constants.W_OK)
  // A copy, or the work of a version that flushed nothing, may not be on the disk yet.
  if (canFlush) flushTree(directory)
  const startParams = [...PGlite.defaultStartParams, ...startParameters]
  return PGlite.create({ fs: new FlushedFiles(directory), startParams })
}

/** Creates a `pg` pool over an embedded database. It has one connection, because the database has one session. */
export function embeddedPool(database: PGlite, onPanic: (message: string) => void): pg.Pool {
  return new pg.Pool({
    stream: () => new EmbeddedSocket(database, onPanic),
    max: 1,
    pipeline: true,
    idleTimeoutMillis: 0,
    user: 'postgres',
    database: 'postgres',
    ssl: false,
  })
}

/**
 * Locks the data directory against other processes until this one ends in any way. An exclusive transaction on an
 * SQLite file is a lock that every operating system releases with the process, also across containers on one volume.
 */
async function lockDirectory(directory: string): Promise<DatabaseSync> {
  await mkdir(directory, { recursive: true, mode: 0o700 }).catch((error: Error) => {
    throw new ConfigError(`DATA_DIR cannot be used (${error.message}). Make ${directory} writable for this user.`)
  })
  try {
    const lock = new DatabaseSync(join(await realpath(directory), 'lock'), { timeout: 0 })
    lock.exec('pragma locking_mode = exclusive; begin exclusive')
    return lock
  } catch (error) {
    if (error instanceof Error && 'errcode' in error && error.errcode === sqliteBusy)
      throw new ConfigError(`DATA_DIR ${directory} is in use by another Countersign process. Stop it first.`)
    const reason = error instanceof Error ? error.message : String(error)
    throw new ConfigError(`DATA_DIR cannot be used (${reason}). Make ${directory} writable for this user.`)
  }
}

const sqliteBusy = 5
