import { sql } from 'kysely'
import type { IdentityId } from '@countersign/protocol/ids'
import type { Database, Transaction } from '#platform/database/database.ts'

type Use = { identityId: IdentityId; delegationId: string; scope: string[]; usedAt: Date }

/**
 * Counts one more use in its minute and returns the number: one row for all scopes. The caller has locked the
 * delegation.
 */
export async function countUse(tx: Transaction, { identityId, delegationId, scope, usedAt }: Use): Promise<number> {
  const { count } = await tx
    .insertInto('delegation_usage')
    .values({ identity_id: identityId, delegation_id: delegationId, used_at: usedAt, scope, count: 1 })
    .onConflict((conflict) =>
      conflict.columns(['identity_id', 'delegation_id', 'used_at']).doUpdateSet({
        count: sql`delegation_usage.count + 1`,
        // A vector of words has each once, in the order of its bytes. A distributed database takes no subquery here.
        scope: sql`tsvector_to_array(array_to_tsvector(delegation_usage.scope || excluded.scope))`,
      }),
    )
    .returning('count')
    .executeTakeFirstOrThrow()
  return count
}

/** Deletes up to `batch` uses that are older than the latest `kept` ones. */
export async function trimUses(
  tx: Transaction,
  { identityId, delegationId }: Pick<Use, 'identityId' | 'delegationId'>,
  { kept, batch }: { kept: number; batch: number },
): Promise<void> {
  const older = tx
    .selectFrom('delegation_usage')
    .select('used_at')
    .where('identity_id', '=', identityId)
    .where('delegation_id', '=', delegationId)
    .orderBy('used_at', 'desc')
    .offset(kept)
    .limit(batch)
  await tx
    .deleteFrom('delegation_usage')
    .where('identity_id', '=', identityId)
    .where('delegation_id', '=', delegationId)
    .where('used_at', 'in', older)
    .execute()
}

/** Lists the latest uses of a delegation. */
export function listDelegationUses(db: Database, identityId: IdentityId, delegationId: string, count: number) {
  return db
    .selectFrom('delegation_usage')
    .select(['used_at as usedAt', 'scope', 'count'])
    .where('identity_id', '=', identityId)
    .where('delegation_id', '=', delegationId)
    .orderBy('used_at', 'desc')
    .limit(count)
    .execute()
}

/** Deletes uses before an instant, oldest first. */
export function deleteUses(db: Database, before: Date, batch: number): Promise<number> {
  const old = selectKeys(db).where('used_at', '<=', before).orderBy('used_at').limit(batch)
  return deleteAll(db, old)
}

/** Deletes uses of deleted identities, and removes those identities that have none left. */
export async function deleteFormerUses(db: Database, batch: number): Promise<number> {
  const former = selectKeys(db)
    .innerJoin('delegation_former_identity as former', 'former.identity_id', 'delegation_usage.identity_id')
    .limit(batch)
  const deleted = await deleteAll(db, former)
  if (deleted === batch) return deleted
  const done = db
    .selectFrom('delegation_former_identity as former')
    .select('former.identity_id')
    .where(({ exists, not, selectFrom }) =>
      not(exists(selectFrom('delegation_usage').whereRef('delegation_usage.identity_id', '=', 'former.identity_id'))),
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
    .selectFrom('delegation_usage')
    .select(['delegation_usage.identity_id', 'delegation_usage.delegation_id', 'delegation_usage.used_at'])
}

async function deleteAll(db: Database, keys: ReturnType<typeof selectKeys>): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('delegation_usage')
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
