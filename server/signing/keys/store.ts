import type { Database, Transaction } from '#platform/database/database.ts'

/** Claims a public key for an identity, for ever. */
export async function insertKeyOwner(tx: Transaction, publicKey: Uint8Array, identityId: string): Promise<void> {
  await tx.insertInto('signing_key_owner').values({ public_key: publicKey, identity_id: identityId }).execute()
}

/** Whose a public key is or ever was. */
export function findKeyOwner(db: Database, publicKey: Uint8Array) {
  return db
    .selectFrom('signing_key_owner')
    .select('identity_id as identityId')
    .where('public_key', '=', publicKey)
    .executeTakeFirst()
}

type NewKey = { identityId: string; keyVersion: number; publicKey: Uint8Array; encryptedPrivateKey: string }

export async function insertKey(tx: Transaction, key: NewKey, now: Date): Promise<void> {
  await tx
    .insertInto('signing_key')
    .values({
      identity_id: key.identityId,
      key_version: key.keyVersion,
      public_key: key.publicKey,
      encrypted_private_key: key.encryptedPrivateKey,
      created_at: now,
    })
    .execute()
}

/** Ends a key, where it is the current one still. */
export async function endKey(
  tx: Transaction,
  { identityId, keyVersion }: { identityId: string; keyVersion: number },
  now: Date,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('signing_key')
    .set({ ended_at: now })
    .where('identity_id', '=', identityId)
    .where('key_version', '=', keyVersion)
    .where('ended_at', 'is', null)
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

/**
 * Forgets the private halves of the keys before this one, which nothing needs any more. That of the key which was
 * replaced last stays until the next rotation: its owner may still have to sign with it that the present key is theirs.
 */
export async function forgetPrivateHalves(
  tx: Transaction,
  { identityId, keyVersion }: { identityId: string; keyVersion: number },
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
  'signing_key.ended_at as endedAt',
] as const

/** Every key that an identity has or had, the first one first. */
export function listKeys(db: Database, identityId: string) {
  return db.selectFrom('signing_key').select(key).where('identity_id', '=', identityId).orderBy('key_version').execute()
}
export type StoredKey = Awaited<ReturnType<typeof listKeys>>[number]

export function findCurrentKey(db: Database, identityId: string) {
  return db
    .selectFrom('signing_key')
    .select(key)
    .where('identity_id', '=', identityId)
    .where('ended_at', 'is', null)
    .executeTakeFirst()
}

/** The key that an identity had at an instant. */
export function findKeyAt(db: Database, identityId: string, at: Date) {
  return db
    .selectFrom('signing_key')
    .select(key)
    .where('identity_id', '=', identityId)
    .where('created_at', '<=', at)
    .where(({ eb, or }) => or([eb('ended_at', 'is', null), eb('ended_at', '>', at)]))
    .executeTakeFirst()
}

/** The keys of a person's identities, those of the first identity first, each identity's first one first. */
export function listKeysOfUser(db: Database, userId: string) {
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

export async function deleteKeys(tx: Transaction, identityIds: string[]): Promise<void> {
  await tx.deleteFrom('signing_key').where('identity_id', 'in', identityIds).execute()
}

const told = ['identity_id as identityId', 'key_version as keyVersion', 'public_key as publicKey'] as const

/** Marks those keys of these identities as known to the log that it does not know yet, and answers them. */
export function markInLog(tx: Transaction, identityIds: string[]) {
  return tx
    .updateTable('signing_key')
    .set({ in_log: true })
    .where('identity_id', 'in', identityIds)
    .where('in_log', '=', false)
    .returning(told)
    .execute()
}

/** The current keys of these identities. */
export function listCurrentKeys(tx: Transaction, identityIds: string[]) {
  return tx
    .selectFrom('signing_key')
    .select(told)
    .where('identity_id', 'in', identityIds)
    .where('ended_at', 'is', null)
    .execute()
}

/** Identities that have keys which the log does not know. */
export async function listIdentitiesNotInLog(db: Database, count: number): Promise<string[]> {
  const rows = await db
    .selectFrom('signing_key')
    .select('identity_id')
    .distinct()
    .where('in_log', '=', false)
    .limit(count)
    .execute()
  return rows.map(({ identity_id: identityId }) => identityId)
}
