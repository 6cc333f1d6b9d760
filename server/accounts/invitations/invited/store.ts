import { limits } from '@countersign/protocol/formats/limits'
import type { IdentityId } from '@countersign/protocol/ids'
import { sql } from 'kysely'
import type { Database, Transaction } from '#platform/database/database.ts'

const identity = [
  'invited_identity.identity_id as identityId',
  'invited_identity.handle',
  'invited_identity.display_name as displayName',
  'invited_identity.email',
  'invited_identity.group_ids as groupIds',
  'invited_identity.managed_by as managedBy',
  'invited_identity.active',
  'invited_identity.created_at as createdAt',
] as const

export type InvitedRow = NonNullable<Awaited<ReturnType<typeof findInvited>>>

/** Inserts an invited identity, unless there are too many. Returns false then. */
export async function insertInvited(tx: Transaction, row: InvitedRow): Promise<boolean> {
  const { numAffectedRows } = await sql`
    insert into invited_identity (identity_id, handle, display_name, email, group_ids, managed_by, active, created_at)
    select ${row.identityId}::uuid, ${row.handle}, ${row.displayName}, ${row.email}, ${row.groupIds}::uuid[],
      ${row.managedBy}, ${row.active}, ${row.createdAt}::timestamptz
    where (
      select count(*) from (select from invited_identity limit ${limits.invitedIdentitiesMax}) invited
    ) < ${limits.invitedIdentitiesMax}`.execute(tx)
  return numAffectedRows === 1n
}

export function findInvited(db: Database, identityId: IdentityId) {
  return db.selectFrom('invited_identity').select(identity).where('identity_id', '=', identityId).executeTakeFirst()
}

/** Returns the groups that invited identities join, by identity. */
export async function listGroupIds(db: Database, identityIds: IdentityId[]): Promise<Map<string, string[]>> {
  if (identityIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('invited_identity')
    .select(['identity_id as identityId', 'group_ids as groupIds'])
    .where(sql<boolean>`identity_id = any(${identityIds}::uuid[])`)
    .execute()
  return new Map(rows.map(({ identityId, groupIds }) => [identityId, groupIds]))
}

/** Locks an invited identity until the transaction ends. Returns undefined if it does not exist. */
export function lockInvited(tx: Transaction, identityId: IdentityId) {
  return tx
    .selectFrom('invited_identity')
    .select(identity)
    .where('identity_id', '=', identityId)
    .forUpdate()
    .executeTakeFirst()
}

type Change = Pick<InvitedRow, 'identityId' | 'handle' | 'displayName' | 'email' | 'active'>

export async function updateInvited(tx: Transaction, row: Change): Promise<void> {
  await tx
    .updateTable('invited_identity')
    .set({ handle: row.handle, display_name: row.displayName, email: row.email, active: row.active })
    .where('identity_id', '=', row.identityId)
    .execute()
}

type Membership = { groupId: string; identityIds: IdentityId[] }

/** Adds a group to those that invited identities join. Returns the identities that had it not. */
export async function addGroup(tx: Transaction, { groupId, identityIds }: Membership): Promise<IdentityId[]> {
  const { rows } = await sql<{ identityId: IdentityId }>`
    update invited_identity set group_ids = array_append(group_ids, ${groupId}::uuid)
    where identity_id = any(${identityIds}::uuid[]) and not group_ids @> array[${groupId}::uuid]
    returning identity_id as "identityId"`.execute(tx)
  return rows.map(({ identityId }) => identityId)
}

/** Removes a group from those that invited identities join. Returns the identities that had it. */
export async function removeGroup(tx: Transaction, { groupId, identityIds }: Membership): Promise<IdentityId[]> {
  const { rows } = await sql<{ identityId: IdentityId }>`
    update invited_identity set group_ids = array_remove(group_ids, ${groupId}::uuid)
    where identity_id = any(${identityIds}::uuid[]) and group_ids @> array[${groupId}::uuid]
    returning identity_id as "identityId"`.execute(tx)
  return rows.map(({ identityId }) => identityId)
}

/** Lets invited identities of a source be those of operators. Who was deactivated stays without an invitation. */
export async function releaseInvited(tx: Transaction, identityIds: IdentityId[], managedBy: string): Promise<void> {
  if (identityIds.length === 0) return
  await tx
    .updateTable('invited_identity')
    .set({ managed_by: null, active: true })
    .where('identity_id', 'in', identityIds)
    .where('managed_by', '=', managedBy)
    .execute()
}

/** Finds the invited identity of the token of an invitation that can still be used. */
export function findInvitedOfToken(db: Database, tokenSha256: Uint8Array, now: Date) {
  return db
    .selectFrom('invitation')
    .innerJoin('invited_identity', 'invited_identity.identity_id', 'invitation.identity_id')
    .select(identity)
    .where('token_sha256', '=', tokenSha256)
    .where('expires_at', '>', now)
    .whereRef('use_count', '<', 'max_uses')
    .executeTakeFirst()
}

/** Deletes an invited identity: it was accepted, or an operator deletes it. Returns undefined if it does not exist. */
export function deleteInvited(tx: Transaction, identityId: IdentityId) {
  return tx.deleteFrom('invited_identity').where('identity_id', '=', identityId).returning(identity).executeTakeFirst()
}
