import type { IdentityId } from '@countersign/protocol/ids'
import { sql } from 'kysely'
import type { Database, Transaction } from '#platform/database/database.ts'
import { isDistributed } from '#platform/database/distributed/engine.ts'
import { findKeys } from '#platform/database/distributed/keys.ts'

export function findHandle(db: Database, handleNormalized: string) {
  return db
    .selectFrom('identity_handle')
    .select(['identity_id as identityId', 'available_at as availableAt'])
    .where('handle_normalized', '=', handleNormalized)
    .executeTakeFirst()
}

type HandleInstant = { at: Date; reservedUntil: Date; now: Date }

/**
 * Finds the identity that had a handle at an instant, as far as that is known, and that has it or for which it is
 * reserved. A handle that was released at the instant would be reserved until `reservedUntil`.
 */
export async function findIdentityAt(
  db: Database,
  handleNormalized: string,
  { at, reservedUntil, now }: HandleInstant,
) {
  const owner = db
    .selectFrom('identity_handle')
    .select('identity_id')
    .where('handle_normalized', '=', handleNormalized)
    .where(sql<boolean>`(claimed_at is null or claimed_at <= ${at})`)
    .where(sql<boolean>`(available_at is null or (available_at > ${now} and available_at > ${reservedUntil}))`)
  return db
    .selectFrom('identity')
    .select(['identity_id as identityId', 'handle'])
    .where(sql<boolean>`identity_id = any(${await findKeys(db, owner)})`)
    .executeTakeFirst()
}

/**
 * Assigns a handle to an identity. Returns false if another identity has it or it is reserved for another one. An
 * identity that takes its own one back has had it from the first time on: no other had it in between.
 */
export async function claimHandle(
  tx: Transaction,
  { handleNormalized, identityId }: { handleNormalized: string; identityId: IdentityId },
  now: Date,
): Promise<boolean> {
  const claimed = await tx
    .insertInto('identity_handle')
    .values({ handle_normalized: handleNormalized, identity_id: identityId, claimed_at: now })
    .onConflict((conflict) =>
      conflict
        .column('handle_normalized')
        .doUpdateSet({ identity_id: identityId, available_at: null, claimed_at: claimedBy(identityId, now) })
        .where(({ eb, or }) =>
          or([eb('identity_handle.identity_id', '=', identityId), eb('identity_handle.available_at', '<=', now)]),
        ),
    )
    .returning('handle_normalized')
    .executeTakeFirst()
  return claimed !== undefined
}

const claimedBy = (identityId: IdentityId, now: Date) =>
  sql<Date | null>`case when identity_handle.identity_id = ${identityId} then identity_handle.claimed_at
    else ${now} end`

export async function releaseHandle(tx: Transaction, handleNormalized: string, heir: IdentityId, availableAt: Date) {
  await tx
    .updateTable('identity_handle')
    .set({ identity_id: heir, available_at: availableAt })
    .where('handle_normalized', '=', handleNormalized)
    .execute()
}

/** Deletes the handles of an identity that no one has accepted: anyone may claim them at once. */
export async function deleteHandles(tx: Transaction, identityId: IdentityId): Promise<void> {
  await tx.deleteFrom('identity_handle').where('identity_id', '=', identityId).execute()
}

/** Lists the handles that an identity released and that are still reserved for it. */
export function listReleasedHandles(db: Database, identityId: IdentityId, now: Date) {
  return db
    .selectFrom('identity_handle')
    .select(['handle_normalized as handle', 'available_at as keptUntil'])
    .where('identity_id', '=', identityId)
    .where('available_at', '>', now)
    .orderBy('available_at')
    .$narrowType<{ keptUntil: Date }>()
    .execute()
}

export async function deleteReleasedHandles(db: Database, now: Date, batch: number): Promise<number> {
  const free = db
    .selectFrom('identity_handle')
    .select('handle_normalized')
    .where('available_at', '<=', now)
    .limit(batch)
  const { numDeletedRows } = await db
    .deleteFrom('identity_handle')
    .where('handle_normalized', 'in', free)
    .where('available_at', '<=', now)
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

export async function lockHandles(tx: Transaction, identityId: IdentityId): Promise<void> {
  // A distributed database locks rows of several shards only if it changes them.
  if (isDistributed(tx)) {
    await sql`update identity_handle set identity_id = identity_id where identity_id = ${identityId}`.execute(tx)
    return
  }
  await tx
    .selectFrom('identity_handle')
    .select('handle_normalized')
    .where('identity_id', '=', identityId)
    .forUpdate()
    .execute()
}
