import type { MemberSource } from '@countersign/protocol/clients/webhook-events'
import type { GroupSequences } from '#accounts/app-events/event.ts'
import { limits } from '@countersign/protocol/formats/limits'
import type { IdentityId } from '@countersign/protocol/ids'
import { sql } from 'kysely'
import type { Database, Transaction } from '#platform/database/database.ts'
import { isDistributed } from '#platform/database/distributed/engine.ts'
import { readFirst } from '#platform/database/distributed/keys.ts'

const group = [
  'group_id as groupId',
  'key',
  'display_name as displayName',
  'description',
  'protected',
  'organization_id as organizationId',
  'managed_by as managedBy',
  'member_count as memberCount',
  'created_at as createdAt',
  'updated_at as updatedAt',
] as const

export type GroupRow = NonNullable<Awaited<ReturnType<typeof findGroup>>>

function groups(db: Database | Transaction) {
  return db.selectFrom('user_group').select(group).where('deleted_at', 'is', null)
}

type Page = { key: string | undefined; after: string | undefined; count: number }

/** Lists `count` groups by key, those after a key, or the one with a key. */
export function listGroups(db: Database, { key, after, count }: Page) {
  return groups(db)
    .$if(key !== undefined, (some) => some.where('key', '=', key ?? ''))
    .$if(after !== undefined, (some) => some.where('key', '>', after ?? ''))
    .orderBy('key')
    .limit(sql.lit(count))
    .execute()
}

export function findGroup(db: Database | Transaction, groupId: string) {
  return groups(db).where('group_id', '=', groupId).executeTakeFirst()
}

/** Finds groups by any number of keys. Returns them by key. */
export function findGroupsByKey(db: Database | Transaction, keys: string[]) {
  return groups(db)
    .where(sql<boolean>`key = any(${keys}::text[])`)
    .orderBy('key')
    .execute()
}

export function findGroupsById(db: Database | Transaction, groupIds: string[]) {
  return groups(db).where('group_id', 'in', groupIds).execute()
}

/** Locks a group until the transaction ends. Returns undefined if it does not exist. */
export function lockGroup(tx: Transaction, groupId: string) {
  return groups(tx).where('group_id', '=', groupId).forNoKeyUpdate().executeTakeFirst()
}

/**
 * Checks whether mapped claims of an app give a meaning to the key of a group. No transaction changes them before this
 * one ends: one that names the key later finds the group.
 */
export async function isNamedByClaims(tx: Transaction, key: string): Promise<boolean> {
  await sql`lock table app_claim_group in share row exclusive mode`.execute(tx)
  const named = tx.selectFrom('app_claim_group').select('client_id').where('group_key', '=', key)
  // The order keeps the database to the index.
  return (await named.orderBy('client_id').limit(1).executeTakeFirst()) !== undefined
}

type NewGroup = { groupId: string; key: string; displayName: string; description: string | null; protected: boolean }

/** Inserts a group, unless its key is in use or there are too many. Returns false then. */
export async function insertGroup(tx: Transaction, inserted: NewGroup, now: Date): Promise<boolean> {
  const { groupId, key, displayName, description, protected: isProtected } = inserted
  const { numAffectedRows } = await sql`
    insert into user_group (group_id, key, display_name, description, protected, created_at, updated_at)
    select ${groupId}::uuid, ${key}, ${displayName}, ${description}, ${isProtected},
      ${now}::timestamptz, ${now}::timestamptz
    where (
      select count(*) from (select from user_group where deleted_at is null limit ${limits.groupsMax}) existing
    ) < ${limits.groupsMax}
    on conflict do nothing`.execute(tx)
  return numAffectedRows === 1n
}

export type GroupChange = {
  displayName?: string | undefined
  description?: string | null | undefined
  protected?: boolean | undefined
}

/** Changes a group that the caller has locked. */
export async function updateGroup(
  tx: Transaction,
  groupId: string,
  { displayName, description, protected: isProtected }: GroupChange,
  now: Date,
): Promise<void> {
  await tx
    .updateTable('user_group')
    .set({ display_name: displayName, description, protected: isProtected, updated_at: now })
    .where('group_id', '=', groupId)
    .execute()
}

/** Protects those of some groups that are not. Returns these. */
export async function protectGroups(tx: Transaction, groupIds: string[], now: Date) {
  if (groupIds.length === 0) return []
  const open = await groups(tx)
    .where('group_id', 'in', groupIds)
    .where('protected', '=', false)
    .orderBy('group_id')
    .forNoKeyUpdate()
    .execute()
  if (open.length === 0) return []
  return tx
    .updateTable('user_group')
    .set({ protected: true, updated_at: now })
    .where(
      'group_id',
      'in',
      open.map(({ groupId }) => groupId),
    )
    .returning(['group_id as groupId', 'key'])
    .execute()
}

/** Counts a change of some locked groups. Returns their sequences, which have the order of the changes. */
export async function advanceGroups(tx: Transaction, groupIds: string[]): Promise<GroupSequences> {
  const rows = await tx
    .updateTable('user_group')
    .set(({ eb }) => ({ event_sequence: eb('event_sequence', '+', 1) }))
    .where('group_id', 'in', groupIds)
    .returning(['group_id as groupId', 'event_sequence as sequence'])
    .execute()
  return new Map(rows.map(({ groupId, sequence }) => [groupId, sequence]))
}

type MemberChange = { type: 'group.member.added' | 'group.member.removed'; groupId: string }

/** Counts who joined and left some locked groups, as one change of each. Returns their sequences. */
export async function countMembers(tx: Transaction, changes: MemberChange[]): Promise<GroupSequences> {
  const groupIds = changes.map(({ groupId }) => groupId)
  const differences = changes.map(({ type }) => (type === 'group.member.added' ? 1 : -1))
  const { rows } = await sql<{ groupId: string; sequence: number }>`
    update user_group set member_count = member_count + changed.difference, event_sequence = event_sequence + 1
    from (
      select group_id, sum(difference)::integer as difference
      from unnest(${groupIds}::uuid[], ${differences}::integer[]) as listed (group_id, difference)
      group by group_id
    ) changed
    where user_group.group_id = changed.group_id
    returning user_group.group_id as "groupId", event_sequence as sequence`.execute(tx)
  return new Map(rows.map(({ groupId, sequence }) => [groupId, sequence]))
}

/** Marks a group as deleted, which the caller has locked. From now on nothing counts it. */
export async function markDeleted(tx: Transaction, groupId: string, now: Date): Promise<void> {
  await tx.updateTable('user_group').set({ deleted_at: now }).where('group_id', '=', groupId).execute()
}

type FormerMember = { identityId: IdentityId; groupId: string; key: string; source: MemberSource }

/** Maximum number of deleted groups whose members are deleted at once: each is locked. */
const deletedGroupsMax = 100

/**
 * Deletes up to `batch` members of deleted groups. The groups are locked first and in their order, as by everything
 * that changes members.
 */
export async function deleteMembersOfDeleted(tx: Transaction, batch: number): Promise<FormerMember[]> {
  const deleted = await tx
    .selectFrom('user_group')
    .select('group_id as groupId')
    .where('deleted_at', 'is not', null)
    .orderBy('group_id')
    .limit(sql.lit(deletedGroupsMax))
    .forNoKeyUpdate()
    .execute()
  if (deleted.length === 0) return []
  const groupIds = deleted.map(({ groupId }) => groupId)
  const members = isDistributed(tx)
    ? sql`group_member_by_group member where group_id = any(${groupIds}::uuid[])`
    : sql`unnest(${groupIds}::uuid[]) ended (group_id) cross join lateral (
          select group_id, identity_id from group_member_by_group
          where group_member_by_group.group_id = ended.group_id
          limit ${batch}
        ) member`
  const { rows } = await sql<FormerMember>`
    with gone as (
      delete from group_member_by_group where (group_id, identity_id) in (
        select member.group_id, member.identity_id from ${members}
        limit ${batch}
      )
      returning group_id, identity_id
    ), ended as (
      delete from group_member using gone
      where group_member.identity_id = gone.identity_id and group_member.group_id = gone.group_id
      returning group_member.identity_id, group_member.group_id, source
    )
    select identity_id as "identityId", group_id as "groupId", key,
      split_part(min(source collate "C"), ':', 1) as source
    from ended join user_group using (group_id)
    group by identity_id, group_id, key`.execute(tx)
  return rows
}

/** Deletes the deleted groups that have no members. Returns their number. */
export async function pruneDeletedGroups(tx: Transaction): Promise<number> {
  const listed = sql`
    select distinct group_id from group_member_by_group join user_group using (group_id) where deleted_at is not null`
  const { rows } = await sql`
    delete from user_group where deleted_at is not null and not exists (
      select from ${readFirst(tx, 'group_member_by_group', listed)} member where member.group_id = user_group.group_id
    ) returning group_id`.execute(tx)
  return rows.length
}
