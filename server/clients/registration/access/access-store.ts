import type { ClientId } from '@countersign/protocol/ids'
import type { Transaction } from '#platform/database/database.ts'

/** Replaces the groups that an app names. The caller has locked the app. */
export async function replaceGroups(tx: Transaction, clientId: ClientId, groupIds: string[]): Promise<void> {
  await tx.deleteFrom('app_access_group').where('client_id', '=', clientId).execute()
  if (groupIds.length === 0) return
  await tx
    .insertInto('app_access_group')
    .values(groupIds.map((groupId) => ({ client_id: clientId, group_id: groupId })))
    .execute()
}
