import type { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { Restored } from '@countersign/protocol/operations/backup'
import { playgroundClientId } from '#clients/registration/built-in-app.ts'
import { record } from '#platform/audit/audit.ts'
import { isUnfit, type Transaction } from '#platform/database/database.ts'
import type { Kernel } from '#platform/module/services.ts'
import { refusals } from '#platform/refusal.ts'
import { ensurePlayground } from '#operations/playground/playground.ts'
import { openSigningKeys, type SigningKeys } from '#tokens/signing-keys/signing-keys.ts'
import { beginLog } from '#signing/transparency/log.ts'
import { keyCheckContext } from './backup.ts'
import { keptTables } from './contents.ts'
import { readBackup, splitLines, type Header, type Line, type Rows } from './format.ts'
import { spoolBody } from './spool.ts'
import * as store from './store.ts'

const refuse = refusals({
  invalid_backup: [400, 'This is no backup, or it was cut or altered. Nothing was changed.'],
  several_processes: [
    409,
    'Start the server with WORKERS=1 to restore a backup, and with its workers again after that.',
  ],
  not_empty: [409, 'This server has people, apps, or a log of keys. A backup is restored into an empty one.'],
  wrong_secret_key: [409, 'The backup was taken under another SECRET_KEY. Start this server with that one.'],
  other_schema: [409, 'The backup is of another version.'],
})

/** What a restore replaces; the trail goes on. */
const replacedTables = keptTables.filter((table) => table !== 'audit_entry').toReversed()
const batchRows = 500

/**
 * Takes a backup into an empty server, all or nothing. Nothing that was issued before it lives on: sessions and tokens
 * are not in it, for what was spent or revoked since can't be told from what was not.
 */
export async function restoreBackup(kernel: Kernel, keys: SigningKeys, body: Readable): Promise<Restored> {
  if (kernel.config.workers > 1) throw refuse.several_processes()
  const spooled = await spoolBody(kernel.config.dataDirectory, body)
  try {
    return await load(kernel, keys, readBackup(linesOf(spooled)))
  } finally {
    spooled.destroy()
  }
}

async function load(kernel: Kernel, keys: SigningKeys, lines: AsyncGenerator<Line>): Promise<Restored> {
  const header = await readHeader(lines)
  const { takenAt } = header
  await requireKey(kernel, header)
  const now = kernel.clock()

  const rows = await kernel
    .alone((db) =>
      db.transaction().execute(async (tx) => {
        await requireReady(tx, header)
        for (const table of replacedTables) await store.emptyTable(tx, table)
        const written = await writeRows(tx, lines)
        await record(tx, { action: 'backup.restored', actor: 'operator', details: { takenAt } }, now)
        await requireKeys(kernel, tx, now)
        return written
      }),
    )
    .catch((error: unknown) => {
      throw isUnfit(error) ? refuse.invalid_backup() : error
    })
  await keys.readAnew()
  await ensurePlayground(kernel)
  return { takenAt, rows }
}

/** The lines of what was sent. What can't be decompressed is no backup. */
async function* linesOf(compressed: Readable): AsyncGenerator<string> {
  const text = createGunzip().setEncoding('utf8')
  compressed.once('error', (error) => text.destroy(error)).pipe(text)
  try {
    yield* splitLines(text)
  } catch {
    throw refuse.invalid_backup()
  }
}

async function readHeader(lines: AsyncGenerator<Line>): Promise<Header> {
  const first = await lines.next()
  if (first.done || !('header' in first.value)) throw refuse.invalid_backup()
  return first.value.header
}

/** Whether what is sealed in the backup will open here. */
async function requireKey({ keyring }: Pick<Kernel, 'keyring'>, { keyCheck }: Header): Promise<void> {
  await keyring.open(keyCheckContext, keyCheck).catch(() => {
    throw refuse.wrong_secret_key()
  })
}

async function requireReady(tx: Transaction, { schema }: Header): Promise<void> {
  await store.holdOff(tx)
  const own = await store.readSchema(tx)
  if (schema > own) throw refuse.other_schema({ sentence: `The backup is of a newer version (${schema}): start that.` })
  if (schema < own)
    throw refuse.other_schema({
      sentence: `The backup is of an older version (${schema}): restore it with that one, then start this one.`,
    })
  if (!(await store.isUnused(tx, playgroundClientId))) throw refuse.not_empty()
}

/** Writes the rows in batches; answers how many, which the end of the backup has confirmed. */
async function writeRows(tx: Transaction, lines: AsyncGenerator<Line>): Promise<Rows> {
  let table = ''
  let batch: string[] = []
  let confirmed: Rows | undefined
  const flush = async () => {
    if (batch.length > 0) await store.insertRows(tx, table, batch)
    batch = []
  }
  for await (const line of lines) {
    if ('row' in line) {
      batch.push(line.row)
      if (batch.length === batchRows) await flush()
      continue
    }
    await flush()
    if ('end' in line) {
      // Goes on: what stands after the end is not of this backup.
      confirmed = line.end
      continue
    }
    if ('header' in line || !keptTables.includes(line.table)) throw refuse.invalid_backup()
    table = line.table
  }
  if (!confirmed) throw refuse.invalid_backup()
  return confirmed
}

/** The keys as they will be, before anything is settled: each of them must open. */
async function requireKeys(kernel: Kernel, tx: Transaction, now: Date): Promise<void> {
  try {
    await openSigningKeys({ ...kernel, db: tx })
    await beginLog({ ...kernel, db: tx }, now)
  } catch (cause) {
    kernel.log.warn({ error: cause }, 'a restored key does not open')
    throw refuse.wrong_secret_key()
  }
}
