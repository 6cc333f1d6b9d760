import { sql, type RawBuilder } from 'kysely'
import { limits } from '@countersign/protocol/formats/limits'
import type { IdentityId, UserId } from '@countersign/protocol/ids'
import type { Database, Transaction } from '#platform/database/database.ts'
import { isDistributed } from '#platform/database/distributed/engine.ts'
import { findKeys } from '#platform/database/distributed/keys.ts'
import { sendAhead } from '#platform/database/pipeline.ts'
import { termsOf } from './terms/term.ts'
import { deleteTerms, replaceTerms } from './terms/term-store.ts'

const identity = [
  'identity_id as identityId',
  'user_id as userId',
  'handle',
  'display_name as displayName',
  'avatar_url as avatarUrl',
  'email',
  'email_verified as emailVerified',
  'email_verified_at as emailVerifiedAt',
  'recovery_email_since as recoveryEmailSince',
  'created_at as createdAt',
  'suspended_at as suspendedAt',
  'suspended_until as suspendedUntil',
  'last_seen_on as lastSeenOn',
  // Only acts on this identity raise it.
  sql<number>`version - account_change_count`.as('version'),
  'managed_by as managedBy',
  'manages_account as managesAccount',
] as const

export type IdentityRow = NonNullable<Awaited<ReturnType<typeof findIdentityOfUser>>>

export function findIdentityOfUser(db: Database, userId: UserId, identityId: IdentityId) {
  return db
    .selectFrom('identity')
    .select(identity)
    .where('identity_id', '=', identityId)
    .where('user_id', '=', userId)
    .executeTakeFirst()
}

export function findIdentity(db: Database, identityId: IdentityId) {
  return db.selectFrom('identity').select(identity).where('identity_id', '=', identityId).executeTakeFirst()
}

/** Finds the identity that has a handle. Reserved handles are not found. */
export async function findIdentityOfHandle(db: Database, handleNormalized: string) {
  const owner = db
    .selectFrom('identity_handle')
    .select('identity_id')
    .where('handle_normalized', '=', handleNormalized)
    .where('available_at', 'is', null)
  return db
    .selectFrom('identity')
    .select(['identity_id as identityId', 'handle'])
    .where(sql<boolean>`identity_id = any(${await findKeys(db, owner)})`)
    .executeTakeFirst()
}

/** Locks an identity until the transaction ends. Returns undefined if it does not exist. */
export function lockIdentity(tx: Transaction, identityId: IdentityId) {
  return tx.selectFrom('identity').select(identity).where('identity_id', '=', identityId).forUpdate().executeTakeFirst()
}

/** Locks an identity of this user until the transaction ends. */
export function lockIdentityOfUser(tx: Transaction, userId: UserId, identityId: IdentityId) {
  return tx
    .selectFrom('identity')
    .select(identity)
    .where('identity_id', '=', identityId)
    .where('user_id', '=', userId)
    .forUpdate()
    .executeTakeFirst()
}

/** Locks the identities of a user until the transaction ends. Returns their IDs. */
export async function lockIdentitiesOfUser(tx: Transaction, userId: UserId): Promise<IdentityId[]> {
  if (isDistributed(tx)) return lockInShards(tx, sql`user_id = ${userId}`)
  const rows = await tx
    .selectFrom('identity')
    .select('identity_id as identityId')
    .where('user_id', '=', userId)
    .orderBy('identity_id')
    .forUpdate()
    .execute()
  return rows.map(({ identityId }) => identityId)
}

/** Locks rows of several shards, which a distributed database does only for rows that it changes. */
async function lockInShards(tx: Transaction, condition: RawBuilder<boolean>): Promise<IdentityId[]> {
  const rows = await tx
    .updateTable('identity')
    .set(({ ref }) => ({ version: ref('version') }))
    .where(condition)
    .returning('identity_id as identityId')
    .execute()
  return rows.map(({ identityId }) => identityId).toSorted()
}

/** Locks identities of any users until the transaction ends. Returns those that exist. */
export async function lockIdentities(tx: Transaction, identityIds: IdentityId[]): Promise<IdentityId[]> {
  if (identityIds.length === 0) return []
  if (isDistributed(tx)) return lockInShards(tx, sql`identity_id = any(${identityIds}::uuid[])`)
  const rows = await tx
    .selectFrom('identity')
    .select('identity_id as identityId')
    .where('identity_id', 'in', identityIds)
    .orderBy('identity_id')
    .forNoKeyUpdate()
    .execute()
  return rows.map(({ identityId }) => identityId)
}

export function listIdentitiesOfUser(db: Database, userId: UserId) {
  return db
    .selectFrom('identity')
    .select(identity)
    .where('user_id', '=', userId)
    .orderBy('created_at')
    .orderBy('identity_id')
    .execute()
}

const user = ['created_at as createdAt', 'suspended_at as suspendedAt', 'suspended_until as suspendedUntil'] as const

export function insertUser(tx: Transaction, userId: UserId, now: Date): void {
  sendAhead(tx, tx.insertInto('user_account').values({ user_id: userId, identity_count: 1, created_at: now }))
}

/** Locks a user's row until the transaction ends. Returns undefined if there is none. */
export function lockUser(tx: Transaction, userId: UserId) {
  return tx.selectFrom('user_account').select(user).where('user_id', '=', userId).forUpdate().executeTakeFirst()
}

export function findUser(db: Database, userId: UserId) {
  return db.selectFrom('user_account').select(user).where('user_id', '=', userId).executeTakeFirst()
}

export async function deleteUser(tx: Transaction, userId: UserId): Promise<void> {
  await tx.deleteFrom('user_account').where('user_id', '=', userId).execute()
}

/** Decrements the identity count of a user. Returns false for the last identity. */
export async function decrementIdentityCount(tx: Transaction, userId: UserId): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('user_account')
    .set((eb) => ({ identity_count: eb('identity_count', '-', 1) }))
    .where('user_id', '=', userId)
    .where('identity_count', '>', 1)
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

/** Increments the identity count of a user. Returns false if the user has twenty identities. */
export async function incrementIdentityCount(tx: Transaction, userId: UserId): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('user_account')
    .set((eb) => ({ identity_count: eb('identity_count', '+', 1) }))
    .where('user_id', '=', userId)
    .where('identity_count', '<', limits.identitiesPerUserMax)
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

type NewIdentityRow = { identityId: IdentityId; userId: UserId; handle: string; displayName: string }

/** Inserts an identity. Returns undefined if its ID exists: an invited identity was accepted at the same time. */
export async function insertIdentity(
  tx: Transaction,
  { identityId, userId, handle, displayName }: NewIdentityRow,
  now: Date,
) {
  const inserted = await tx
    .insertInto('identity')
    .values({
      identity_id: identityId,
      user_id: userId,
      handle,
      display_name: displayName,
      created_at: now,
      updated_at: now,
    })
    .onConflict((conflict) => conflict.column('identity_id').doNothing())
    .returning(identity)
    .executeTakeFirst()
  if (inserted) replaceTerms(tx, identityId, termsOf(inserted))
  return inserted
}

type Change = { identityId: IdentityId; handle?: string; displayName?: string; avatarUrl?: string | null }

export async function updateIdentity(
  tx: Transaction,
  { identityId, handle, displayName, avatarUrl }: Change,
  now: Date,
) {
  const updated = await tx
    .updateTable('identity')
    .set((eb) => ({
      updated_at: now,
      version: eb('version', '+', 1),
      ...(handle !== undefined && { handle }),
      ...(displayName !== undefined && { display_name: displayName }),
      ...(avatarUrl !== undefined && { avatar_url: avatarUrl }),
    }))
    .where('identity_id', '=', identityId)
    .returning(identity)
    .executeTakeFirstOrThrow()
  if (handle !== undefined || displayName !== undefined) replaceTerms(tx, identityId, termsOf(updated))
  return updated
}

type NewEmail = { identityId: IdentityId; email: string | null; verifiedAt: Date | null; chosenBy: 'user' | 'others' }

/**
 * Sets or removes the address of an identity. `verifiedAt` is null for one that its user has not verified. A recovery
 * link goes only to one that its user chose; verifying the same one again keeps since when.
 */
export async function setEmail(tx: Transaction, { identityId, email, verifiedAt, chosenBy }: NewEmail, now: Date) {
  const chosenAt = chosenBy === 'user' ? verifiedAt : null
  const sameSince = sql<Date | null>`case when email = ${email} then recovery_email_since end`
  const updated = await tx
    .updateTable('identity')
    .set((eb) => ({
      ...{ email, email_verified: verifiedAt !== null, email_verified_at: verifiedAt },
      ...{ updated_at: now, version: eb('version', '+', 1) },
      recovery_email_since: verifiedAt && eb.fn.coalesce(sameSince, eb.val(chosenAt)),
    }))
    .where('identity_id', '=', identityId)
    .returning(identity)
    .executeTakeFirstOrThrow()
  replaceTerms(tx, identityId, termsOf(updated))
  return updated
}

/** Records the day when an identity authorized an app, unless that day or a later one is recorded. */
export function setLastSeen(tx: Transaction, identityId: IdentityId, day: string): void {
  const seen = tx
    .updateTable('identity')
    .set({ last_seen_on: day })
    .where('identity_id', '=', identityId)
    .where(({ eb, or }) => or([eb('last_seen_on', 'is', null), eb('last_seen_on', '<', day)]))
  sendAhead(tx, seen)
}

type Manager = { managedBy: string; managesAccount: boolean }

/** Lets a source alone change an identity, and the account if the source has created it. */
export async function setManager(
  tx: Transaction,
  identityId: IdentityId,
  { managedBy, managesAccount }: Manager,
): Promise<void> {
  await tx
    .updateTable('identity')
    .set({ managed_by: managedBy, manages_account: managesAccount })
    .where('identity_id', '=', identityId)
    .execute()
}

/** Lets identities of a source be changed by their users again. */
export async function releaseIdentities(tx: Transaction, identityIds: IdentityId[], managedBy: string): Promise<void> {
  if (identityIds.length === 0) return
  await tx
    .updateTable('identity')
    .set((eb) => ({ managed_by: null, manages_account: false, version: eb('version', '+', 1) }))
    .where('identity_id', 'in', identityIds)
    .where('managed_by', '=', managedBy)
    .execute()
}

/** Deletes identities with their rows in this module. Their handles stay reserved, for no identity. */
export async function deleteIdentities(tx: Transaction, identityIds: IdentityId[], handlesFreeAt: Date): Promise<void> {
  await tx
    .updateTable('identity_handle')
    .set((eb) => ({ identity_id: null, available_at: eb.fn.coalesce('available_at', eb.val(handlesFreeAt)) }))
    .where('identity_id', 'in', identityIds)
    .execute()
  await tx.deleteFrom('identity_email_verification').where('identity_id', 'in', identityIds).execute()
  await deleteTerms(tx, identityIds)
  await tx.deleteFrom('identity').where('identity_id', 'in', identityIds).execute()
}

type EmailProof = { identityId: IdentityId; email: string; codeMac: Uint8Array; expiresAt: Date }

export async function upsertEmailVerification(tx: Transaction, { identityId, email, codeMac, expiresAt }: EmailProof) {
  const proof = { email, code_mac: codeMac, attempts: 0, expires_at: expiresAt }
  await tx
    .insertInto('identity_email_verification')
    .values({ ...proof, identity_id: identityId })
    .onConflict((conflict) => conflict.column('identity_id').doUpdateSet(proof))
    .execute()
}

/**
 * Records a verification attempt. Returns the values to compare the code with, or undefined if the code has expired or
 * has no attempts left.
 */
export function recordVerificationAttempt(tx: Transaction, identityId: IdentityId, now: Date) {
  return tx
    .updateTable('identity_email_verification')
    .set((eb) => ({ attempts: eb('attempts', '+', 1) }))
    .where('identity_id', '=', identityId)
    .where('attempts', '<', limits.emailCodeTriesMax)
    .where('expires_at', '>', now)
    .returning(['email', 'code_mac as codeMac'])
    .executeTakeFirst()
}

export function findEmailVerification(db: Database, identityId: IdentityId, now: Date) {
  return db
    .selectFrom('identity_email_verification')
    .select('email')
    .where('identity_id', '=', identityId)
    .where('expires_at', '>', now)
    .executeTakeFirst()
}

export async function deleteEmailProof(tx: Transaction, identityId: IdentityId): Promise<void> {
  await tx.deleteFrom('identity_email_verification').where('identity_id', '=', identityId).execute()
}

export async function deleteExpiredProofs(db: Database, now: Date, batch: number): Promise<number> {
  const expired = db
    .selectFrom('identity_email_verification')
    .select('identity_id')
    .where('expires_at', '<=', now)
    .limit(batch)
  const { numDeletedRows } = await db
    .deleteFrom('identity_email_verification')
    .where('identity_id', 'in', expired)
    .where('expires_at', '<=', now)
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}
