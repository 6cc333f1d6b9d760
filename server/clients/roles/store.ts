import type { ClientId, IdentityId } from '@countersign/protocol/ids'
import type { Database, Transaction } from '#platform/database/database.ts'

export type RoleRow = { key: string; displayName: string }
export type RoleGroup = { role: string; groupId: string; key: string }
export type RoleIdentity = { role: string; identityId: IdentityId }

/** Lists the roles of an app in their order. */
export function listRoles(db: Database | Transaction, clientId: ClientId): Promise<RoleRow[]> {
  return db
    .selectFrom('app_role')
    .select(['key', 'display_name as displayName'])
    .where('client_id', '=', clientId)
    .orderBy('position')
    .execute()
}

/** Lists the groups that have roles of an app, by key. Deleted ones are left out. */
export function listRoleGroups(db: Database | Transaction, clientId: ClientId): Promise<RoleGroup[]> {
  return db
    .selectFrom('app_role_group')
    .innerJoin('user_group', 'user_group.group_id', 'app_role_group.group_id')
    .select(['role_key as role', 'user_group.group_id as groupId', 'user_group.key'])
    .where('client_id', '=', clientId)
    .where('deleted_at', 'is', null)
    .orderBy('user_group.key')
    .execute()
}

/** Lists the identities that have roles of an app by themselves, by username. */
export function listRoleIdentities(db: Database | Transaction, clientId: ClientId) {
  return db
    .selectFrom('app_role_identity')
    .innerJoinLateral(
      ({ selectFrom }) =>
        selectFrom('identity')
          .select(['identity_id', 'handle', 'display_name'])
          .whereRef('identity.identity_id', '=', 'app_role_identity.identity_id')
          .offset(0)
          .as('identity'),
      (join) => join.onTrue(),
    )
    .select(['role_key as role', 'identity.identity_id as identityId', 'handle', 'display_name as displayName'])
    .where('app_role_identity.client_id', '=', clientId)
    .orderBy('handle')
    .execute()
}

/** Lists the keys of the roles of an identity in an app, by itself and by its groups. */
export async function listRolesOf(
  db: Database | Transaction,
  clientId: ClientId,
  identityId: IdentityId,
): Promise<string[]> {
  const byGroup = db
    .selectFrom('group_member')
    .innerJoin('app_role_group', 'app_role_group.group_id', 'group_member.group_id')
    .innerJoin('user_group', 'user_group.group_id', 'group_member.group_id')
    .select('role_key')
    .where('identity_id', '=', identityId)
    .where('client_id', '=', clientId)
    .where('deleted_at', 'is', null)
  const rows = await db
    .selectFrom('app_role_identity')
    .select('role_key')
    .where('identity_id', '=', identityId)
    .where('client_id', '=', clientId)
    .union(byGroup)
    .orderBy('role_key')
    .execute()
  return rows.map((row) => row.role_key)
}

/** Lists the roles that an identity has by itself, in all apps. */
export function listAssignedRoles(db: Database, identityId: IdentityId) {
  return db
    .selectFrom('app_role_identity')
    .innerJoin('app_role', (join) =>
      join
        .onRef('app_role.client_id', '=', 'app_role_identity.client_id')
        .onRef('app_role.key', '=', 'app_role_identity.role_key'),
    )
    .select([
      'app_role.client_id as clientId',
      'app_role.key as role',
      'app_role.display_name as displayName',
      'assigned_at as assignedAt',
    ])
    .where('identity_id', '=', identityId)
    .orderBy('app_role.client_id')
    .orderBy('app_role.key')
    .execute()
}

/** Stores the roles of an app in their order, and deletes its others with their assignments. */
export async function replaceRoles(tx: Transaction, clientId: ClientId, roles: RoleRow[]): Promise<void> {
  const keys = roles.map(({ key }) => key)
  await tx
    .deleteFrom('app_role')
    .where('client_id', '=', clientId)
    .$if(keys.length > 0, (some) => some.where('key', 'not in', keys))
    .execute()
  if (roles.length === 0) return
  await tx
    .insertInto('app_role')
    .values(
      roles.map(({ key, displayName }, position) => ({
        client_id: clientId,
        key,
        display_name: displayName,
        position,
      })),
    )
    .onConflict((conflict) =>
      conflict.columns(['client_id', 'key']).doUpdateSet({
        display_name: ({ ref }) => ref('excluded.display_name'),
        position: ({ ref }) => ref('excluded.position'),
      }),
    )
    .execute()
}

/** Replaces the groups that have roles of an app. */
export async function replaceRoleGroups(tx: Transaction, clientId: ClientId, groups: RoleGroup[]): Promise<void> {
  await tx.deleteFrom('app_role_group').where('client_id', '=', clientId).execute()
  if (groups.length === 0) return
  await tx
    .insertInto('app_role_group')
    .values(groups.map(({ role, groupId }) => ({ client_id: clientId, role_key: role, group_id: groupId })))
    .execute()
}

/** Assigns roles of an app to identities that the caller has locked. */
export async function insertRoleIdentities(
  tx: Transaction,
  clientId: ClientId,
  assigned: RoleIdentity[],
  now: Date,
): Promise<void> {
  if (assigned.length === 0) return
  await tx
    .insertInto('app_role_identity')
    .values(
      assigned.map(({ role, identityId }) => ({
        identity_id: identityId,
        client_id: clientId,
        role_key: role,
        assigned_at: now,
      })),
    )
    .execute()
}

/** Takes roles of an app from identities. */
export async function deleteRoleIdentities(
  tx: Transaction,
  clientId: ClientId,
  removed: RoleIdentity[],
): Promise<void> {
  for (const [role, of] of Map.groupBy(removed, (each) => each.role))
    await tx
      .deleteFrom('app_role_identity')
      .where('client_id', '=', clientId)
      .where('role_key', '=', role)
      .where(
        'identity_id',
        'in',
        of.map(({ identityId }) => identityId),
      )
      .execute()
}

/** Takes all roles of all apps from identities. */
export async function deleteRolesOf(tx: Transaction, identityIds: IdentityId[]): Promise<void> {
  await tx.deleteFrom('app_role_identity').where('identity_id', 'in', identityIds).execute()
}
