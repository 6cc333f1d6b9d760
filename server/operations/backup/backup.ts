import { AsyncResource } from 'node:async_hooks'
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
 * Creates a consistent, compressed copy of the durable tables. The audit log says who begins it, and when all of it was
 * sent.
 *
 * PostgreSQL streams it as it is read. A transaction on the embedded database blocks all others, so its backup is read
 * into a file first and never waits for the caller's network.
 */
export async function createBackup(
  kernel: ServerContext,
  operator: Operator,
  tables: readonly string[],
): Promise<Readable> {
  const { db, clock, config, log } = kernel
  const takenAt = clock()
  const fields = auditFieldsOf(operator)
  await recordAuditEvent(db, { action: 'backup.created', ...fields }, takenAt)
  const completed = { action: 'backup.completed', ...fields, details: { takenAt: takenAt.toISOString() } } as const
  const stream = endingAfter(() => recordAuditEvent(db, completed, clock()))

  const writing = { kernel, tables, takenAt }
  const sent = config.databaseUrl
    ? writeSnapshot(writing, (bytes) => pipeline(bytes, stream))
    : pipeline(await spoolSnapshot(writing), stream)
  sent.catch((error: unknown) => {
    log.warn({ error }, 'backup stream aborted')
    stream.destroy()
  })
  return stream
}

/** Creates a stream that ends once `record` has succeeded, when all bytes but those of a buffer have been read. */
function endingAfter(record: () => Promise<void>): PassThrough {
  // Bound to the request, which the event names: a stream may end in the context of its reader.
  const recordInRequest = AsyncResource.bind(record)
  return new PassThrough({ flush: (done) => void recordInRequest().then(() => done(), done) })
}

function spoolSnapshot(writing: Snapshot): Promise<Readable> {
  return spool(writing.kernel.config.dataDirectory, (file) => writeSnapshot(writing, (bytes) => file.writeFile(bytes)))
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
