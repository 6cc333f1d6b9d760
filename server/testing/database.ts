import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type pg from 'pg'
import { createStorage, type Storage } from '#platform/database/database.ts'
import { serverPool } from '#platform/database/server-pool.ts'
import { readReplicas } from '#platform/database/distributed/engine.ts'
import { openEmbeddedDatabase } from '#platform/database/embedded.ts'
import { migrate } from '#platform/database/migrate.ts'
import { Secret } from '#platform/crypto/secret.ts'
import { failing } from './migrated-database.ts'
import { recordStatements } from './recorded-statements.ts'
import { openReusedDatabase } from './reused-database.ts'
import { createDatabase, dropDatabase, findNodes, named } from './sharded-database.ts'

/** Wrapper of the connections between the product and its database. */
export type Between = (pool: pg.Pool) => pg.Pool

/**
 * Opens a migrated database without rows for a test file: on the PostgreSQL of `TEST_DATABASE_URL`, where it is deleted
 * at the end, or the embedded one, which the next file of the process may get.
 */
export async function openTestStorage(between: Between = (pool) => pool, statementNames = true): Promise<Storage> {
  const made = await openTestDatabase()
  const { pool, close } = made ? openMadePool(made) : await openReusedDatabase()
  await migrate(pool)
  const replicas = made && (await readReplicas(pool))
  return createStorage(between(recordStatements(pool)), { closeAll: close, statementNames, replicas })
}

/** Opens the same without any migration. */
export async function openTestPool(): Promise<TestPool> {
  const made = await openTestDatabase({ isEmpty: true })
  return made ? openMadePool(made) : openEmbeddedPool()
}

type TestPool = { pool: pg.Pool; close: () => Promise<void> }

function openMadePool({ url, drop }: { url: string; drop: () => Promise<void> }): TestPool {
  const { pool, close } = openServerPool(url)
  return {
    pool,
    async close() {
      await close()
      await drop()
    },
  }
}

/** Connects to a test's own database, which is dropped soon after the connections are closed. */
function openServerPool(url: string): TestPool {
  let closing = false
  const pool = serverPool(new Secret(url), (error) => {
    // Dropping the database cuts connections that are still closing.
    if (!closing) throw error
  })
  return {
    pool,
    async close() {
      closing = true
      await pool.end()
    },
  }
}

/** Opens a database whose process has ended: on PostgreSQL, or without a URL the embedded one in `directory`. */
export async function reopenStorage(url: string | undefined, directory: string): Promise<Storage> {
  const { pool, close } = url === undefined ? await openEmbeddedDatabase(directory, failing) : openServerPool(url)
  return createStorage(pool, { closeAll: close, replicas: url === undefined ? undefined : await readReplicas(pool) })
}

/**
 * Creates a database on the PostgreSQL of `TEST_DATABASE_URL`; returns undefined if that is not set. It is a copy of
 * the database at `TEST_DATABASE_TEMPLATE`, which is migrated, if that is on the same server. Otherwise it is empty.
 */
export async function openTestDatabase({ isEmpty = false } = {}): Promise<TestDatabase | undefined> {
  const maintenance = process.env['TEST_DATABASE_URL']
  return maintenance === undefined
    ? undefined
    : createTestDatabase(maintenance, isEmpty ? undefined : findTemplate(maintenance))
}

/** Returns the name of the template. A test may have started a server of its own, which has none. */
function findTemplate(maintenance: string): string | undefined {
  const template = process.env['TEST_DATABASE_TEMPLATE']
  if (template === undefined) return undefined
  const { host, pathname } = new URL(template)
  return host === new URL(maintenance).host ? pathname.slice(1) : undefined
}

type TestDatabase = { url: string; drop: () => Promise<void> }

/** On a cluster, a template is distributed on all nodes. */
async function createTestDatabase(maintenance: string, template?: string): Promise<TestDatabase> {
  const name = `countersign_${randomBytes(8).toString('hex')}`
  const nodes = (template !== undefined && (await findNodes(maintenance))) || [maintenance]
  await createDatabase(nodes, name, template)
  return { url: named(maintenance, name), drop: () => dropDatabase(nodes, name) }
}

async function openEmbeddedPool(): Promise<TestPool> {
  const directory = await mkdtemp(join(tmpdir(), 'countersign-'))
  const { pool, close } = await openEmbeddedDatabase(directory, failing)
  return {
    pool,
    async close() {
      await close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}
