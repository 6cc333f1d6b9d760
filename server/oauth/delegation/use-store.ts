import { sql } from 'kysely'
import type { Database, Transaction } from '#platform/database/database.ts'

type Use = { identityId: string; delegationId: string; scope: string[]; usedAt: Date }

/**
 * Counts one more use in its minute, and returns how many there are: one row, whatever scopes the uses are for. The
 * caller has locked the grant.
 */
export async function countUse(tx: Transaction, { identityId, delegationId, scope, usedAt }: Use): Promise<number> {
  const { count } = await tx
    .insertInto('delegation_use')
    .values({ identity_id: identityId, delegation_id: delegationId, used_at: usedAt, scope, count: 1 })
    .onConflict((conflict) =>
      conflict.columns(['identity_id', 'delegation_id', 'used_at']).doUpdateSet({
        count: sql`delegation_use.count + 1`,
        scope: sql`array(
          select distinct each collate "C" from unnest(delegation_use.scope || excluded.scope) as each order by 1
        )`,
      }),
    )
    .returning('count')
    .executeTakeFirstOrThrow()
  return count
}

/** Deletes up to `batch` of the uses that are older than the latest `kept` ones. */
export async function trimUses(
  tx: Transaction,
  { identityId, delegationId }: Pick<Use, 'identityId' | 'delegationId'>,
  { kept, batch }: { kept: number; batch: number },
): Promise<void> {
  const older = tx
    .selectFrom('delegation_use')
    .select('used_at')
    .where('identity_id', '=', identityId)
    .where('delegation_id', '=', delegationId)
    .orderBy('used_at', 'desc')
    .offset(kept)
    .limit(batch)
  await tx
    .deleteFrom('delegation_use')
    .where('identity_id', '=', identityId)
    .where('delegation_id', '=', delegationId)
    .where('used_at', 'in', older)
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
    .limit(count)
    .execute()
}

/** Deletes uses of before an instant, the oldest first. */
export function deleteUses(db: Database, before: Date, batch: number): Promise<number> {
  const old = selectKeys(db).where('used_at', '<=', before).orderBy('used_at').limit(batch)
  return deleteAll(db, old)
}

/** Deletes uses of identities that are gone, and forgets the identities of which none is left. */
export async function deleteFormerUses(db: Database, batch: number): Promise<number> {
  const former = selectKeys(db)
    .innerJoin('delegation_former_identity as former', 'former.identity_id', 'delegation_use.identity_id')
    .limit(batch)
  const deleted = await deleteAll(db, former)
  if (deleted === batch) return deleted
  const done = db
    .selectFrom('delegation_former_identity as former')
    .select('former.identity_id')
    .where(({ exists, not, selectFrom }) =>
      not(exists(selectFrom('delegation_use').whereRef('delegation_use.identity_id', '=', 'former.identity_id'))),
    )
    .limit(batch)
  const { numDeletedRows } = await db
    .deleteFrom('delegation_former_identity')
    .where('identity_id', 'in', done)
    .executeTakeFirstOrThrow()
  return deleted + Number(numDeletedRows)
}

function selectKeys(db: Database) {
  return db
    .selectFrom('delegation_use')
    .select(['delegation_use.identity_id', 'delegation_use.delegation_id', 'delegation_use.used_at'])
}

async function deleteAll(db: Database, keys: ReturnType<typeof selectKeys>): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('delegation_use')
    .where(({ eb, refTuple }) =>
      eb(
        refTuple('identity_id', 'delegation_id', 'used_at'),
        'in',
        keys.$asTuple('identity_id', 'delegation_id', 'used_at'),
      ),
    )
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}
