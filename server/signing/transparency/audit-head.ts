import { auditDigest, readAuditHead, writeAuditHead } from '@countersign/protocol/formats/audit/audit-head'
import { toBase64 } from '@countersign/protocol/formats/base64'
import { hashKeyEvent } from '@countersign/protocol/formats/signing/key-event'
import { limits } from '@countersign/protocol/formats/limits'
import type { LoggedKeyEvent } from '@countersign/protocol/signing/transparency'
import { addSeconds, maxDate } from '#platform/clock.ts'
import { sha256 } from '#platform/crypto/secret.ts'
import { type Database, isUniqueViolation, transaction } from '#platform/database/database.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { proveLeaves } from './event.ts'
import { getLog, getTreeHead } from './log.ts'
import * as store from './store.ts'

const intervalSeconds = 24 * 3600
const digest = Buffer.from(auditDigest(sha256), 'base64')

/** Last place of the audit log. */
type Place = { sequence: number; hash: Uint8Array }

/**
 * Appends the head of the audit log a day after the last one, if the audit log has grown. A new service appends the
 * first one after a day.
 */
export async function appendAuditHead(db: Database, { sequence, hash }: Place, now: Date): Promise<void> {
  const found = await store.findLastLeaf(db, digest)
  const last = found && readAuditHead(sha256, found.leaf)
  if (found && !last) throw new Error('the log contains a head of the audit log that cannot be parsed')
  const since = last ? new Date(last.at) : (await getLog(db)).createdAt
  if (addSeconds(since, intervalSeconds) > now || sequence <= (last?.sequence ?? 0)) return
  const previous = last?.leafHash ?? null
  const at = maxDate(now, since)
  const leaf = writeAuditHead({ at: at.toISOString(), head: toBase64(hash), previous, sequence })
  const leafSha256 = Buffer.from(hashKeyEvent(sha256, leaf), 'base64')
  const appended = { identitySha256: digest, sequence: (found?.sequence ?? 0) + 1, leaf, leafSha256, integrateAt: at }
  await transaction(db, (tx) => store.insertLeaf(tx, appended)).catch((error: unknown) => {
    // Another process was first.
    if (!isUniqueViolation(error, 'transparency_leaf_pkey')) throw error
  })
}

/** Lists the heads of the audit log from number `start` on, the first one being 0, with proofs under one checkpoint. */
export async function listAuditHeads(
  kernel: Pick<ServerContext, 'db' | 'keyring'>,
  start: number,
  now: Date,
): Promise<{ checkpoint: string; heads: LoggedKeyEvent[]; nextStart: number | null }> {
  const log = await getTreeHead(kernel, now)
  const count = limits.transparencyEventsMax
  const found = await store.listLeavesInOrder(kernel.db, digest, { after: start, end: log.size, count: count + 1 })
  const heads = await proveLeaves(kernel.db, found.slice(0, count), log)
  return { checkpoint: log.checkpoint, heads, nextStart: found.length > count ? start + count : null }
}
