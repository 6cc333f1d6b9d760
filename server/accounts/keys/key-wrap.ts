import { randomUUIDv7 } from 'node:crypto'
import { limits } from '@countersign/protocol/formats/limits'
import type { KeyWrap, NewKeyWrap, PasskeyWrap } from '@countersign/protocol/accounts/keys'
import type { UserId } from '@countersign/protocol/ids'
import { actingUserTransaction, lockUser } from '#accounts/identities/identity.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import { defineErrors } from '#platform/api-error.ts'
import type { PasskeySession } from '#accounts/sessions/session.ts'
import * as deviceApprovalStore from './device-approval-store.ts'
import * as store from './store.ts'
import type { WrapRow } from './store.ts'

const errors = defineErrors({
  invalid_request: [
    400,
    'Wraps of kind passkey_prf need credentialId, other kinds must not have it; one recovery_code wrap at most.',
  ],
  too_many_key_wraps: [409, 'The account has reached the maximum number of key wraps.'],
})

/** Lists the wraps of a user's master key. */
export async function listKeyWraps(db: Database | Transaction, userId: UserId): Promise<KeyWrap[]> {
  return (await store.listWraps(db, userId)).map(toKeyWrap)
}

/** Throws `invalid_request` for wraps that no browser could use. */
export function validateKeyWraps(wraps: NewKeyWrap[]): void {
  const credentials = wraps.filter(({ kind }) => kind === 'passkey_prf').map(({ credentialId }) => credentialId)
  const named = wraps.filter(({ credentialId }) => credentialId !== undefined)
  const recoveries = wraps.filter(({ kind }) => kind === 'recovery_code')
  if (named.length !== credentials.length || credentials.includes(undefined)) throw errors.invalid_request()
  if (new Set(credentials).size !== credentials.length || recoveries.length > 1) throw errors.invalid_request()
}

/** Stores the first wraps of a new user. */
export function storeKeyWraps(tx: Transaction, userId: UserId, wraps: NewKeyWrap[], now: Date): void {
  if (wraps.length > 0)
    store.insertWraps(
      tx,
      userId,
      wraps.map((wrap) => ({ ...wrap, wrapId: randomUUIDv7() })),
      now,
    )
}

/** Deletes all that unlocks the keys of a user, checks or resets them: wraps, recovery code, approvals, self-record. */
export async function deleteUserKeys(tx: Transaction, userId: UserId): Promise<void> {
  await store.deleteWraps(tx, userId)
  await store.deleteRecoveryOfUser(tx, userId)
  await deviceApprovalStore.deleteApprovalsOfUser(tx, userId)
  await store.deleteSelfRecord(tx, userId)
  await store.deleteKeyReset(tx, userId)
}

/** Replaces all wraps of a user at once. */
export async function replaceKeyWraps(
  db: Database,
  session: PasskeySession,
  wraps: NewKeyWrap[],
  now: Date,
): Promise<KeyWrap[]> {
  validateKeyWraps(wraps)
  const { userId } = session
  return actingUserTransaction(db, session, async (tx) => {
    await store.deleteWraps(tx, userId)
    storeKeyWraps(tx, userId, wraps, now)
    await recordAuditEvent(tx, { action: 'account.key_wraps.replaced', actor: 'user', userId }, now)
    return listKeyWraps(tx, userId)
  })
}

/** Adds the wrap of a passkey to a user's master key, or replaces it. Throws `too_many_key_wraps`. */
export async function addKeyWrap(tx: Transaction, userId: UserId, wrap: PasskeyWrap, now: Date): Promise<KeyWrap> {
  await lockUser(tx, userId)
  await store.deleteWrapsOfCredential(tx, userId, wrap.credentialId)
  const wraps = await store.listWraps(tx, userId)
  if (wraps.length >= limits.keyWrapsMax) throw errors.too_many_key_wraps()
  const wrapId = randomUUIDv7()
  store.insertWraps(tx, userId, [{ ...wrap, wrapId }], now)
  return { ...wrap, wrapId, createdAt: now.toISOString() }
}

/** Adds the wrap of a passkey in a transaction of its own. */
export async function addPasskeyKeyWrap(
  db: Database,
  session: PasskeySession,
  wrap: PasskeyWrap,
  now: Date,
): Promise<KeyWrap> {
  const { userId } = session
  return actingUserTransaction(db, session, async (tx) => {
    const added = await addKeyWrap(tx, userId, wrap, now)
    const details = { credentialId: wrap.credentialId }
    await recordAuditEvent(tx, { action: 'account.key_wrap.added', actor: 'user', userId, details }, now)
    return added
  })
}

/** Deletes the wrap of a passkey. */
export async function deleteKeyWrap(tx: Transaction, userId: UserId, credentialId: string): Promise<void> {
  await store.deleteWrapsOfCredential(tx, userId, credentialId)
}

function toKeyWrap(row: WrapRow): KeyWrap {
  return {
    wrapId: row.wrapId,
    kind: row.kind,
    ...(row.credentialId !== null && { credentialId: row.credentialId }),
    ciphertext: row.ciphertext,
    createdAt: row.createdAt.toISOString(),
  }
}
