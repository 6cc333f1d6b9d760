import type { IdentityId } from '@countersign/protocol/ids'
import type { Transaction } from '../../server/platform/database/database.ts'

export const bytesOf = (base64: string): Buffer => Buffer.from(base64, 'base64')

type Key = { keyVersion: number; publicKey: string; encryptedPrivateKey: string }

/** Makes a key the current one of an identity, which its owner has not signed. */
export async function insertNextKey(
  tx: Transaction,
  identityId: IdentityId,
  { keyVersion, publicKey, encryptedPrivateKey }: Key,
  now: Date,
): Promise<void> {
  const key = { identity_id: identityId, public_key: bytesOf(publicKey) }
  await tx
    .updateTable('signing_key')
    .set({ replaced_at: now })
    .where('identity_id', '=', identityId)
    .where('replaced_at', 'is', null)
    .execute()
  await tx
    .insertInto('signing_key_owner')
    .values(key)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  await tx
    .insertInto('signing_key')
    .values({ ...key, key_version: keyVersion, encrypted_private_key: encryptedPrivateKey, created_at: now })
    .execute()
}
