import type { IdentityId, UserId } from '@countersign/protocol/ids'
import { sql } from 'kysely'
import type { Database, Transaction } from '#platform/database/database.ts'

const link = [
  'user_id as userId',
  'recovery_link_id as recoveryLinkId',
  'identity_id as identityId',
  'state',
  'reason',
  'issued_at as issuedAt',
  'expires_at as expiresAt',
  'completes_at as completesAt',
  'completed_at as completedAt',
  'hold_until as holdUntil',
  'ended_at as endedAt',
  'credential_id as credentialId',
] as const

export type RecoveryLinkRow = NonNullable<Awaited<ReturnType<typeof findLink>>>
export type LinkKey = { userId: UserId; recoveryLinkId: string }

/** Marks the links of an account that have expired, so that others can be issued. */
export async function expireLinks(tx: Transaction, userId: UserId, now: Date): Promise<void> {
  await tx
    .updateTable('recovery_link')
    .set({ state: 'expired' })
    .where('user_id', '=', userId)
    .where('state', '=', 'issued')
    .where('expires_at', '<=', now)
    .execute()
}

type NewLink = LinkKey & {
  identityId: IdentityId
  tokenSha256: Uint8Array
  stopSha256: Uint8Array
  reason: string
  issuedAt: Date
  expiresAt: Date
}

/** Inserts a link. Returns undefined if the identity has one that is open. */
export function insertLink(tx: Transaction, row: NewLink): Promise<RecoveryLinkRow | undefined> {
  return tx
    .insertInto('recovery_link')
    .values({
      user_id: row.userId,
      recovery_link_id: row.recoveryLinkId,
      identity_id: row.identityId,
      state: 'issued',
      token_sha256: row.tokenSha256,
      stop_sha256: row.stopSha256,
      reason: row.reason,
      issued_at: row.issuedAt,
      expires_at: row.expiresAt,
    })
    .onConflict((conflict) =>
      conflict
        .column('identity_id')
        .where(sql<boolean>`state in ('issued', 'redeemed', 'completed')`)
        .doNothing(),
    )
    .returning(link)
    .executeTakeFirst()
}

export function findLink(db: Database, { userId, recoveryLinkId }: LinkKey) {
  return db
    .selectFrom('recovery_link')
    .select(link)
    .where('user_id', '=', userId)
    .where('recovery_link_id', '=', recoveryLinkId)
    .executeTakeFirst()
}

/** Finds the link of a mailed secret: the one that recovers, or the one that stops. */
export function findLinkBySecret(
  db: Database,
  by: 'token_sha256' | 'stop_sha256',
  sha256: Uint8Array,
): Promise<RecoveryLinkRow | undefined> {
  return db.selectFrom('recovery_link').select(link).where(by, '=', sha256).executeTakeFirst()
}

export function listLinksOfIdentity(db: Database, userId: UserId, identityId: IdentityId): Promise<RecoveryLinkRow[]> {
  return db
    .selectFrom('recovery_link')
    .select(link)
    .where('user_id', '=', userId)
    .where('identity_id', '=', identityId)
    .orderBy('recovery_link_id', 'desc')
    .limit(100)
    .execute()
}

/** Lists the recoveries of an account that its user can stop or undo, the newest first. */
export function listOpenLinks(db: Database, userId: UserId, now: Date): Promise<RecoveryLinkRow[]> {
  return db
    .selectFrom('recovery_link')
    .select(link)
    .where('user_id', '=', userId)
    .where(({ eb, or }) => or([isOpen(now), eb.and([eb('state', '=', 'completed'), eb('hold_until', '>', now)])]))
    .orderBy('recovery_link_id', 'desc')
    .execute()
}

/** Returns until when no recovery link of an account can be redeemed, or undefined. */
export async function findLock(tx: Transaction, userId: UserId, now: Date): Promise<Date | undefined> {
  const row = await tx
    .selectFrom('recovery_link')
    .select(({ fn }) => fn.max('locked_until').as('lockedUntil'))
    .where('user_id', '=', userId)
    .where('locked_until', '>', now)
    .executeTakeFirst()
  return row?.lockedUntil ?? undefined
}

type Ending = { lockedUntil: Date | null }

/**
 * Cancels a link that is not completed. `lockedUntil` is null unless its user stopped it. Returns undefined if it is
 * not open.
 */
export function cancelLink(
  tx: Transaction,
  { userId, recoveryLinkId }: LinkKey,
  { lockedUntil }: Ending,
  now: Date,
): Promise<RecoveryLinkRow | undefined> {
  return tx
    .updateTable('recovery_link')
    .set({ state: 'cancelled', ended_at: now, locked_until: lockedUntil, attempt_at: null, ...withoutPasskey })
    .where('user_id', '=', userId)
    .where('recovery_link_id', '=', recoveryLinkId)
    .where(isOpen(now))
    .returning(link)
    .executeTakeFirst()
}

/** Condition: the link can be redeemed, or its passkey is not valid yet. */
const isOpen = (now: Date) => sql<boolean>`(state = 'redeemed' or (state = 'issued' and expires_at > ${now}))`

/** Undoes a completed recovery. Returns undefined after the hold. */
export function undoLink(
  tx: Transaction,
  { userId, recoveryLinkId }: LinkKey,
  { lockedUntil }: { lockedUntil: Date },
  now: Date,
): Promise<RecoveryLinkRow | undefined> {
  return tx
    .updateTable('recovery_link')
    .set({ state: 'undone', ended_at: now, locked_until: lockedUntil, attempt_at: null, ...withoutPasskey })
    .where('user_id', '=', userId)
    .where('recovery_link_id', '=', recoveryLinkId)
    .where('state', '=', 'completed')
    .where('hold_until', '>', now)
    .returning(link)
    .executeTakeFirst()
}

/** Values of a link whose passkey is gone, or has become one of the account. */
export const withoutPasskey = {
  credential_id: null,
  user_handle: null,
  public_key: null,
  sign_count: null,
  backup_eligible: null,
  backed_up: null,
  transports: null,
  name: null,
  last_used_at: null,
} as const

export async function deleteLinksOfIdentities(tx: Transaction, userId: UserId, ids: IdentityId[]): Promise<void> {
  await tx.deleteFrom('recovery_link').where('user_id', '=', userId).where('identity_id', 'in', ids).execute()
}

/** Deletes up to `batch` links without a passkey that were issued before an instant. Returns their number. */
export async function deleteOldLinks(db: Database, before: Date, batch: number): Promise<number> {
  const old = db
    .selectFrom('recovery_link')
    .select('stop_sha256')
    .where('issued_at', '<=', before)
    .where('credential_id', 'is', null)
    .limit(batch)
  const { numDeletedRows } = await db
    .deleteFrom('recovery_link')
    .where('stop_sha256', 'in', old)
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}
