import { mkdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { PGlite } from '@electric-sql/pglite'
import pg from 'pg'
import { ConfigError } from '#platform/config/config.ts'
import { copyTemplate } from './database-template.ts'
import { EmbeddedSocket } from './embedded-socket.ts'

/** Small, for one process on a small machine; the default takes 128 MB more. */
const startParameters = ['-c', 'shared_buffers=16MB']

export type Embedded = { pool: pg.Pool; close: () => Promise<void> }

/**
 * PostgreSQL in this process, with its files in `directory`. Throws `ConfigError` where another process has it.
 * `onPanic` is called before anything else may reach a backend that gave up.
 */
export async function openEmbedded(directory: string, onPanic: (message: string) => void): Promise<Embedded> {
  const lock = await lockDirectory(directory)
  const dataDir = join(directory, 'database')
  await copyTemplate(dataDir)
  const startParams = [...PGlite.defaultStartParams, ...startParameters]
  const database = await PGlite.create({ dataDir, startParams }).catch((error: Error) => {
    throw new ConfigError(
      `DATA_DIR holds a database that cannot be opened (${error.message}): bring ${directory} back from a backup.`,
    )
  })
  const pool = embeddedPool(database, onPanic)
  return {
    pool,
    async close() {
      await pool.end()
      await database.close()
      lock.close()
    },
  }
}

/** `pg` over an embedded database. One connection: it has one session, in which transactions wait for each other. */
export function embeddedPool(database: PGlite, onPanic: (message: string) => void): pg.Pool {
  return new pg.Pool({
    stream: () => new EmbeddedSocket(database, onPanic),
    max: 1,
    idleTimeoutMillis: 0,
    user: 'postgres',
    database: 'postgres',
    ssl: false,
  })
}

/**
 * Keeps other processes out of the data directory until this one ends, however it ends: an exclusive transaction on an
 * SQLite file is a lock that every operating system frees with the process, also across containers on one volume.
 */
async function lockDirectory(directory: string): Promise<DatabaseSync> {
  await mkdir(directory, { recursive: true, mode: 0o700 }).catch((error: Error) => {
    throw new ConfigError(`DATA_DIR cannot be used (${error.message}): make ${directory} writable for this user.`)
  })
  try {
    const lock = new DatabaseSync(join(await realpath(directory), 'lock'), { timeout: 0 })
    lock.exec('pragma locking_mode = exclusive; begin exclusive')
    return lock
  } catch (error) {
    if (error instanceof Error && 'errcode' in error && error.errcode === sqliteBusy)
      throw new ConfigError(`DATA_DIR is in use: another countersign process has ${directory}; stop it first.`)
    const reason = error instanceof Error ? error.message : String(error)
    throw new ConfigError(`DATA_DIR cannot be used (${reason}): make ${directory} writable for this user.`)
  }
}

const sqliteBusy = 5
