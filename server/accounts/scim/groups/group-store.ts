import { type RawBuilder, sql } from 'kysely'
import type { IdentityId } from '@countersign/protocol/ids'
import type { Database, Transaction } from '#platform/database/database.ts'
import type { StoredGroup } from './group.ts'

const fields = sql`
  g.group_id as "groupId", key, display_name as "displayName", external_id as "externalId",
  own.created_at as "createdAt", own.updated_at as "updatedAt", member_count + (
    select count(*)::integer from invited_identity where group_ids && array[g.group_id]
  ) as "memberCount"`

/** Groups of a token that operators have not deleted. */
const groups = (tokenId: string) => sql`
  from scim_group own join user_group g on g.group_id = own.group_id
  where own.token_id = ${tokenId} and g.deleted_at is null`

export async function findGroup(db: Database, tokenId: string, groupId: string): Promise<StoredGroup | undefined> {
  const { rows } = await sql<StoredGroup>`
    select ${fields} ${groups(tokenId)} and own.group_id = ${groupId}`.execute(db)
  return rows[0]
}

export type Listing = {
  tokenId: string
  condition: RawBuilder<boolean> | undefined
  order: RawBuilder<unknown>
  isDescending: boolean
  skipped: number
  count: number
}

export async function countGroups(db: Database, { tokenId, condition }: Listing): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count ${groups(tokenId)} and ${condition ?? sql`true`}`.execute(db)
  return rows[0]?.count ?? 0
}

export async function listGroups(db: Database, listing: Listing): Promise<StoredGroup[]> {
  const { tokenId, condition, order, isDescending, skipped, count } = listing
  const direction = isDescending ? sql`desc` : sql`asc`
  const { rows } = await sql<StoredGroup>`
    select ${fields} ${groups(tokenId)} and ${condition ?? sql`true`}
    order by ${order} ${direction}, g.group_id ${direction} limit ${count} offset ${skipped}`.execute(db)
  return rows
}

export type MemberOfGroup = { groupId: string; identityId: IdentityId }

/** Lists up to `count` members of groups by a token, and invited users who become members. */
export async function listMembers(
  db: Database,
  { tokenId, groupIds, count }: { tokenId: string; groupIds: string[]; count: number },
): Promise<MemberOfGroup[]> {
  if (groupIds.length === 0) return []
  const source = `scim:${tokenId}`
  const { rows } = await sql<MemberOfGroup>`
    select group_id as "groupId", identity_id as "identityId" from (
      select group_id, identity_id from group_member
      where source = ${source} and source <> 'manual' and group_id = any(${groupIds}::uuid[])
      union all
      select group_id, identity_id from unnest(${groupIds}::uuid[]) as listed (group_id) join invited_identity
        on group_ids && array[listed.group_id] and managed_by = ${source}
    ) member
    order by group_id, identity_id limit ${count}`.execute(db)
  return rows
}

/** Returns those of some identities that are users of a token. */
export async function listUsersAmong(tx: Transaction, tokenId: string, ids: string[]): Promise<IdentityId[]> {
  const { rows } = await sql<{ identityId: IdentityId }>`
    select identity_id as "identityId" from scim_user
    where token_id = ${tokenId} and identity_id = any(${ids}::uuid[])`.execute(tx)
  return rows.map(({ identityId }) => identityId)
}

type NewGroup = { groupId: string; tokenId: string; externalId: string | null }

export async function insertGroup(
  tx: Transaction,
  { groupId, tokenId, externalId }: NewGroup,
  now: Date,
): Promise<void> {
  await tx
    .insertInto('scim_group')
    .values({ group_id: groupId, token_id: tokenId, external_id: externalId, created_at: now, updated_at: now })
    .execute()
}

export async function updateGroup(
  tx: Transaction,
  { groupId, externalId }: Pick<NewGroup, 'groupId' | 'externalId'>,
  now: Date,
): Promise<void> {
  await tx
    .updateTable('scim_group')
    .set({ external_id: externalId, updated_at: now })
    .where('group_id', '=', groupId)
    .execute()
}

export async function deleteGroup(tx: Transaction, groupId: string): Promise<void> {
  await tx.deleteFrom('scim_group').where('group_id', '=', groupId).execute()
}

/** Deletes what is stored of the groups of a token. The groups stay. */
export async function deleteGroupsOf(tx: Transaction, tokenId: string): Promise<void> {
  await tx.deleteFrom('scim_group').where('token_id', '=', tokenId).execute()
}
