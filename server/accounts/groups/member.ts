import type { GroupMember } from '@countersign/protocol/accounts/groups'
import { limits } from '@countersign/protocol/formats/limits'
import type { IdentityId } from '@countersign/protocol/ids'
import { lockIdentities } from '#accounts/identities/identity.ts'
import { requireOtherAccounts } from '#accounts/operators/operator.ts'
import { auditFieldsOf, type Operator, operatorKeyOf, operatorTransaction } from '#accounts/operators/operator-guard.ts'
import type { MembershipEvent } from '#accounts/app-events/event.ts'
import { type AuditEvent, recordAuditEvent, recordAuditEvents } from '#platform/audit/audit-log.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import { defineErrors } from '#platform/api-error.ts'
import type { ServerContext } from '#platform/module/services.ts'
import {
  findAndLockGroup,
  type GroupRef,
  type GroupTarget,
  getGroup,
  lockGroup,
  recordMemberships,
  requireRightsOverMembers,
} from './group.ts'
import type { GroupRow } from './store.ts'
import * as store from './member-store.ts'

const errors = defineErrors({
  invalid_request: [400, 'An identity is to be added and removed.'],
  identity_not_found: [404, 'An identity does not exist, or is invited and has no account yet.'],
  too_many_groups: [409, `An identity can be in at most ${limits.groupsPerIdentityMax} groups.`],
})

type Page = { operator: Operator; groupId: string; after: IdentityId | undefined; count: number }

/**
 * Lists a page of the members of a group, by ID, and records in the audit log that the operator looks at them. Throws
 * `group_not_found` and `rate_limited`.
 */
export async function listMembers(
  { db, rateLimits }: ServerContext,
  { operator, groupId, after, count }: Page,
  now: Date,
): Promise<{ members: GroupMember[]; nextCursor: IdentityId | null }> {
  await rateLimits.count('identity-lists-per-operator', operatorKeyOf(operator))
  const { key, memberCount } = await getGroup(db, groupId)
  const details = { group: key, count: memberCount }
  await recordAuditEvent(db, { action: 'identities.listed', ...auditFieldsOf(operator), details }, now)
  const found = await store.listMembers(db, groupId, { after, count: count + 1 })
  const members = found.slice(0, count).map((row) => ({ ...row, addedAt: row.addedAt.toISOString() }))
  return { members, nextCursor: found.length > count ? (members.at(-1)?.identityId ?? null) : null }
}

const source = 'manual'

export type MemberChange = { add: IdentityId[]; remove: IdentityId[] }

/**
 * Adds members to a group and removes others, all or none. Locks the identities before the group, like the deletion of
 * an identity does, so that none is added while it is deleted, or to too many groups by several requests. Throws
 * `invalid_request`, `group_not_found`, `identity_not_found`, `too_many_groups`, as `requireRightsOverMembers`, and
 * `operator_protected` for identities of the operator's own account and of operators with more rights.
 */
export async function changeMembers(
  db: Database,
  { operator, groupId }: GroupTarget,
  { add, remove }: MemberChange,
  now: Date,
): Promise<{ added: number; removed: number; memberCount: number }> {
  if (add.length + remove.length > limits.groupMemberChangesMax)
    throw errors.invalid_request({ sentence: `A request can change at most ${limits.groupMemberChangesMax} members.` })
  const removing = new Set(remove)
  if (add.some((identityId) => removing.has(identityId))) throw errors.invalid_request()
  return operatorTransaction(db, operator, async (tx) => {
    await requireOtherAccounts(tx, operator, [...add, ...remove])
    const existing = new Set(await lockIdentities(tx, add))
    const group = await lockGroup(tx, groupId)
    requireRightsOverMembers(operator, group, now)
    const unknown = add.filter((identityId) => !existing.has(identityId))
    if (unknown.length > 0) throw errors.identity_not_found({ fields: { identityIds: unknown } })

    const { added, joined } = await store.insertMembers(tx, { groupId, source, identityIds: add }, now)
    if (await store.findInTooManyGroups(tx, joined)) throw errors.too_many_groups()
    const { removed, left } = await store.deleteMembers(tx, { groupId, source, identityIds: remove })
    const by = { audited: auditFieldsOf(operator), notified: { by: 'operator', source } } as const
    await recordMemberChange(tx, { group, ...by, changed: { added, joined, removed, left } }, now)
    const memberCount = group.memberCount + joined.length - left.length
    return { added: added.length, removed: removed.length, memberCount }
  })
}

type Joining = { identityId: IdentityId; groups: GroupRow[]; invitationId: string }

/**
 * Adds a new identity, which its transaction has inserted, to groups. No app gets an event, because it is connected to
 * none; webhooks of the service do. Leaves out those that were deleted since they were read. Returns false if one
 * became protected since then.
 */
export async function joinGroups(
  tx: Transaction,
  { identityId, groups, invitationId }: Joining,
  now: Date,
): Promise<boolean> {
  // In one order, like everything that locks several groups.
  for (const read of groups.toSorted((one, other) => (one.groupId < other.groupId ? -1 : 1))) {
    const { groupId } = read
    const group = await findAndLockGroup(tx, groupId)
    if (!group) continue
    if (group.protected && !read.protected) return false
    const { joined } = await store.insertMembers(tx, { groupId, source, identityIds: [identityId] }, now)
    const details = { groupId, key: group.key, invitationId }
    await recordAuditEvents(tx, [{ action: 'group.member.added', actor: 'user', identityId, details }], now)
    const membership = { groupId, key: group.key, source, by: 'self' } as const
    const joining = joined.map((each) => ({ type: 'group.member.added', identityId: each, ...membership }) as const)
    await recordMemberships(tx, joining, now)
  }
  return true
}

type Recorded = {
  group: GroupRef
  audited: Pick<AuditEvent, 'actor' | 'operator'>
  notified: Pick<MembershipEvent, 'by' | 'source'>
  /** Who was added and removed by the source, and those of them who were no members before or are none now. */
  changed: Record<'added' | 'joined' | 'removed' | 'left', IdentityId[]>
}

/**
 * Records a change of members: for the activity of their accounts, who was added and removed, and for their apps, who
 * is a member now or is no longer. Counts the latter.
 */
export async function recordMemberChange(
  tx: Transaction,
  { group: { groupId, key }, audited, notified, changed }: Recorded,
  now: Date,
): Promise<void> {
  const { added, joined, removed, left } = changed
  const act = { ...audited, details: { groupId, key } }
  const begun = added.map((identityId) => ({ action: 'group.member.added', ...act, identityId }) as const)
  const ended = removed.map((identityId) => ({ action: 'group.member.removed', ...act, identityId }) as const)
  await recordAuditEvents(tx, [...begun, ...ended], now)
  const membership = { ...notified, groupId, key }
  const joining = joined.map((identityId) => ({ type: 'group.member.added', identityId, ...membership }) as const)
  const leaving = left.map((identityId) => ({ type: 'group.member.removed', identityId, ...membership }) as const)
  await recordMemberships(tx, [...joining, ...leaving], now)
}

/** Group of an identity. A directory may manage it. */
export type GroupOfIdentity = GroupRef & { managedBy: string | null }

/** Lists the groups of an identity, by key. */
export function listGroupsOf(db: Database | Transaction, identityId: IdentityId): Promise<GroupOfIdentity[]> {
  return store.listGroupsOf(db, identityId)
}

/** Lists the groups of an identity as its owner exports them. */
export async function exportGroupsOf(db: Database, identityId: IdentityId) {
  const rows = await store.listGroupsOf(db, identityId)
  return rows.map(({ key, displayName, addedAt }) => ({ key, displayName, addedAt: addedAt.toISOString() }))
}

/** Tells if an identity is a member of at least one of the groups. */
export function isMemberOfAny(
  db: Database | Transaction,
  identityId: IdentityId,
  groups: Pick<GroupRef, 'groupId'>[],
): Promise<boolean> {
  return store.isInAnyGroup(
    db,
    identityId,
    groups.map(({ groupId }) => groupId),
  )
}

/** Removes identities that are being deleted, and are locked, from all groups. */
export function deleteMemberships(tx: Transaction, identityIds: IdentityId[]): Promise<void> {
  return store.deleteMemberships(tx, identityIds)
}
