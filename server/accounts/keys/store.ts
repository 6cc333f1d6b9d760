import type { NewKeyWrap } from '@countersign/protocol/accounts/keys'
import type { IdentityId, UserId } from '@countersign/protocol/ids'
import type { Database, Transaction } from '#platform/database/database.ts'
import { sendAhead } from '#platform/database/pipeline.ts'

export type WrapRow = Awaited<ReturnType<typeof listWraps>>[number]

export function listWraps(db: Database | Transaction, userId: UserId) {
  return db
    .selectFrom('encryption_key_wrap')
    .select(['wrap_id as wrapId', 'kind', 'credential_id as credentialId', 'ciphertext', 'created_at as createdAt'])
    .where('user_id', '=', userId)
    .orderBy('wrap_id')
    .execute()
}

/** Stores wraps, which takes the master key: no passkey can reset it any more. */
export function insertWraps(
  tx: Transaction,
  userId: UserId,
  wraps: (NewKeyWrap & { wrapId: string })[],
  now: Date,
): void {
  const rows = wraps.map(({ wrapId, kind, credentialId, ciphertext }) => ({
    user_id: userId,
    wrap_id: wrapId,
    kind,
    credential_id: credentialId ?? null,
    ciphertext,
    created_at: now,
  }))
  const inserted = tx
    .with('unlocked', (db) => db.deleteFrom('encryption_key_reset').where('user_id', '=', userId))
    .insertInto('encryption_key_wrap')
    .values(rows)
  sendAhead(tx, inserted)
}

/** Deletes all wraps of a user, or those of one kind. */
export async function deleteWraps(tx: Transaction, userId: UserId, kind?: WrapRow['kind']): Promise<void> {
  const wraps = tx.deleteFrom('encryption_key_wrap').where('user_id', '=', userId)
  await (kind === undefined ? wraps : wraps.where('kind', '=', kind)).execute()
}

export async function deleteWrapsOfCredential(tx: Transaction, userId: UserId, credentialId: string): Promise<void> {
  await tx
    .deleteFrom('encryption_key_wrap')
    .where('user_id', '=', userId)
    .where('credential_id', '=', credentialId)
    .execute()
}

type KeyReset = { userId: UserId; credentialId: string; since: Date }

export async function insertKeyReset(tx: Transaction, { userId, credentialId, since }: KeyReset): Promise<void> {
  const row = { user_id: userId, credential_id: credentialId, recovered_at: since }
  await tx.insertInto('encryption_key_reset').values(row).execute()
}

/** Uses the permission to reset the keys once, and returns since when the passkey exists. */
export async function consumeKeyReset(
  tx: Transaction,
  { userId, credentialId }: Omit<KeyReset, 'since'>,
): Promise<Date | undefined> {
  const consumed = await tx
    .deleteFrom('encryption_key_reset')
    .where('user_id', '=', userId)
    .where('credential_id', '=', credentialId)
    .returning('recovered_at as since')
    .executeTakeFirst()
  return consumed?.since
}

export async function findResettingPasskey(db: Database, userId: UserId): Promise<string | undefined> {
  const found = db.selectFrom('encryption_key_reset').select('credential_id as credentialId')
  return (await found.where('user_id', '=', userId).executeTakeFirst())?.credentialId
}

export async function deleteKeyReset(tx: Transaction, userId: UserId): Promise<void> {
  await tx.deleteFrom('encryption_key_reset').where('user_id', '=', userId).execute()
}

export function findRecovery(db: Database, userId: UserId) {
  return db
    .selectFrom('encryption_recovery_code')
    .select(['recovery_auth_sha256 as authSha256', 'created_at as createdAt'])
    .where('user_id', '=', userId)
    .executeTakeFirst()
}

/** Deletes a user's recovery verifier. Returns false if it was replaced or deleted. */
export async function deleteRecovery(tx: Transaction, userId: UserId, authSha256: Uint8Array): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('encryption_recovery_code')
    .where('user_id', '=', userId)
    .where('recovery_auth_sha256', '=', authSha256)
    .executeTakeFirstOrThrow()
  return numDeletedRows === 1n
}

export async function upsertRecovery(
  tx: Transaction,
  userId: UserId,
  authSha256: Uint8Array,
  now: Date,
): Promise<void> {
  await tx
    .insertInto('encryption_recovery_code')
    .values({ user_id: userId, recovery_auth_sha256: authSha256, created_at: now })
    .onConflict((conflict) =>
      conflict.column('user_id').doUpdateSet({ recovery_auth_sha256: authSha256, created_at: now }),
    )
    .execute()
}

/** Stores a user's recovery verifier. Returns false if there is one. */
export async function insertRecovery(
  tx: Transaction,
  userId: UserId,
  authSha256: Uint8Array,
  now: Date,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('encryption_recovery_code')
    .values({ user_id: userId, recovery_auth_sha256: authSha256, created_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows === 1n
}

type NewIdentityKeyRow = { identityId: IdentityId; publicKey: Uint8Array; encryptedPrivateKey: string }

export async function insertIdentityKey(tx: Transaction, key: NewIdentityKeyRow, now: Date): Promise<void> {
  await tx
    .insertInto('encryption_identity_key')
    .values({
      identity_id: key.identityId,
      public_key: key.publicKey,
      encrypted_private_key: key.encryptedPrivateKey,
      created_at: now,
    })
    .execute()
}

/** Replaces the encryption key of an identity, which its user has lost. */
export async function replaceIdentityKey(tx: Transaction, key: NewIdentityKeyRow, now: Date): Promise<void> {
  await tx
    .updateTable('encryption_identity_key')
    .set({ public_key: key.publicKey, encrypted_private_key: key.encryptedPrivateKey })
    .set({ created_at: now, recovered_at: now })
    .where('identity_id', '=', key.identityId)
    .execute()
}

export function findIdentityKey(db: Database, identityId: IdentityId) {
  return db
    .selectFrom('encryption_identity_key')
    .select(['public_key as publicKey', 'encrypted_private_key as encryptedPrivateKey', 'created_at as createdAt'])
    .select('recovered_at as recoveredAt')
    .where('identity_id', '=', identityId)
    .executeTakeFirst()
}

export async function deleteIdentityKeys(tx: Transaction, identityIds: IdentityId[]): Promise<void> {
  await tx.deleteFrom('encryption_identity_key').where('identity_id', 'in', identityIds).execute()
}

export async function deleteRecoveryOfUser(tx: Transaction, userId: UserId): Promise<void> {
  await tx.deleteFrom('encryption_recovery_code').where('user_id', '=', userId).execute()
}

export function findSelfRecord(db: Database, userId: UserId) {
  return db
    .selectFrom('encryption_self_record')
    .select(['sequence', 'ciphertext'])
    .where('user_id', '=', userId)
    .executeTakeFirst()
}

type SelfRecordRow = { sequence: number; ciphertext: string }

/** Stores the first self-record of a user. Returns false if there is one. */
export async function insertSelfRecord(
  tx: Transaction,
  userId: UserId,
  { sequence, ciphertext }: SelfRecordRow,
  now: Date,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('encryption_self_record')
    .values({ user_id: userId, sequence, ciphertext, updated_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows === 1n
}

/** Replaces the self-record before this one. Returns false if another one is stored. */
export async function updateSelfRecord(
  tx: Transaction,
  userId: UserId,
  { sequence, ciphertext }: SelfRecordRow,
  now: Date,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('encryption_self_record')
    .set({ sequence, ciphertext, updated_at: now })
    .where('user_id', '=', userId)
    .where('sequence', '=', sequence - 1)
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

export async function deleteSelfRecord(tx: Transaction, userId: UserId): Promise<void> {
  await tx.deleteFrom('encryption_self_record').where('user_id', '=', userId).execute()
}
