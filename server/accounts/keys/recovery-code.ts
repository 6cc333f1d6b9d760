import type { KeyWrap } from '@countersign/protocol/accounts/keys'
import { actingPersonTransaction } from '#accounts/identities/identity.ts'
import { record } from '#platform/audit/audit.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import { equalBytes, sha256 } from '#platform/crypto/digest.ts'
import type { Session } from '#accounts/sessions/session.ts'
import { keepKeyWraps, listKeyWraps } from './key-wrap.ts'
import * as store from './store.ts'

/** Keeps what the server may check of a recovery code: a hash of what the code derives, which opens nothing. */
export async function keepRecovery(tx: Transaction, userId: string, recoveryAuth: string, now: Date): Promise<void> {
  await store.upsertRecovery(tx, userId, digestOf(recoveryAuth), now)
}

type NewRecovery = { recoveryAuth: string; ciphertext: string }

/** Replaces a person's recovery code: its wrap and its check together, so that no half of the old one is left. */
export async function replaceRecovery(
  db: Database,
  session: Session,
  recovery: NewRecovery,
  now: Date,
): Promise<KeyWrap[]> {
  const { userId } = session
  return actingPersonTransaction(db, session, async (tx) => {
    await keepRecovery(tx, userId, recovery.recoveryAuth, now)
    await store.deleteWraps(tx, userId, 'recovery_code')
    await keepKeyWraps(tx, userId, [{ kind: 'recovery_code', ciphertext: recovery.ciphertext }], now)
    await record(tx, { action: 'account.recovery_replaced', actor: 'person', userId }, now)
    return listKeyWraps(tx, userId)
  })
}

/** Since when a person has the recovery code that is in force; null where none is. */
export async function recoverySince(db: Database, userId: string): Promise<Date | null> {
  return (await store.findRecovery(db, userId))?.createdAt ?? null
}

/** The hash of a recovery code, where it is this person's and in force. Takes as long where there is no such person. */
export async function checkRecovery(
  db: Database,
  userId: string,
  recoveryAuth: string,
): Promise<Uint8Array | undefined> {
  const shown = digestOf(recoveryAuth)
  const kept = await store.findRecovery(db, userId)
  return equalBytes(kept?.authSha256 ?? Buffer.alloc(shown.length), shown) ? shown : undefined
}

/**
 * Spends a recovery code; false where it is no longer in force. Its wrap stays until a new code takes its place, so
 * that the person can still open their keys with it.
 */
export function spendRecovery(tx: Transaction, userId: string, authSha256: Uint8Array): Promise<boolean> {
  return store.deleteRecovery(tx, userId, authSha256)
}

function digestOf(recoveryAuth: string): Uint8Array {
  return sha256(Buffer.from(recoveryAuth, 'base64url'))
}
