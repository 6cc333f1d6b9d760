import type { IdentityId, UserId } from '@countersign/protocol/ids'
import type { Database, Transaction } from '#platform/database/database.ts'

/** Binds a public key to an identity permanently. */
export async function insertKeyOwner(tx: Transaction, publicKey: Uint8Array, identityId: IdentityId): Promise<void> {
  await tx.insertInto('signing_key_owner').values({ public_key: publicKey, identity_id: identityId }).execute()
}

/** Finds the identity that a public key belongs or ever belonged to. */
export function findKeyOwner(db: Database, publicKey: Uint8Array) {
  return db
    .selectFrom('signing_key_owner')
    .select('identity_id as identityId')
    .where('public_key', '=', publicKey)
    .executeTakeFirst()
}

type NewKey = {
  identityId: IdentityId
  keyVersion: number
  publicKey: Uint8Array
  encryptedPrivateKey: string
  rotationSignature?: Uint8Array
  recoveredAt?: Date | null
}

export async function insertKey(tx: Transaction, key: NewKey, now: Date): Promise<void> {
  await tx
    .insertInto('signing_key')
    .values({
      identity_id: key.identityId,
      key_version: key.keyVersion,
      public_key: key.publicKey,
      encrypted_private_key: key.encryptedPrivateKey,
      created_at: now,
      rotation_signature: key.rotationSignature ?? null,
      recovered_at: key.recoveredAt ?? null,
    })
    .execute()
}

/** Retires a key if it is still the current one. */
export async function endKey(
  tx: Transaction,
  { identityId, keyVersion }: { identityId: IdentityId; keyVersion: number },
  now: Date,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('signing_key')
    .set({ replaced_at: now })
    .where('identity_id', '=', identityId)
    .where('key_version', '=', keyVersion)
    .where('replaced_at', 'is', null)
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

/**
 * Deletes the private keys that are older than this key, which are not needed any more.
 *
 * The most recently replaced key stays until the next rotation: its owner may still have to prove with it that the
 * current key is theirs.
 */
export async function forgetPrivateHalves(
  tx: Transaction,
  { identityId, keyVersion }: { identityId: IdentityId; keyVersion: number },
): Promise<void> {
  await tx
    .updateTable('signing_key')
    .set({ encrypted_private_key: null })
    .where('identity_id', '=', identityId)
    .where('key_version', '<', keyVersion)
    .where('encrypted_private_key', 'is not', null)
    .execute()
}

const key = [
  'signing_key.identity_id as identityId',
  'signing_key.key_version as keyVersion',
  'signing_key.public_key as publicKey',
  'signing_key.encrypted_private_key as encryptedPrivateKey',
  'signing_key.created_at as createdAt',
  'signing_key.replaced_at as endedAt',
  'signing_key.rotation_signature as rotationSignature',
  'signing_key.recovered_at as recoveredAt',
] as const

/** Lists all current and former keys of an identity, oldest first. */
export function listKeys(db: Database, identityId: IdentityId) {
  return db.selectFrom('signing_key').select(key).where('identity_id', '=', identityId).orderBy('key_version').execute()
}
export type StoredKey = Awaited<ReturnType<typeof listKeys>>[number]

export function findCurrentKey(db: Database, identityId: IdentityId) {
  return db
    .selectFrom('signing_key')
    .select(key)
    .where('identity_id', '=', identityId)
    .where('replaced_at', 'is', null)
    .executeTakeFirst()
}

/** Finds the key that an identity had at an instant. */
export function findKeyAt(db: Database, identityId: IdentityId, at: Date) {
  return db
    .selectFrom('signing_key')
    .select(key)
    .where('identity_id', '=', identityId)
    .where('created_at', '<=', at)
    .where(({ eb, or }) => or([eb('replaced_at', 'is', null), eb('replaced_at', '>', at)]))
    .executeTakeFirst()
}

/** Lists the keys of a user's identities, grouped by identity, oldest first. */
export function listKeysOfUser(db: Database, userId: UserId) {
  return db
    .selectFrom('signing_key')
    .innerJoin('identity', 'identity.identity_id', 'signing_key.identity_id')
    .select(key)
    .select('identity.handle')
    .where('identity.user_id', '=', userId)
    .orderBy('identity.created_at')
    .orderBy('identity.identity_id')
    .orderBy('signing_key.key_version')
    .execute()
}

export async function deleteKeys(tx: Transaction, identityIds: IdentityId[]): Promise<void> {
  await tx.deleteFrom('signing_key').where('identity_id', 'in', identityIds).execute()
}

const received = ['identity_id as identityId', 'key_version as keyVersion', 'public_key as publicKey'] as const

/** Lists the current keys of these identities. */
export function listCurrentKeys(tx: Transaction, identityIds: IdentityId[]) {
  return tx
    .selectFrom('signing_key')
    .select(received)
    .where('identity_id', 'in', identityIds)
    .where('replaced_at', 'is', null)
    .execute()
}
