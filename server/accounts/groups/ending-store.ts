import { sql } from 'kysely'
import type { IdentityId, OrganizationId } from '@countersign/protocol/ids'
import type { Transaction } from '#platform/database/database.ts'
import { lockUnlocked } from '#platform/database/distributed/engine.ts'

/** A group in which memberships end, and those of which source. */
export type GroupEnding = { groupId: string; source: string }

/** Lists the groups of an organization in the order in which they are locked. */
export async function listGroupIds(tx: Transaction, organizationId: OrganizationId): Promise<string[]> {
  const rows = await tx
    .selectFrom('user_group')
    .select('group_id as groupId')
    .where('organization_id', '=', organizationId)
    .where('deleted_at', 'is', null)
    .orderBy('group_id')
    .execute()
  return rows.map(({ groupId }) => groupId)
}

/** Notes where memberships of a source end. Where they do already, that starts from the beginning. */
export async function insertEndings(tx: Transaction, groupIds: string[], source: string): Promise<void> {
  await tx
    .insertInto('group_ending')
    .values(groupIds.map((groupId) => ({ group_id: groupId, source })))
    .onConflict((conflict) => conflict.columns(['group_id', 'source']).doUpdateSet({ last_id: null }))
    .execute()
}

/** Finds an ending that no other process is working on. */
export async function findEnding(tx: Transaction): Promise<GroupEnding | undefined> {
  const { rows } = await sql<GroupEnding>`
    select group_id as "groupId", source from group_ending limit ${sql.lit(1)} ${lockUnlocked(tx)}`.execute(tx)
  return rows[0]
}

/** Locks an ending. Returns the last identity whose memberships have ended, or undefined if all have. */
export function lockEnding(tx: Transaction, { groupId, source }: GroupEnding) {
  return tx
    .updateTable('group_ending')
    .set({ source })
    .where('group_id', '=', groupId)
    .where('source', '=', source)
    .returning('last_id as lastId')
    .executeTakeFirst()
}

/** Notes the last identity whose memberships have ended, or that all have. */
export async function updateEnding(tx: Transaction, { groupId, source }: GroupEnding, lastId?: string): Promise<void> {
  if (lastId === undefined)
    await tx.deleteFrom('group_ending').where('group_id', '=', groupId).where('source', '=', source).execute()
  else
    await tx
      .updateTable('group_ending')
      .set({ last_id: lastId })
      .where('group_id', '=', groupId)
      .where('source', '=', source)
      .execute()
}

/** Tells if memberships of a source still end in one of these groups. */
export async function isEnding(tx: Transaction, groupIds: string[], source: string): Promise<boolean> {
  const row = await tx
    .selectFrom('group_ending')
    .select('group_id')
    .where('group_id', 'in', groupIds)
    .where('source', '=', source)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Lists up to `count` members of a group in the order of their IDs, those after one of them. */
export async function listMemberIds(
  tx: Transaction,
  groupId: string,
  { after, count }: { after: string | null; count: number },
): Promise<IdentityId[]> {
  const { rows } = await sql<{ identityId: IdentityId }>`
    select identity_id as "identityId" from group_member_by_group
    where group_id = ${groupId} ${after === null ? sql`` : sql`and identity_id > ${after}`}
    order by identity_id limit ${count}`.execute(tx)
  return rows.map(({ identityId }) => identityId)
}

/** Lists the current rules of an SSO connection. */
export async function listRuleIds(tx: Transaction, connectionId: string): Promise<string[]> {
  const rows = await tx
    .selectFrom('sso_group_rule')
    .select('rule_id as ruleId')
    .where('connection_id', '=', connectionId)
    .execute()
  return rows.map(({ ruleId }) => ruleId)
}

type Expiring = { groupId: string; identityIds: IdentityId[]; given?: { source: string; ruleIds: string[] } }

/**
 * Ends memberships in a group now, or earlier if they have ended: all, or those of a source that none of these rules
 * gives. A condition on their end would let the database read all memberships that have one.
 */
export async function expireMemberships(
  tx: Transaction,
  { groupId, identityIds, given }: Expiring,
  now: Date,
): Promise<void> {
  const which = given
    ? sql`source = ${given.source} and not rule_ids && ${given.ruleIds}::uuid[]`
    : sql`source like 'upstream:%'`
  await sql`
    update group_member set expires_at = least(expires_at, ${now}::timestamptz)
    where identity_id = any(${identityIds}::uuid[]) and group_id = ${groupId} and ${which}`.execute(tx)
}
