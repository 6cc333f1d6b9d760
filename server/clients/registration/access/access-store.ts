import type { ClientId } from '@countersign/protocol/ids'
import { sql, type ExpressionBuilder } from 'kysely'
import type { Database, Transaction } from '#platform/database/database.ts'
import type { Tables } from '#platform/database/tables.ts'
import type { AppAccess } from './access.ts'

/** Selects who may use an app. The groups are in the order of their keys; deleted ones are left out. */
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
  return sql<AppAccess>`json_build_object(
    'mode', app.access_mode, 'contact', app.access_contact, 'groups', (${groups})
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
