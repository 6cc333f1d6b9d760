import type { SelfRecordEntry } from '@countersign/protocol/accounts/keys'
import type { UserId } from '@countersign/protocol/ids'
import { actingTransaction } from '#accounts/sessions/acting.ts'
import { requireRecentAuthentication, type PasskeySession } from '#accounts/sessions/session.ts'
import { defineErrors } from '#platform/api-error.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import * as store from './store.ts'

const errors = defineErrors({
  self_record_changed: [409, 'Another record is stored. Read it, check it, and store its successor.'],
})

/** Returns the sealed self-record of a user, or null if no client has stored one. */
export async function findSelfRecord(db: Database, userId: UserId): Promise<SelfRecordEntry | null> {
  return (await store.findSelfRecord(db, userId)) ?? null
}

/** Stores the self-record of a new user. */
export async function storeFirstSelfRecord(
  tx: Transaction,
  userId: UserId,
  ciphertext: string,
  now: Date,
): Promise<void> {
  await store.insertSelfRecord(tx, userId, { sequence: 1, ciphertext }, now)
}

/**
 * Stores the successor of a user's self-record, or the first one: of writers at the same time, one succeeds. A stolen
 * session alone must store none, because the browser of its owner would then raise an alarm. Throws
 * `self_record_changed`, `reauthentication_required`.
 */
export async function replaceSelfRecord(
  db: Database,
  session: PasskeySession,
  record: SelfRecordEntry,
  now: Date,
): Promise<void> {
  requireRecentAuthentication(session, now)
  const { userId } = session
  await actingTransaction(db, session, async (tx) => {
    const write = record.sequence === 1 ? store.insertSelfRecord : store.updateSelfRecord
    if (!(await write(tx, userId, record, now))) throw errors.self_record_changed()
  })
}
