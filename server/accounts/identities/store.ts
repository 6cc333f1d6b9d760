import { limits } from '@countersign/protocol/formats/limits'
import type { Database, Transaction } from '#platform/database/database.ts'

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

/** The identity that holds a handle; none where the handle only waits for the one that gave it up. */
export function findIdentityOfHandle(db: Database, handleFolded: string) {
  return db
    .selectFrom('identity_handle')
    .innerJoin('identity', 'identity.identity_id', 'identity_handle.identity_id')
    .select(['identity.identity_id as identityId', 'identity.handle'])
    .where('handle_folded', '=', handleFolded)
    .where('free_at', 'is', null)
    .executeTakeFirst()
}

/** An identity, locked until the transaction ends; undefined where there is none. */
export function lockIdentity(tx: Transaction, identityId: string) {
  return tx.selectFrom('identity').select(identity).where('identity_id', '=', identityId).forUpdate().executeTakeFirst()
}

/** The same, locked until the transaction ends. */
export function lockIdentityOfUser(tx: Transaction, userId: string, identityId: string) {
  return tx
    .selectFrom('identity')
    .select(identity)
    .where('identity_id', '=', identityId)
    .where('user_id', '=', userId)
    .forUpdate()
    .executeTakeFirst()
}

/** Locks the identities of a person until the transaction ends, and answers their ids. */
export async function lockIdentitiesOfUser(tx: Transaction, userId: string): Promise<string[]> {
  const rows = await tx
    .selectFrom('identity')
    .select('identity_id as identityId')
    .where('user_id', '=', userId)
    .orderBy('identity_id')
    .forUpdate()
    .execute()
  return rows.map(({ identityId }) => identityId)
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

/** Locks a person's row until the transaction ends; undefined where there is none. */
export function lockPerson(tx: Transaction, userId: string) {
  return tx
    .selectFrom('person')
    .select('created_at as createdAt')
    .where('user_id', '=', userId)
    .forUpdate()
    .executeTakeFirst()
}

export function findPerson(db: Database, userId: string) {
  return db.selectFrom('person').select('created_at as createdAt').where('user_id', '=', userId).executeTakeFirst()
}

export async function deletePerson(tx: Transaction, userId: string): Promise<void> {
  await tx.deleteFrom('person').where('user_id', '=', userId).execute()
}

/** Counts one identity of a person less; false where it is their last. */
export async function uncountIdentity(tx: Transaction, userId: string): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('person')
    .set((eb) => ({ identity_count: eb('identity_count', '-', 1) }))
    .where('user_id', '=', userId)
    .where('identity_count', '>', 1)
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
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
    .select(['identity_id as identityId', 'free_at as freeAt'])
    .where('handle_folded', '=', handleFolded)
    .executeTakeFirst()
}

/** Gives a handle to an identity; false where another has it, or had it until lately. */
export async function claimHandle(
  tx: Transaction,
  { handleFolded, identityId }: { handleFolded: string; identityId: string },
  now: Date,
): Promise<boolean> {
  const claimed = await tx
    .insertInto('identity_handle')
    .values({ handle_folded: handleFolded, identity_id: identityId })
    .onConflict((conflict) =>
      conflict
        .column('handle_folded')
        .doUpdateSet({ identity_id: identityId, free_at: null })
        .where(({ eb, or }) =>
          or([eb('identity_handle.identity_id', '=', identityId), eb('identity_handle.free_at', '<=', now)]),
        ),
    )
    .returning('handle_folded')
    .executeTakeFirst()
  return claimed !== undefined
}

export async function releaseHandle(tx: Transaction, handleFolded: string, heir: string, freeAt: Date) {
  await tx
    .updateTable('identity_handle')
    .set({ identity_id: heir, free_at: freeAt })
    .where('handle_folded', '=', handleFolded)
    .execute()
}

/** The handles that an identity gave up and that still wait for it. */
export function listReleasedHandles(db: Database, identityId: string, now: Date) {
  return db
    .selectFrom('identity_handle')
    .select(['handle_folded as handle', 'free_at as keptUntil'])
    .where('identity_id', '=', identityId)
    .where('free_at', '>', now)
    .orderBy('free_at')
    .$narrowType<{ keptUntil: Date }>()
    .execute()
}

export async function deleteFreeHandles(db: Database, now: Date, batch: number): Promise<number> {
  const free = db.selectFrom('identity_handle').select('handle_folded').where('free_at', '<=', now).limit(batch)
  const { numDeletedRows } = await db
    .deleteFrom('identity_handle')
    .where('handle_folded', 'in', free)
    .where('free_at', '<=', now)
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
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

type Change = { identityId: string; handle?: string; displayName?: string; avatarUrl?: string | null }

export function updateIdentity(tx: Transaction, { identityId, handle, displayName, avatarUrl }: Change, now: Date) {
  return tx
    .updateTable('identity')
    .set({
      updated_at: now,
      ...(handle !== undefined && { handle }),
      ...(displayName !== undefined && { display_name: displayName }),
      ...(avatarUrl !== undefined && { avatar_url: avatarUrl }),
    })
    .where('identity_id', '=', identityId)
    .returning(identity)
    .executeTakeFirstOrThrow()
}

/** Sets the address that an identity has proved, or none. */
export function setEmail(
  tx: Transaction,
  { identityId, email }: { identityId: string; email: string | null },
  now: Date,
) {
  return tx
    .updateTable('identity')
    .set({ email, email_verified: email !== null, updated_at: now })
    .where('identity_id', '=', identityId)
    .returning(identity)
    .executeTakeFirstOrThrow()
}

/** Deletes identities with what this room keeps of them; their handles are reserved, for nobody. */
export async function deleteIdentities(tx: Transaction, identityIds: string[], handlesFreeAt: Date): Promise<void> {
  await tx
    .updateTable('identity_handle')
    .set((eb) => ({ identity_id: null, free_at: eb.fn.coalesce('free_at', eb.val(handlesFreeAt)) }))
    .where('identity_id', 'in', identityIds)
    .execute()
  await tx.deleteFrom('identity_email_proof').where('identity_id', 'in', identityIds).execute()
  await tx.deleteFrom('identity').where('identity_id', 'in', identityIds).execute()
}

type EmailProof = { identityId: string; email: string; codeMac: Uint8Array; expiresAt: Date }

export async function upsertEmailProof(tx: Transaction, { identityId, email, codeMac, expiresAt }: EmailProof) {
  const proof = { email, code_mac: codeMac, tries: 0, expires_at: expiresAt }
  await tx
    .insertInto('identity_email_proof')
    .values({ ...proof, identity_id: identityId })
    .onConflict((conflict) => conflict.column('identity_id').doUpdateSet(proof))
    .execute()
}

/** Counts one more try, and answers what it is compared with; undefined where no try is left, or there is no time. */
export function tryEmailProof(tx: Transaction, identityId: string, now: Date) {
  return tx
    .updateTable('identity_email_proof')
    .set((eb) => ({ tries: eb('tries', '+', 1) }))
    .where('identity_id', '=', identityId)
    .where('tries', '<', limits.emailCodeTriesMax)
    .where('expires_at', '>', now)
    .returning(['email', 'code_mac as codeMac'])
    .executeTakeFirst()
}

export function findEmailProof(db: Database, identityId: string, now: Date) {
  return db
    .selectFrom('identity_email_proof')
    .select('email')
    .where('identity_id', '=', identityId)
    .where('expires_at', '>', now)
    .executeTakeFirst()
}

export async function deleteEmailProof(tx: Transaction, identityId: string): Promise<void> {
  await tx.deleteFrom('identity_email_proof').where('identity_id', '=', identityId).execute()
}

export async function deleteExpiredProofs(db: Database, now: Date, batch: number): Promise<number> {
  const expired = db
    .selectFrom('identity_email_proof')
    .select('identity_id')
    .where('expires_at', '<=', now)
    .limit(batch)
  const { numDeletedRows } = await db
    .deleteFrom('identity_email_proof')
    .where('identity_id', 'in', expired)
    .where('expires_at', '<=', now)
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}
