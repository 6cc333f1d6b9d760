import type { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { RestoreResult } from '@countersign/protocol/operations/backup'
import { rebuildTerms } from '#accounts/identities/terms/term.ts'
import { auditFieldsOf, type Operator } from '#accounts/operators/operator-guard.ts'
import { builtInClientIds } from '#clients/registration/built-in-app.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { unnumberEvents } from '#platform/audit/chain.ts'
import { type Transaction, isDataException, transactionOnce } from '#platform/database/database.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { defineErrors } from '#platform/api-error.ts'
import { endResetRequests } from '#organizations/membership/council/council.ts'
import { ensurePlayground } from '#operations/playground/playground.ts'
import { type SigningKeys, loadTokenSigningKeys } from '#tokens/signing-keys/signing-keys.ts'
import { initializeLog } from '#signing/transparency/log.ts'
import { inReferenceOrder, keyCheckContext } from './backup.ts'
import { type Header, type Line, type Rows, parseBackup, splitLines, spoolRequestBody } from './format.ts'
import * as store from './store.ts'

const errors = defineErrors({
  invalid_backup: [400, 'Not a valid backup, or it is truncated or corrupted. Nothing was changed.'],
  single_worker_required: [409, 'Restoring requires WORKERS=1. Restart with one worker.'],
  instance_not_empty: [409, 'Backups can only be restored into an empty instance.'],
  secret_key_mismatch: [409, 'The backup was created with another SECRET_KEY. Start the server with that key.'],
  schema_version_mismatch: [409, 'The backup has a different schema version.'],
})

const batchRows = 500
const continued = new Set([
  'audit_event',
  'organization_trail',
  'organization_trail_head',
  'organization_trail_pending',
  'organization_act_signature',
])

/** Services of backups. `backedUpTables` are the tables that a backup contains. */
export type BackupServices = { kernel: ServerContext; keys: SigningKeys; backedUpTables: readonly string[] }

/**
 * Restores a backup into an empty server, atomically.
 *
 * No session, code, access or refresh token issued before stays valid: a backup contains none, because it cannot know
 * which were used or revoked since. For the same reason, requests for resets of councils end.
 */
export async function restoreBackup(
  services: BackupServices,
  operator: Operator,
  body: Readable,
): Promise<RestoreResult> {
  const { kernel } = services
  if (kernel.config.workers > 1) throw errors.single_worker_required()
  const spooled = await spoolRequestBody(kernel.config.dataDirectory, body)
  try {
    return await load(services, operator, parseBackup(linesOf(spooled)))
  } finally {
    spooled.destroy()
  }
}

async function load(services: BackupServices, operator: Operator, lines: AsyncGenerator<Line>): Promise<RestoreResult> {
  const { kernel, keys, backedUpTables } = services
  const header = await readHeader(lines)
  const { takenAt } = header
  await requireKey(kernel, header)
  const now = kernel.clock()

  const rows = await kernel
    .alone((db) =>
      transactionOnce(db, async (tx) => {
        await requireReady(tx, header)
        await deleteReplacedRows(tx, backedUpTables)
        const written = await writeRows(tx, backedUpTables, lines)
        await rebuildTerms(tx)
        await endResetRequests(tx, now)
        const event = { action: 'backup.restored', details: { takenAt } } as const
        await recordAuditEvent(tx, { ...event, ...auditFieldsOf(operator) }, now)
        await requireKeys(kernel, tx, now)
        return written
      }),
    )
    .catch((error: unknown) => {
      throw isDataException(error) ? errors.invalid_backup() : error
    })
  await keys.readAnew()
  await kernel.settings.refresh()
  await ensurePlayground(kernel)
  return { takenAt, rows }
}

/** Decompresses the upload into lines. Throws `invalid_backup` for invalid compressed data. */
async function* linesOf(compressed: Readable): AsyncGenerator<string> {
  const text = createGunzip().setEncoding('utf8')
  compressed.once('error', (error) => text.destroy(error)).pipe(text)
  try {
    yield* splitLines(text)
  } catch {
    throw errors.invalid_backup()
  }
}

async function readHeader(lines: AsyncGenerator<Line>): Promise<Header> {
  const first = await lines.next()
  if (first.done || !('header' in first.value)) throw errors.invalid_backup()
  return first.value.header
}

/** Checks that the sealed values of the backup can be decrypted here. */
async function requireKey({ keyring }: Pick<ServerContext, 'keyring'>, { keyCheck }: Header): Promise<void> {
  await keyring.open(keyCheckContext, keyCheck).catch(() => {
    throw errors.secret_key_mismatch()
  })
}

async function requireReady(tx: Transaction, { schema }: Header): Promise<void> {
  await store.lockForRestore(tx)
  const own = await store.getSchemaSignature(tx)
  if (schema > own)
    throw errors.schema_version_mismatch({
      sentence: `The backup is from a newer version (${schema}). Restore it with that version.`,
    })
  if (schema < own)
    throw errors.schema_version_mismatch({
      sentence: `The backup is from an older version (${schema}). Restore it with that version, then upgrade.`,
    })
  if (!(await store.isEmptyInstance(tx, builtInClientIds))) throw errors.instance_not_empty()
}

/**
 * Deletes what a restore replaces, such as the app of the playground. The audit log and its trails continue: events of
 * this instance get places after those of the backup.
 */
async function deleteReplacedRows(tx: Transaction, tables: readonly string[]): Promise<void> {
  await unnumberEvents(tx)
  const sorted = await inReferenceOrder(tx, tables)
  for (const table of sorted.toReversed()) if (!continued.has(table)) await store.deleteAllRows(tx, table)
}

/** Writes the rows in batches; returns their number, which the end of the backup has confirmed. */
async function writeRows(tx: Transaction, tables: readonly string[], lines: AsyncGenerator<Line>): Promise<Rows> {
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
      // Continues: content after the end is not part of this backup.
      confirmed = line.end
      continue
    }
    if ('header' in line || !tables.includes(line.table)) throw errors.invalid_backup()
    table = line.table
  }
  if (!confirmed) throw errors.invalid_backup()
  return confirmed
}

/** Checks the restored keys before the restore is committed: each of them must decrypt. */
async function requireKeys(kernel: ServerContext, tx: Transaction, now: Date): Promise<void> {
  try {
    await loadTokenSigningKeys({ ...kernel, db: tx })
    await initializeLog({ ...kernel, db: tx }, now)
  } catch (cause) {
    kernel.log.warn({ error: cause }, 'restored key cannot be decrypted')
    throw errors.secret_key_mismatch()
  }
}
