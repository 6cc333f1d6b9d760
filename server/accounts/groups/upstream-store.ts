import { sql } from 'kysely'
import { limits } from '@countersign/protocol/formats/limits'
import type { IdentityId, OrganizationId } from '@countersign/protocol/ids'
import type { Database, Transaction } from '#platform/database/database.ts'

/** Lists the groups of an organization, by key. */
export function findGroupsOfOrganization(tx: Transaction, organizationId: OrganizationId) {
  return tx
    .selectFrom('user_group')
    .select(['group_id as groupId', 'key'])
    .where('organization_id', '=', organizationId)
    .where('deleted_at', 'is', null)
    .orderBy('key')
    .execute()
}

type NewGroup = { groupId: string; key: string; displayName: string; organizationId: OrganizationId }

/**
 * Inserts a group of an organization, unless there are as many groups as there can be, in all or of organizations.
 * Returns false then.
 */
export async function insertGroupOfOrganization(
  tx: Transaction,
  { groupId, key, displayName, organizationId }: NewGroup,
  now: Date,
): Promise<boolean> {
  const { groupsMax, groupsOfOrganizationsMax } = limits
  const { numAffectedRows } = await sql`
    insert into user_group (group_id, key, display_name, organization_id, created_at, updated_at)
    select ${groupId}::uuid, ${key}, ${displayName}, ${organizationId}::uuid, ${now}::timestamptz, ${now}::timestamptz
    where (
      select count(*) from (select from user_group where deleted_at is null limit ${groupsMax}) existing
    ) < ${groupsMax} and (
      select count(*) from (
        select from user_group
        where deleted_at is null and organization_id is not null limit ${groupsOfOrganizationsMax}
      ) existing
    ) < ${groupsOfOrganizationsMax}
    on conflict do nothing`.execute(tx)
  return numAffectedRows === 1n
}

/** Marks the groups of an organization as deleted, in the order in which groups are locked. */
export async function markGroupsOfOrganizationDeleted(
  tx: Transaction,
  organizationId: OrganizationId,
  now: Date,
): Promise<{ groupId: string; key: string }[]> {
  const locked = await tx
    .selectFrom('user_group')
    .select('group_id as groupId')
    .where('organization_id', '=', organizationId)
    .where('deleted_at', 'is', null)
    .orderBy('group_id')
    .forNoKeyUpdate()
    .execute()
  if (locked.length === 0) return []
  return tx
    .updateTable('user_group')
    .set({ deleted_at: now })
    .where(
      'group_id',
      'in',
      locked.map(({ groupId }) => groupId),
    )
    .returning(['group_id as groupId', 'key'])
    .execute()
}

/** Lists the groups that a source has made an identity a member of. */
export async function listGroupIdsOf(tx: Transaction, identityId: IdentityId, source: string): Promise<string[]> {
  const rows = await tx
    .selectFrom('group_member')
    .select('group_id as groupId')
    .where('identity_id', '=', identityId)
    .where('source', '=', source)
    .execute()
  return rows.map(({ groupId }) => groupId)
}

/** Locks groups in their order until the transaction ends. Returns those that exist. */
export function lockGroups(tx: Transaction, groupIds: string[]) {
  return tx
    .selectFrom('user_group')
    .select(['group_id as groupId', 'key', 'organization_id as organizationId'])
    .where('group_id', 'in', groupIds)
    .where('deleted_at', 'is', null)
    .orderBy('group_id')
    .forNoKeyUpdate()
    .execute()
}

type Named = { identityId: IdentityId; source: string }

/** Counts the groups of an identity that other sources give, apart from some groups. */
export async function countOtherGroups(
  tx: Transaction,
  { identityId, source, groupIds }: Named & { groupIds: string[] },
): Promise<number> {
  const { count } = await tx
    .selectFrom('group_member')
    .innerJoin('user_group', 'user_group.group_id', 'group_member.group_id')
    .select(({ fn }) => fn.count<string>('group_member.group_id').distinct().as('count'))
    .where('identity_id', '=', identityId)
    .where('source', '<>', source)
    .where('deleted_at', 'is', null)
    .where(sql<boolean>`group_member.group_id <> all (${groupIds}::uuid[])`)
    .executeTakeFirstOrThrow()
  return Number(count)
}

type Renewed = Named & { renewed: { groupId: string; ruleIds: string[] }[]; expiresAt: Date }

/** Makes an identity a member of groups by a source, or renews what it is. */
export async function upsertMemberships(
  tx: Transaction,
  { identityId, source, renewed, expiresAt }: Renewed,
  now: Date,
): Promise<void> {
  await tx
    .insertInto('group_member')
    .values(
      renewed.map(({ groupId, ruleIds }) => ({
        identity_id: identityId,
        group_id: groupId,
        source,
        added_at: now,
        expires_at: expiresAt,
        rule_ids: ruleIds,
      })),
    )
    .onConflict((conflict) =>
      conflict
        .columns(['identity_id', 'group_id', 'source'])
        .doUpdateSet(({ ref }) => ({ expires_at: expiresAt, rule_ids: ref('excluded.rule_ids') })),
    )
    .execute()
}

/** Ends what a source has made an identity a member of. */
export async function deleteMemberships(
  tx: Transaction,
  { identityId, source, groupIds }: Named & { groupIds: string[] },
): Promise<void> {
  await tx
    .deleteFrom('group_member')
    .where('identity_id', '=', identityId)
    .where('source', '=', source)
    .where('group_id', 'in', groupIds)
    .execute()
}

type Membership = { identityId: IdentityId; groupId: string; source: string }

/** Lists up to `batch` memberships that have ended. */
export function listExpired(db: Database, now: Date, batch: number): Promise<Membership[]> {
  return db
    .selectFrom('group_member')
    .select(['identity_id as identityId', 'group_id as groupId', 'source'])
    .where('expires_at', '<=', now)
    .limit(batch)
    .execute()
}

/** Lists the memberships of identities in the groups of an organization. */
export function listMembershipsIn(
  tx: Transaction,
  organizationId: OrganizationId,
  identityIds: IdentityId[],
): Promise<Membership[]> {
  return tx
    .selectFrom('group_member')
    .innerJoin('user_group', 'user_group.group_id', 'group_member.group_id')
    .select(['identity_id as identityId', 'group_member.group_id as groupId', 'source'])
    .where('identity_id', 'in', identityIds)
    .where('organization_id', '=', organizationId)
    .execute()
}

/** Deletes memberships: those that have ended by `endedBy`, or all. Returns the members. */
export async function deleteListed(
  tx: Transaction,
  memberships: Membership[],
  endedBy?: Date,
): Promise<Omit<Membership, 'source'>[]> {
  const identityIds = memberships.map(({ identityId }) => identityId)
  const groupIds = memberships.map(({ groupId }) => groupId)
  const sources = memberships.map(({ source }) => source)
  const ended = endedBy ? sql`and expires_at <= ${endedBy}` : sql``
  const { rows } = await sql<Omit<Membership, 'source'>>`
    delete from group_member member
    using unnest(${identityIds}::uuid[], ${groupIds}::uuid[], ${sources}::text[])
      as listed (identity_id, group_id, source)
    where member.identity_id = any(${identityIds}::uuid[]) and member.identity_id = listed.identity_id
      and member.group_id = listed.group_id and member.source = listed.source ${ended}
    returning member.identity_id as "identityId", member.group_id as "groupId"`.execute(tx)
  return rows
}
