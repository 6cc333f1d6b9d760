import { limits } from '@countersign/protocol/formats/limits'
import type { IdentityId } from '@countersign/protocol/ids'
import { sql } from 'kysely'
import type { Database, Transaction } from '#platform/database/database.ts'

/** Lists `count` members of a group by ID, those after an identity. */
export function listMembers(
  db: Database,
  groupId: string,
  { after, count }: { after: IdentityId | undefined; count: number },
) {
  return db
    .selectFrom('group_member_by_group')
    .innerJoin('group_member', (join) =>
      join
        .onRef('group_member.identity_id', '=', 'group_member_by_group.identity_id')
        .onRef('group_member.group_id', '=', 'group_member_by_group.group_id'),
    )
    .innerJoin('identity', 'identity.identity_id', 'group_member_by_group.identity_id')
    .select([
      'group_member_by_group.identity_id as identityId',
      'handle',
      'display_name as displayName',
      'source',
      'added_at as addedAt',
    ])
    .where('group_member_by_group.group_id', '=', groupId)
    .$if(after !== undefined, (some) => some.where('group_member_by_group.identity_id', '>', after ?? null))
    .orderBy('group_member_by_group.identity_id')
    .limit(count)
    .execute()
}

/** Adds identities to a group. Returns those that were no members. */
export async function insertMembers(
  tx: Transaction,
  groupId: string,
  identityIds: IdentityId[],
  now: Date,
): Promise<IdentityId[]> {
  if (identityIds.length === 0) return []
  const rows = await tx
    .insertInto('group_member')
    .values(
      identityIds.map((identityId) => ({
        identity_id: identityId,
        group_id: groupId,
        source: 'manual' as const,
        added_at: now,
      })),
    )
    .onConflict((conflict) => conflict.doNothing())
    .returning('identity_id as identityId')
    .execute()
  const added = rows.map(({ identityId }) => identityId)
  if (added.length === 0) return added
  await tx
    .insertInto('group_member_by_group')
    .values(added.map((identityId) => ({ group_id: groupId, identity_id: identityId })))
    .execute()
  return added
}

/** Removes identities from a group. Returns those that were members. */
export async function deleteMembers(
  tx: Transaction,
  groupId: string,
  identityIds: IdentityId[],
): Promise<IdentityId[]> {
  if (identityIds.length === 0) return []
  await tx
    .deleteFrom('group_member_by_group')
    .where('group_id', '=', groupId)
    .where('identity_id', 'in', identityIds)
    .execute()
  const rows = await tx
    .deleteFrom('group_member')
    .where('identity_id', 'in', identityIds)
    .where('group_id', '=', groupId)
    .returning('identity_id as identityId')
    .execute()
  return rows.map(({ identityId }) => identityId)
}

/** Adds to the member count of a group, and returns the new one. */
export async function addToMemberCount(tx: Transaction, groupId: string, difference: number): Promise<number> {
  const { count } = await tx
    .updateTable('user_group')
    .set((eb) => ({ member_count: eb('member_count', '+', difference) }))
    .where('group_id', '=', groupId)
    .returning('member_count as count')
    .executeTakeFirstOrThrow()
  return count
}

/** Returns one of the identities that are in too many groups. */
export async function findInTooManyGroups(tx: Transaction, identityIds: IdentityId[]): Promise<IdentityId | undefined> {
  if (identityIds.length === 0) return undefined
  const row = await tx
    .selectFrom('group_member')
    .innerJoin('user_group', 'user_group.group_id', 'group_member.group_id')
    .select('identity_id as identityId')
    .where('identity_id', 'in', identityIds)
    .where('deleted_at', 'is', null)
    .groupBy('identity_id')
    .having(({ fn }) => fn.countAll<number>(), '>', limits.groupsPerIdentityMax)
    .limit(1)
    .executeTakeFirst()
  return row?.identityId
}

/** Lists the groups of an identity by key. */
export function listGroupsOf(db: Database | Transaction, identityId: IdentityId) {
  return db
    .selectFrom('group_member')
    .innerJoin('user_group', 'user_group.group_id', 'group_member.group_id')
    .select(['user_group.group_id as groupId', 'key', 'display_name as displayName', 'added_at as addedAt'])
    .where('identity_id', '=', identityId)
    .where('deleted_at', 'is', null)
    .orderBy('key')
    .execute()
}

/** Tells if an identity is in one of the groups. */
export async function isInAnyGroup(
  db: Database | Transaction,
  identityId: IdentityId,
  groupIds: string[],
): Promise<boolean> {
  if (groupIds.length === 0) return false
  const row = await db
    .selectFrom('group_member')
    .innerJoin('user_group', 'user_group.group_id', 'group_member.group_id')
    .select('identity_id')
    .where('identity_id', '=', identityId)
    .where('group_member.group_id', 'in', groupIds)
    .where('deleted_at', 'is', null)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/**
 * Removes identities, which the caller has locked, from all groups. The groups are locked first and in their order, as
 * by everything that changes members.
 */
export async function deleteMemberships(tx: Transaction, identityIds: IdentityId[]): Promise<void> {
  const memberships = tx.selectFrom('group_member').select('group_id').where('identity_id', 'in', identityIds)
  await tx
    .selectFrom('user_group')
    .select('group_id')
    .where('group_id', 'in', memberships)
    .orderBy('group_id')
    .forNoKeyUpdate()
    .execute()
  await sql`
    with gone as (
      delete from group_member where identity_id in (${sql.join(identityIds)}) returning group_id, identity_id
    ), listed as (
      delete from group_member_by_group using gone
      where group_member_by_group.group_id = gone.group_id and group_member_by_group.identity_id = gone.identity_id
    )
    update user_group set member_count = member_count - lost.members
    from (select group_id, count(*)::integer as members from gone group by group_id) lost
    where user_group.group_id = lost.group_id`.execute(tx)
}
