import type { KeyWrap } from '@countersign/protocol/accounts/keys'
import type { UserId } from '@countersign/protocol/ids'
import { actingUserTransaction } from '#accounts/identities/identity.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import { equalBytes, sha256 } from '#platform/crypto/secret.ts'
import { defineErrors } from '#platform/api-error.ts'
import type { PasskeySession } from '#accounts/sessions/session.ts'
import { storeKeyWraps, listKeyWraps } from './key-wrap.ts'
import * as store from './store.ts'

/** Stores the verifier of a recovery code: a hash of a value derived from the code, which decrypts nothing. */
export async function storeRecoveryCode(
  tx: Transaction,
  userId: UserId,
  recoveryAuth: string,
  now: Date,
): Promise<void> {
  await store.upsertRecovery(tx, userId, digestOf(recoveryAuth), now)
}

const errors = defineErrors({ recovery_code_exists: [409, 'A recovery code is already in effect. It stays.'] })

type NewRecovery = { recoveryAuth: string; ciphertext: string; ifNone?: true }

/**
 * Replaces a user's recovery code: its wrap and its verifier together, so that no part of the old code remains. With
 * `ifNone`, stores the code only if none is in effect: of two pages that each offer one, the first that was saved
 * counts, also if it is sent again because the response was lost. Throws `recovery_code_exists`.
 */
export async function replaceRecoveryCode(
  db: Database,
  session: PasskeySession,
  recovery: NewRecovery,
  now: Date,
): Promise<KeyWrap[]> {
  const { userId } = session
  return actingUserTransaction(db, session, async (tx) => {
    if (!recovery.ifNone) await storeRecoveryCode(tx, userId, recovery.recoveryAuth, now)
    else if (!(await storeFirstRecoveryCode(tx, userId, recovery.recoveryAuth, now))) return listKeyWraps(tx, userId)
    await store.deleteWraps(tx, userId, 'recovery_code')
    storeKeyWraps(tx, userId, [{ kind: 'recovery_code', ciphertext: recovery.ciphertext }], now)
    const action = recovery.ifNone ? 'account.recovery_code.created' : 'account.recovery_code.replaced'
    await recordAuditEvent(tx, { action, actor: 'user', userId }, now)
    return listKeyWraps(tx, userId)
  })
}

/** Returns false if this very code is in effect already. Throws `recovery_code_exists` if another one is. */
async function storeFirstRecoveryCode(
  tx: Transaction,
  userId: UserId,
  recoveryAuth: string,
  now: Date,
): Promise<boolean> {
  if (await store.insertRecovery(tx, userId, digestOf(recoveryAuth), now)) return true
  if (await verifyRecoveryCode(tx, userId, recoveryAuth)) return false
  throw errors.recovery_code_exists()
}

/** Returns the creation time of a user's recovery code, or null if there is none. */
export async function recoveryCodeCreatedAt(db: Database, userId: UserId): Promise<Date | null> {
  return (await store.findRecovery(db, userId))?.createdAt ?? null
}

/** Verifies a recovery code and returns its hash. Takes as long if the user does not exist. */
export async function verifyRecoveryCode(
  db: Database,
  userId: UserId,
  recoveryAuth: string,
): Promise<Uint8Array | undefined> {
  const shown = digestOf(recoveryAuth)
  const kept = await store.findRecovery(db, userId)
  return equalBytes(kept?.authSha256 ?? Buffer.alloc(shown.length), shown) ? shown : undefined
}

/**
 * Consumes a recovery code. Returns false if it is no longer valid. Its wrap stays until a new code replaces it, so
 * that the user can still unlock the keys with it.
 */
export function consumeRecoveryCode(tx: Transaction, userId: UserId, authSha256: Uint8Array): Promise<boolean> {
  return store.deleteRecovery(tx, userId, authSha256)
}

function digestOf(recoveryAuth: string): Uint8Array {
  return sha256(Buffer.from(recoveryAuth, 'base64url'))
}
