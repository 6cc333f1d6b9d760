import type { IdentityId } from '@countersign/protocol/ids'
import { type GroupTarget, getGroup } from '#accounts/groups/group.ts'
import * as accepted from '#accounts/groups/member.ts'
import { auditFieldsOf, operatorTransaction } from '#accounts/operators/operator-guard.ts'
import { recordAuditEvents } from '#platform/audit/audit-log.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import { removeGroupOfIdentities } from '../store.ts'
import * as store from './store.ts'

/**
 * Changes the members of a group, as the function of groups does. An invited identity that is removed does not join
 * the group when it is accepted. Throws as that function.
 */
export function changeMembers(db: Database, target: GroupTarget, change: accepted.MemberChange, now: Date) {
  return operatorTransaction(db, target.operator, async (tx) => {
    // Locks in the order of an acceptance: identity, invitation, group. The rights over the group are checked last.
    const invited = await removeInvited(tx, { groupId: target.groupId, identityIds: change.remove })
    const { removed, ...changed } = await accepted.changeMembers(tx, target, change, now)
    await recordRemoved(tx, target, invited, now)
    return { ...changed, removed: removed + invited.length }
  })
}

type Membership = { groupId: string; identityIds: IdentityId[] }

/** Removes a group from those that invited identities join. Returns the identities that had it. */
async function removeInvited(tx: Transaction, { groupId, identityIds }: Membership): Promise<IdentityId[]> {
  // Few are invited, and a change of the table waits for all its others on a distributed database.
  const groupIdsOf = await store.listGroupIds(tx, identityIds)
  const joining = identityIds.filter((identityId) => groupIdsOf.get(identityId)?.includes(groupId))
  if (joining.length === 0) return []
  const invited = await store.removeGroup(tx, { groupId, identityIds: joining })
  if (invited.length > 0) await removeGroupOfIdentities(tx, { groupId, identityIds: invited })
  return invited
}

async function recordRemoved(
  tx: Transaction,
  { operator, groupId }: GroupTarget,
  identityIds: IdentityId[],
  now: Date,
): Promise<void> {
  if (identityIds.length === 0) return
  const { key } = await getGroup(tx, groupId)
  const act = { action: 'group.member.removed', ...auditFieldsOf(operator), details: { groupId, key } } as const
  await recordAuditEvents(
    tx,
    identityIds.map((identityId) => ({ ...act, identityId })),
    now,
  )
}
