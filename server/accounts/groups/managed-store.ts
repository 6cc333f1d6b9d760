import { limits } from '@countersign/protocol/formats/limits'
import { sql } from 'kysely'
import type { Transaction } from '#platform/database/database.ts'

type NewGroup = { groupId: string; key: string; displayName: string; managedBy: string }

/** Inserts a group of a source, unless its key is in use or there are too many. Returns false then. */
export async function insertGroupOfSource(
  tx: Transaction,
  { groupId, key, displayName, managedBy }: NewGroup,
  now: Date,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    insert into user_group (group_id, key, display_name, managed_by, created_at, updated_at)
    select ${groupId}::uuid, ${key}, ${displayName}, ${managedBy}, ${now}::timestamptz, ${now}::timestamptz
    where (
      select count(*) from (select from user_group where deleted_at is null limit ${limits.groupsMax}) existing
    ) < ${limits.groupsMax}
    on conflict do nothing`.execute(tx)
  return numAffectedRows === 1n
}

const group = ['group_id as groupId', 'key', 'display_name as displayName', 'updated_at as updatedAt'] as const

/** Locks a group of a source until the transaction ends. Returns undefined if the source has none with this ID. */
export function lockGroupOfSource(tx: Transaction, groupId: string, managedBy: string) {
  return tx
    .selectFrom('user_group')
    .select([...group, 'created_at as createdAt'])
    .where('group_id', '=', groupId)
    .where('managed_by', '=', managedBy)
    .where('deleted_at', 'is', null)
    .forNoKeyUpdate()
    .executeTakeFirst()
}

/** Locks groups of a source in their order until the transaction ends. */
export function lockGroupsOfSource(tx: Transaction, groupIds: string[], managedBy: string) {
  return tx
    .selectFrom('user_group')
    .select([...group, 'protected'])
    .where('group_id', 'in', groupIds)
    .where('managed_by', '=', managedBy)
    .where('deleted_at', 'is', null)
    .orderBy('group_id')
    .forNoKeyUpdate()
    .execute()
}

/**
 * Lets up to `batch` memberships of a source be those of operators, and the groups too once none is left. Returns the
 * number of memberships.
 */
export async function releaseGroups(tx: Transaction, managedBy: string, batch: number): Promise<number> {
  // As everything that changes members, so that no identity is deleted meanwhile.
  const groups = tx.selectFrom('user_group').select('group_id').where('managed_by', '=', managedBy)
  await groups.orderBy('group_id').forNoKeyUpdate().execute()
  const { rows } = await sql<{ count: number }>`
    with released as (
      delete from group_member where (identity_id, group_id, source) in (
        select identity_id, group_id, source from group_member where source = ${managedBy} limit ${batch}
      )
      returning identity_id, group_id, added_at
    ), kept as (
      insert into group_member (identity_id, group_id, source, added_at)
      select identity_id, group_id, 'manual', added_at from released
      on conflict do nothing
    )
    select count(*)::integer as count from released`.execute(tx)
  const count = rows[0]?.count ?? 0
  if (count < batch)
    await sql`
      update user_group set managed_by = null,
        protected = protected or exists (select from app_claim_group where group_key = user_group.key)
      where managed_by = ${managedBy}`.execute(tx)
  return count
}
