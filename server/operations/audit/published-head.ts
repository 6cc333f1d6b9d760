import { findChainHead } from '#platform/audit/chain.ts'
import { type Database, isReadOnly } from '#platform/database/database.ts'
import { appendAuditHead } from '#signing/transparency/audit-head.ts'

/** Publishes the head of the audit log in the transparency log once a day, so that a rewritten log contradicts it. */
export async function publishAuditHead(db: Database, now: Date): Promise<void> {
  const head = await findChainHead(db)
  if (!head) return
  try {
    await appendAuditHead(db, head, now)
  } catch (error) {
    if (!isReadOnly(error)) throw error
  }
}
