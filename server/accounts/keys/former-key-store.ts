import { randomUUIDv7 } from 'node:crypto'
import type { IdentityId, UserId } from '@countersign/protocol/ids'
import type { FormerCiphertext } from '@countersign/protocol/accounts/keys'
import type { Database, Transaction } from '#platform/database/database.ts'

/** Ciphertext of a master key before a reset, and what it belongs to. */
export type FormerRow = Pick<FormerCiphertext, 'kind' | 'reference' | 'ciphertext'> & { identityId: IdentityId | null }

type Kept = { userId: UserId; deleteAt: Date }

export async function insertFormer(
  tx: Transaction,
  { userId, deleteAt }: Kept,
  rows: FormerRow[],
  now: Date,
): Promise<void> {
  const values = rows.map(({ kind, identityId, reference, ciphertext }) => ({
    ...{ user_id: userId, former_id: randomUUIDv7(), kind, identity_id: identityId, reference, ciphertext },
    ...{ replaced_at: now, delete_at: deleteAt },
  }))
  await tx.insertInto('encryption_former_ciphertext').values(values).execute()
}

export function listFormer(db: Database, userId: UserId, now: Date) {
  return db
    .selectFrom('encryption_former_ciphertext')
    .select(['kind', 'identity_id as identityId', 'reference', 'ciphertext', 'delete_at as deleteAt'])
    .select('replaced_at as replacedAt')
    .where('user_id', '=', userId)
    .where('delete_at', '>', now)
    .orderBy('former_id')
    .execute()
}

export async function deleteFormerOfUser(tx: Transaction, userId: UserId): Promise<void> {
  await tx.deleteFrom('encryption_former_ciphertext').where('user_id', '=', userId).execute()
}

export async function deleteFormerOfIdentities(
  tx: Transaction,
  userId: UserId,
  identityIds: IdentityId[],
): Promise<void> {
  await tx
    .deleteFrom('encryption_former_ciphertext')
    .where('user_id', '=', userId)
    .where('identity_id', 'in', identityIds)
    .execute()
}

/** Deletes up to `batch` ciphertexts that have been kept long enough. Returns their number. */
export async function deleteDueFormer(db: Database, now: Date, batch: number): Promise<number> {
  const due = db
    .selectFrom('encryption_former_ciphertext')
    .select(['user_id', 'former_id'])
    .where('delete_at', '<=', now)
    .orderBy('delete_at')
    .limit(batch)
  const { numDeletedRows } = await db
    .deleteFrom('encryption_former_ciphertext')
    .where(({ eb, refTuple }) => eb(refTuple('user_id', 'former_id'), 'in', due.$asTuple('user_id', 'former_id')))
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}
