import { randomBytes } from 'node:crypto'
import { PGlite } from '@electric-sql/pglite'
import pg from 'pg'
import { serverPool, storageOver, type Storage } from '#kernel/database.ts'
import { embeddedPool } from '#kernel/embedded-database.ts'
import { migrate } from '#kernel/migrate.ts'
import { Secret } from '#kernel/secret.ts'

/**
 * A migrated database of its own: in memory, or with `TEST_DATABASE_URL` one that is made on that PostgreSQL and dropped
 * at the end.
 */
export async function openTestStorage(): Promise<Storage & { url: string | undefined }> {
  const maintenance = process.env['TEST_DATABASE_URL']
  const fail = (problem: Error | string) => {
    throw typeof problem === 'string' ? new Error(problem) : problem
  }
  if (maintenance === undefined) {
    const database = await PGlite.create()
    const pool = embeddedPool(database, fail)
    await migrate(pool)
    const storage = storageOver(pool, async () => {
      await pool.end()
      await database.close()
    })
    return { ...storage, url: undefined }
  }

  const name = `countersign_${randomBytes(8).toString('hex')}`
  await maintain(maintenance, `create database ${name}`)
  const url = new URL(maintenance)
  url.pathname = `/${name}`
  const pool = serverPool(new Secret(url.href), fail)
  await migrate(pool)
  const storage = storageOver(pool)
  return {
    ...storage,
    url: url.href,
    async close() {
      await storage.close()
      await maintain(maintenance, `drop database ${name}`)
    },
  }
}

async function maintain(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
