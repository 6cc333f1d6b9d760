import type { ClientId, IdentityId, OrganizationId } from '@countersign/protocol/ids'
import { sql, type ExpressionBuilder } from 'kysely'
import type { Database, Transaction } from '#platform/database/database.ts'
import type { Tables } from '#platform/database/tables.ts'
import type { AppAccess, OrganizationRef } from './access.ts'

/**
 * Selects who may use an app. Its groups are in the order of their keys, and its organizations in that of their slugs;
 * deleted ones are left out.
 */
export function accessOf({ selectFrom }: ExpressionBuilder<Tables, 'app'>) {
  const groups = selectFrom('app_access_group')
    .innerJoin('user_group', 'user_group.group_id', 'app_access_group.group_id')
    .whereRef('app_access_group.client_id', '=', 'app.client_id')
    .where('deleted_at', 'is', null)
    .select(
      sql`coalesce(
        json_agg(json_build_object('groupId', user_group.group_id, 'key', user_group.key) order by user_group.key), '[]'
      )`.as('groups'),
    )
  const organizations = selectFrom('organization')
    .where(sql<boolean>`organization_id = any(app.access_organization_ids)`)
    .select(
      sql`coalesce(
        json_agg(json_build_object('organizationId', organization_id, 'slug', slug) order by slug collate "C"), '[]'
      )`.as('organizations'),
    )
  return sql<AppAccess>`json_build_object(
    'mode', app.access_mode, 'contact', app.access_contact, 'groups', (${groups}), 'organizations', (${organizations})
  )`.as('access')
}

/** Finds who may use an app. */
export function findAccess(db: Database | Transaction, clientId: ClientId) {
  return db.selectFrom('app').select(accessOf).where('client_id', '=', clientId).executeTakeFirst()
}

/** Replaces the groups that an app names. The caller has locked the app. */
export async function replaceGroups(tx: Transaction, clientId: ClientId, groupIds: string[]): Promise<void> {
  await tx.deleteFrom('app_access_group').where('client_id', '=', clientId).execute()
  if (groupIds.length === 0) return
  await tx
    .insertInto('app_access_group')
    .values(groupIds.map((groupId) => ({ client_id: clientId, group_id: groupId })))
    .execute()
}

/** Lists the organizations that have one of these slugs now, by slug. */
export function listOrganizations(tx: Transaction, slugs: string[]): Promise<OrganizationRef[]> {
  return tx
    .selectFrom('organization_slug')
    .select(['organization_id as organizationId', 'slug'])
    .where('slug', 'in', slugs)
    .where('available_at', 'is', null)
    .orderBy(sql`slug collate "C"`)
    .execute()
}

/** Tells if an identity is a member of at least one of the organizations that is not suspended. */
export async function isInAnyOrganization(
  db: Database | Transaction,
  identityId: IdentityId,
  organizationIds: OrganizationId[],
): Promise<boolean> {
  const row = await db
    .selectFrom('organization_member')
    .innerJoin('organization', 'organization.organization_id', 'organization_member.organization_id')
    .select('identity_id')
    .where('identity_id', '=', identityId)
    .where('organization_member.organization_id', 'in', organizationIds)
    .where('status', '=', 'active')
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}
