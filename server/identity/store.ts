import { limits } from '@countersign/protocol/formats/limits'
import type { Database, Transaction } from '#kernel/database.ts'

const identity = [
  'identity_id as identityId',
  'user_id as userId',
  'handle',
  'display_name as displayName',
  'avatar_url as avatarUrl',
  'email',
  'email_verified as emailVerified',
  'created_at as createdAt',
] as const

export type IdentityRow = NonNullable<Awaited<ReturnType<typeof findIdentityOfUser>>>

export function findIdentityOfUser(db: Database, userId: string, identityId: string) {
  return db
    .selectFrom('identity')
    .select(identity)
    .where('identity_id', '=', identityId)
    .where('user_id', '=', userId)
    .executeTakeFirst()
}

export function findIdentity(db: Database, identityId: string) {
  return db.selectFrom('identity').select(identity).where('identity_id', '=', identityId).executeTakeFirst()
}

export function listIdentitiesOfUser(db: Database, userId: string) {
  return db
    .selectFrom('identity')
    .select(identity)
    .where('user_id', '=', userId)
    .orderBy('created_at')
    .orderBy('identity_id')
    .execute()
}

export async function insertPerson(tx: Transaction, userId: string, now: Date): Promise<void> {
  await tx.insertInto('person').values({ user_id: userId, identity_count: 1, created_at: now }).execute()
}

/** Locks a person's row until the transaction ends. */
export async function lockPerson(tx: Transaction, userId: string): Promise<void> {
  await tx.selectFrom('person').select('user_id').where('user_id', '=', userId).forUpdate().executeTakeFirstOrThrow()
}

/** Counts one more identity of a person; false where they have twenty. */
export async function countIdentity(tx: Transaction, userId: string): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('person')
    .set((eb) => ({ identity_count: eb('identity_count', '+', 1) }))
    .where('user_id', '=', userId)
    .where('identity_count', '<', limits.identitiesPerUserMax)
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

export function findHandle(db: Database, handleFolded: string) {
  return db
    .selectFrom('identity_handle')
    .select('identity_id as identityId')
    .where('handle_folded', '=', handleFolded)
    .executeTakeFirst()
}

export async function insertHandle(tx: Transaction, handleFolded: string, identityId: string): Promise<void> {
  await tx.insertInto('identity_handle').values({ handle_folded: handleFolded, identity_id: identityId }).execute()
}

type NewIdentityRow = { identityId: string; userId: string; handle: string; displayName: string }

export function insertIdentity(
  tx: Transaction,
  { identityId, userId, handle, displayName }: NewIdentityRow,
  now: Date,
) {
  return tx
    .insertInto('identity')
    .values({
      identity_id: identityId,
      user_id: userId,
      handle,
      display_name: displayName,
      created_at: now,
      updated_at: now,
    })
    .returning(identity)
    .executeTakeFirstOrThrow()
}

type Renamed = { userId: string; identityId: string; displayName: string }

export function setDisplayName(tx: Transaction, { userId, identityId, displayName }: Renamed, now: Date) {
  return tx
    .updateTable('identity')
    .set({ display_name: displayName, updated_at: now })
    .where('identity_id', '=', identityId)
    .where('user_id', '=', userId)
    .returning(identity)
    .executeTakeFirst()
}
