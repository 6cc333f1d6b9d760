import { randomUUIDv7 } from 'node:crypto'
import { limits } from '@countersign/protocol/formats/limits'
import type { IdentityId } from '@countersign/protocol/ids'
import { sourceOf } from '#accounts/operators/acting-operator.ts'
import { requireNotOwnAccount } from '#accounts/operators/operator.ts'
import { auditFieldsOf, type Operator } from '#accounts/operators/operator-guard.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import type { Transaction } from '#platform/database/database.ts'
import { defineErrors } from '#platform/api-error.ts'
import { findGroupsByKey, type GroupRef, recordGroupChange } from './group.ts'
import { recordMemberChange } from './member.ts'
import * as store from './managed-store.ts'
import { deleteMembers, findInTooManyGroups, insertMembers } from './member-store.ts'
import { markDeleted, updateGroup } from './store.ts'

export { lockGroupOfSource, releaseGroups } from './managed-store.ts'

const errors = defineErrors({
  group_exists: [409, 'Another group has this key.'],
  too_many_groups: [409, `There can be at most ${limits.groupsMax} groups. Delete one first.`],
  identity_in_too_many_groups: [409, `An identity can be in at most ${limits.groupsPerIdentityMax} groups.`],
})

type NewGroup = { key: string; displayName: string }

/** Creates a group that a source alone changes. Returns its ID. Throws `group_exists`, `too_many_groups`. */
export async function createGroupOfSource(
  tx: Transaction,
  operator: Operator,
  { key, displayName }: NewGroup,
  now: Date,
): Promise<string> {
  const groupId = randomUUIDv7()
  const inserted = { groupId, key, displayName, managedBy: sourceOf(operator) }
  if (!(await store.insertGroupOfSource(tx, inserted, now))) {
    const [existing] = await findGroupsByKey(tx, [key])
    throw existing ? errors.group_exists() : errors.too_many_groups()
  }
  await recordAuditEvent(tx, { action: 'group.created', ...auditFieldsOf(operator), details: { groupId, key } }, now)
  await recordGroupChange(tx, { type: 'group.created', groupId, key, by: 'scim' }, now)
  return groupId
}

type Renamed = { operator: Operator; group: GroupRef; displayName: string }

/** Renames a group, which its source has locked. Its key stays. */
export async function renameGroupOfSource(
  tx: Transaction,
  { operator, group, displayName }: Renamed,
  now: Date,
): Promise<void> {
  const { groupId, key } = group
  await updateGroup(tx, groupId, { displayName }, now)
  const fields = ['displayName' as const]
  const details = { groupId, key, changed: fields }
  await recordAuditEvent(tx, { action: 'group.updated', ...auditFieldsOf(operator), details }, now)
  await recordGroupChange(tx, { type: 'group.updated', groupId, key, by: 'scim', fields }, now)
}

/** Deletes a group, which its source has locked. A cleanup task deletes its members. */
export async function deleteGroupOfSource(
  tx: Transaction,
  { operator, group }: { operator: Operator; group: GroupRef },
  now: Date,
): Promise<void> {
  const { groupId, key } = group
  await markDeleted(tx, groupId, now)
  await recordAuditEvent(tx, { action: 'group.deleted', ...auditFieldsOf(operator), details: { groupId, key } }, now)
  await recordGroupChange(tx, { type: 'group.deleted', groupId, key, by: 'scim' }, now)
}

/** Who changes the members, and as which source, in events. */
const notified = { by: 'scim', source: 'scim' } as const

type Change = { operator: Operator; group: GroupRef; add: IdentityId[]; remove: IdentityId[] }

/**
 * Adds and removes members of a source in a group. The transaction has locked the identities that it adds, and then the
 * group. Throws `identity_in_too_many_groups`, and `operator_protected` for the account whose rights the source has.
 */
export async function changeMembersOfSource(
  tx: Transaction,
  { operator, group, add, remove }: Change,
  now: Date,
): Promise<void> {
  const { groupId } = group
  const source = sourceOf(operator)
  await requireNotOwnAccount(tx, operator, [...add, ...remove])
  const { added, joined } = await insertMembers(tx, { groupId, source, identityIds: add }, now)
  if (await findInTooManyGroups(tx, joined)) throw errors.identity_in_too_many_groups()
  const { removed, left } = await deleteMembers(tx, { groupId, source, identityIds: remove })
  const changed = { added, joined, removed, left }
  await recordMemberChange(tx, { group, audited: auditFieldsOf(operator), notified, changed }, now)
}

type Joining = { identityId: IdentityId; managedBy: string; groupIds: string[]; joinsProtected: boolean }

/**
 * Adds a new identity, which its transaction has inserted, to the groups of its source among these. Returns false if
 * one is protected and it may not join such a group.
 */
export async function joinGroupsOfSource(
  tx: Transaction,
  { identityId, managedBy, groupIds, joinsProtected }: Joining,
  now: Date,
): Promise<boolean> {
  if (groupIds.length === 0) return true
  for (const group of await store.lockGroupsOfSource(tx, groupIds, managedBy)) {
    if (group.protected && !joinsProtected) return false
    const { groupId } = group
    const { added, joined } = await insertMembers(tx, { groupId, source: managedBy, identityIds: [identityId] }, now)
    const changed = { added, joined, removed: [], left: [] }
    await recordMemberChange(tx, { group, audited: { actor: 'system' }, notified, changed }, now)
  }
  return true
}
