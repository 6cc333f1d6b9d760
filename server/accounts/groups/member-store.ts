import { limits } from '@countersign/protocol/formats/limits'
import type { IdentityId } from '@countersign/protocol/ids'
import { sql } from 'kysely'
import type { Database, Transaction } from '#platform/database/database.ts'
import { isDistributed, onOneServer } from '#platform/database/distributed/engine.ts'
import { findKeys } from '#platform/database/distributed/keys.ts'
import { sendAhead } from '#platform/database/pipeline.ts'

/** Lists `count` members of a group by ID, those after an identity, each with all of its sources. */
export async function listMembers(
  db: Database,
  groupId: string,
  { after, count }: { after: IdentityId | undefined; count: number },
) {
  const listed = db
    .selectFrom('group_member_by_group')
    .select('identity_id')
    .where('group_id', '=', groupId)
    .$if(after !== undefined, (rows) => rows.where('identity_id', '>', after ?? null))
    .orderBy('identity_id')
    .limit(count)
  const keys = await findKeys(db, listed)
  // One server would execute the query twice.
  const alsoOfMembers = isDistributed(db) ? sql`and group_member.identity_id = any(${keys})` : onOneServer
  const { rows } = await sql<MemberRow>`
    select identity_id as "identityId", handle, display_name as "displayName",
      array_agg(source order by source) as sources, min(added_at) as "addedAt"
    from identity join group_member using (identity_id)
    where identity.identity_id = any(${keys}) ${alsoOfMembers} and group_id = ${groupId}
    group by identity_id order by identity_id`.execute(db)
  return rows
}

type MemberRow = { identityId: IdentityId; handle: string; displayName: string; sources: string[]; addedAt: Date }

/** Members of a group by one source: `manual` for operators, or `scim:` and the ID of a SCIM token. */
type MembersOfSource = { groupId: string; source: string; identityIds: IdentityId[] }

/**
 * Makes identities members of a group by a source. Returns those that it had not made members, and those of them that
 * were no members at all.
 */
export async function insertMembers(
  tx: Transaction,
  { groupId, source, identityIds }: MembersOfSource,
  now: Date,
): Promise<{ added: IdentityId[]; joined: IdentityId[] }> {
  if (identityIds.length === 0) return { added: [], joined: [] }
  const rows = await tx
    .insertInto('group_member')
    .values(
      identityIds.map((identityId) => ({
        identity_id: identityId,
        group_id: groupId,
        source,
        added_at: now,
      })),
    )
    .onConflict((conflict) => conflict.doNothing())
    .returning('identity_id as identityId')
    .execute()
  const added = rows.map(({ identityId }) => identityId)
  const listed = await listByGroup(
    tx,
    added.map((identityId) => ({ groupId, identityId })),
  )
  return { added, joined: listed.map(({ identityId }) => identityId) }
}

type Member = { groupId: string; identityId: IdentityId }

/** Lists members by their groups. Returns those who were not listed yet. */
export async function listByGroup(tx: Transaction, members: Member[]): Promise<Member[]> {
  if (members.length === 0) return []
  return tx
    .insertInto('group_member_by_group')
    .values(members.map(({ groupId, identityId }) => ({ group_id: groupId, identity_id: identityId })))
    .onConflict((conflict) => conflict.doNothing())
    .returning(['group_id as groupId', 'identity_id as identityId'])
    .execute()
}

/** Takes members off the lists of their groups if no source names them any more. Returns these. */
export async function unlistByGroup(tx: Transaction, members: Member[]): Promise<Member[]> {
  if (members.length === 0) return []
  const [groupIds, identityIds] = [members.map(({ groupId }) => groupId), members.map((each) => each.identityId)]
  // One server would look up all identities for each of them.
  const alsoOfMembers = isDistributed(tx) ? sql`member.identity_id = any(${identityIds}::uuid[]) and` : onOneServer
  const { rows } = await sql<Member>`
    delete from group_member_by_group listed
    using unnest(${groupIds}::uuid[], ${identityIds}::uuid[]) as former (group_id, identity_id)
    where listed.identity_id = any(${identityIds}::uuid[])
      and listed.group_id = former.group_id and listed.identity_id = former.identity_id
      and not exists (
        select from group_member member
        where ${alsoOfMembers} member.identity_id = listed.identity_id and member.group_id = listed.group_id
      )
    returning listed.group_id as "groupId", listed.identity_id as "identityId"`.execute(tx)
  return rows
}

/**
 * Ends memberships that a source has given. Returns those identities that had one, and those of them that have no
 * membership at all any more.
 */
export async function deleteMembers(
  tx: Transaction,
  { groupId, source, identityIds }: MembersOfSource,
): Promise<{ removed: IdentityId[]; left: IdentityId[] }> {
  if (identityIds.length === 0) return { removed: [], left: [] }
  const rows = await tx
    .deleteFrom('group_member')
    .where('identity_id', 'in', identityIds)
    .where('group_id', '=', groupId)
    .where('source', '=', source)
    .returning('identity_id as identityId')
    .execute()
  const removed = rows.map(({ identityId }) => identityId)
  const unlisted = await unlistByGroup(
    tx,
    removed.map((identityId) => ({ groupId, identityId })),
  )
  return { removed, left: unlisted.map(({ identityId }) => identityId) }
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
    .having(({ fn }) => fn.count('group_member.group_id').distinct(), '>', limits.groupsPerIdentityMax)
    .limit(1)
    .executeTakeFirst()
  return row?.identityId
}

/** Lists the groups of an identity by key, each once. */
export function listGroupsOf(db: Database | Transaction, identityId: IdentityId) {
  return db
    .selectFrom('group_member')
    .innerJoin('user_group', 'user_group.group_id', 'group_member.group_id')
    .select(['user_group.group_id as groupId', 'key', 'display_name as displayName', 'managed_by as managedBy'])
    .select(({ fn }) => fn.min('added_at').as('addedAt'))
    .where('identity_id', '=', identityId)
    .where('deleted_at', 'is', null)
    .groupBy('user_group.group_id')
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
  // With rows of shards in the statement, Citus would lock the groups on one node alone: changes would deadlock.
  const keys = await findKeys(tx, memberships)
  const locked = await tx
    .selectFrom('user_group')
    .select('group_id as groupId')
    .where(sql<boolean>`group_id = any(${keys}::uuid[])`)
    .orderBy('group_id')
    .forNoKeyUpdate()
    .execute()
  if (locked.length === 0) return
  const groupIds = locked.map(({ groupId }) => groupId)
  sendAhead(
    tx,
    tx.deleteFrom('group_member_by_group').where('group_id', 'in', groupIds).where('identity_id', 'in', identityIds),
  )
  const gone = await tx
    .deleteFrom('group_member')
    .where('identity_id', 'in', identityIds)
    .returning(['group_id as groupId', 'identity_id as identityId'])
    .execute()
  // An identity can be a member by several sources.
  const lost = [...Map.groupBy(gone, ({ groupId }) => groupId)].map(([groupId, members]) => ({
    groupId,
    count: new Set(members.map(({ identityId }) => identityId)).size,
  }))
  await sql`
    update user_group set member_count = member_count - lost.count
    from unnest(${lost.map(({ groupId }) => groupId)}::uuid[], ${lost.map(({ count }) => count)}::integer[])
      as lost (group_id, count)
    where user_group.group_id = lost.group_id`.execute(tx)
}
