import type { Database, Transaction } from '#kernel/database.ts'

/** Claims a public key for an identity, for ever. */
export async function insertKeyOwner(tx: Transaction, publicKey: Uint8Array, identityId: string): Promise<void> {
  await tx.insertInto('signing_key_owner').values({ public_key: publicKey, identity_id: identityId }).execute()
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

export function listKeys(db: Database, identityId: string) {
  return db
    .selectFrom('signing_key')
    .select([
      'key_version as keyVersion',
      'public_key as publicKey',
      'encrypted_private_key as encryptedPrivateKey',
      'created_at as createdAt',
    ])
    .where('identity_id', '=', identityId)
    .orderBy('key_version')
    .execute()
}

export async function deleteKeys(tx: Transaction, identityIds: string[]): Promise<void> {
  await tx.deleteFrom('signing_key').where('identity_id', 'in', identityIds).execute()
}
