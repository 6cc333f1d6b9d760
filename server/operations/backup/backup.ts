import { PassThrough, type Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { auditFieldsOf, type Operator } from '#accounts/operators/operator-guard.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { type Transaction, snapshot } from '#platform/database/database.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { type Header, backupWriter, spool } from './format.ts'
import * as store from './store.ts'

/** Context under which the key check of a backup is sealed. */
export const keyCheckContext = 'backup'

/**
 * Creates a consistent, compressed copy of the durable tables.
 *
 * PostgreSQL streams it as it is read. A transaction on the embedded database blocks all others, so its backup is read
 * into a file first and never waits for the caller's network.
 */
export async function createBackup(
  kernel: ServerContext,
  operator: Operator,
  tables: readonly string[],
): Promise<Readable> {
  const takenAt = kernel.clock()
  await recordAuditEvent(kernel.db, { action: 'backup.created', ...auditFieldsOf(operator) }, takenAt)
  if (!kernel.config.databaseUrl)
    return spool(kernel.config.dataDirectory, (file) =>
      writeSnapshot({ kernel, tables, takenAt }, (bytes) => file.writeFile(bytes)),
    )

  const stream = new PassThrough()
  writeSnapshot({ kernel, tables, takenAt }, (bytes) => pipeline(bytes, stream)).catch((error: unknown) => {
    kernel.log.warn({ error }, 'backup stream aborted')
    stream.destroy()
  })
  return stream
}

type Write = (bytes: AsyncIterable<Uint8Array>) => Promise<void>

type Snapshot = { kernel: ServerContext; tables: readonly string[]; takenAt: Date }

async function writeSnapshot({ kernel, tables, takenAt }: Snapshot, write: Write): Promise<void> {
  const keyCheck = await kernel.keyring.seal(keyCheckContext, takenAt.toISOString())
  await kernel.largeReads.readAlone((db, begin) =>
    snapshot(db, async (tx) => {
      const header = {
        format: 1,
        schema: await store.getSchemaSignature(tx),
        takenAt: takenAt.toISOString(),
        keyCheck,
      } as const
      const sorted = await inReferenceOrder(tx, tables)
      await store.requireReadable(tx, sorted)
      begin()
      await pipeline(linesOf(tx, header, sorted), createGzip(), write)
    }),
  )
}

async function* linesOf(tx: Transaction, header: Header, tables: string[]): AsyncGenerator<string> {
  const writer = backupWriter()
  yield writer.header(header)
  for (const table of tables) {
    yield writer.table(table)
    for await (const lines of store.streamRows(tx, table)) yield writer.rows(table, lines)
  }
  yield writer.end()
}

/**
 * Sorts tables for a restore: a table comes after those that its foreign keys reference. Throws if two tables reference
 * each other.
 */
export async function inReferenceOrder(tx: Transaction, tables: readonly string[]): Promise<string[]> {
  const references = await store.listReferences(tx)
  const sorted: string[] = []
  while (sorted.length < tables.length) {
    const isReady = (table: string) =>
      references.every(({ from, to }) => from !== table || to === table || sorted.includes(to) || !tables.includes(to))
    const next = tables.find((table) => !sorted.includes(table) && isReady(table))
    if (next === undefined) throw new Error('Tables reference each other, so no order restores them')
    sorted.push(next)
  }
  return sorted
}
