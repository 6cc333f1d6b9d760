import { sql } from 'kysely'
import type { Database, Transaction } from '#kernel/database.ts'

type Use = { identityId: string; delegationId: string; scope: string; usedAt: Date }

/** Counts one more use in its minute. */
export async function countUse(tx: Transaction, { identityId, delegationId, scope, usedAt }: Use): Promise<void> {
  await tx
    .insertInto('delegation_use')
    .values({ identity_id: identityId, delegation_id: delegationId, used_at: usedAt, scope, count: 1 })
    .onConflict((conflict) =>
      conflict
        .columns(['identity_id', 'delegation_id', 'used_at', 'scope'])
        .doUpdateSet({ count: sql`delegation_use.count + 1` }),
    )
    .execute()
}

/** The latest uses of a grant. */
export function listUses(db: Database, identityId: string, delegationId: string, count: number) {
  return db
    .selectFrom('delegation_use')
    .select(['used_at as usedAt', 'scope', 'count'])
    .where('identity_id', '=', identityId)
    .where('delegation_id', '=', delegationId)
    .orderBy('used_at', 'desc')
    .orderBy('scope')
    .limit(count)
    .execute()
}

/** Deletes uses of before an instant. */
export async function deleteUses(db: Database, before: Date, batch: number): Promise<number> {
  const old = db
    .selectFrom('delegation_use')
    .select(['identity_id', 'delegation_id', 'used_at', 'scope'])
    .where('used_at', '<=', before)
    .limit(batch)
  const { numDeletedRows } = await db
    .deleteFrom('delegation_use')
    .where(({ eb, refTuple }) =>
      eb(
        refTuple('identity_id', 'delegation_id', 'used_at', 'scope'),
        'in',
        old.$asTuple('identity_id', 'delegation_id', 'used_at', 'scope'),
      ),
    )
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}
