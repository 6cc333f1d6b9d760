import { PassThrough, type Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { record } from '#platform/audit/audit.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import type { Kernel } from '#platform/module/services.ts'
import { keptTables } from './contents.ts'
import { backupWriter, type Header } from './format.ts'
import { spool } from './spool.ts'
import * as store from './store.ts'

/** The context under which the key check of a backup is sealed. */
export const keyCheckContext = 'backup'

/**
 * One consistent copy of what must survive, compressed. From PostgreSQL it flows as it is read. On the embedded
 * database a transaction holds up everybody, so it is read into a file first: nobody waits for the caller's network.
 */
export async function takeBackup(kernel: Kernel): Promise<Readable> {
  const takenAt = kernel.clock()
  await record(kernel.db, { action: 'backup.taken', actor: 'operator' }, takenAt)
  if (!kernel.config.databaseUrl)
    return spool(kernel.config.dataDirectory, (file) =>
      writeSnapshot(kernel, takenAt, (bytes) => file.writeFile(bytes)),
    )

  const stream = new PassThrough()
  writeSnapshot(kernel, takenAt, (bytes) => pipeline(bytes, stream)).catch((error: unknown) => {
    kernel.log.warn({ error }, 'a backup was cut off')
    stream.destroy()
  })
  return stream
}

type Write = (bytes: AsyncIterable<Uint8Array>) => Promise<void>

async function writeSnapshot(kernel: Kernel, takenAt: Date, write: Write): Promise<void> {
  const keyCheck = await kernel.keyring.seal(keyCheckContext, takenAt.toISOString())
  await kernel.alone((db) =>
    inSnapshot(db, async (tx) => {
      const header = {
        format: 1,
        schema: await store.readSchema(tx),
        takenAt: takenAt.toISOString(),
        keyCheck,
      } as const
      await pipeline(linesOf(tx, header), createGzip(), write)
    }),
  )
}

function inSnapshot(db: Database, work: (tx: Transaction) => Promise<void>): Promise<void> {
  return db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(work)
}

async function* linesOf(tx: Transaction, header: Header): AsyncGenerator<string> {
  const writer = backupWriter()
  yield writer.header(header)
  for (const table of keptTables) {
    yield writer.table(table)
    for await (const lines of store.readRows(tx, table)) yield writer.rows(table, lines)
  }
  yield writer.end()
}
