import { randomUUIDv7 } from 'node:crypto'
import { limits } from '@countersign/protocol/formats/limits'
import type { IdentityId, OrganizationId } from '@countersign/protocol/ids'
import { recordAuditEvent, recordAuditEvents } from '#platform/audit/audit-log.ts'
import { addSeconds } from '#platform/clock.ts'
import { type Database, type Transaction, transaction } from '#platform/database/database.ts'
import { defineErrors } from '#platform/api-error.ts'
import { type GroupRef, recordGroupChange, recordMemberships } from './group.ts'
import { listByGroup, unlistByGroup } from './member-store.ts'
import * as store from './upstream-store.ts'

const errors = defineErrors({
  invalid_request: [400, 'The group is not one of this organization.'],
  too_many_groups: [
    409,
    `An organization can have at most ${limits.groupsPerOrganizationMax} groups, and all organizations together ` +
      `${limits.groupsOfOrganizationsMax}, as far as the service has room for them.`,
  ],
})

type Required = { organizationId: OrganizationId; slug: string; keys: string[] }

/**
 * Returns the groups of an organization with these keys, and creates those that are missing: their keys must begin with
 * `org:` and its present slug. `isAdded` tells if some were missing. The caller has locked the organization. Throws
 * `invalid_request` for other keys, and `too_many_groups`.
 */
export async function requireGroupsOfOrganization(
  tx: Transaction,
  { organizationId, slug, keys }: Required,
  now: Date,
): Promise<{ groups: GroupRef[]; isAdded: boolean }> {
  const existing = await store.findGroupsOfOrganization(tx, organizationId)
  const groups = existing.filter(({ key }) => keys.includes(key))
  const missing = keys.filter((key) => !groups.some((each) => each.key === key))
  const prefix = `org:${slug}:`
  if (!missing.every((key) => key.startsWith(prefix)))
    throw errors.invalid_request({ sentence: `The key of a new group must start with ${prefix}` })
  if (missing.length > 0 && existing.length + missing.length > limits.groupsPerOrganizationMax)
    throw errors.too_many_groups()
  for (const key of missing) {
    const groupId = randomUUIDv7()
    const inserted = { groupId, key, displayName: key.slice(prefix.length), organizationId }
    if (!(await store.insertGroupOfOrganization(tx, inserted, now))) throw errors.too_many_groups()
    await recordAuditEvent(tx, { action: 'group.created', actor: 'system', details: { groupId, key } }, now)
    await recordGroupChange(tx, { type: 'group.created', groupId, key, by: 'system' }, now)
    groups.push({ groupId, key })
  }
  return { groups, isAdded: missing.length > 0 }
}

/** Deletes the groups of an organization that is being deleted, as an operator would. */
export async function deleteGroupsOfOrganization(
  tx: Transaction,
  organizationId: OrganizationId,
  now: Date,
): Promise<void> {
  for (const { groupId, key } of await store.markGroupsOfOrganizationDeleted(tx, organizationId, now)) {
    await recordAuditEvent(tx, { action: 'group.deleted', actor: 'system', details: { groupId, key } }, now)
    await recordGroupChange(tx, { type: 'group.deleted', groupId, key, by: 'system' }, now)
  }
}

/** Names an SSO connection as the source of memberships. */
export const sourceOf = (connectionId: string) => `upstream:${connectionId}`

type Named = {
  identityId: IdentityId
  organizationId: OrganizationId
  connectionId: string
  /** The rules of the connection that apply to the identity, with their groups. */
  applied: { ruleId: string; groupId: string }[]
}

/**
 * Makes an identity, which the caller has locked, a member of exactly those groups of an organization that its identity
 * provider names, as far as this SSO connection says so. They last for 30 days. Returns the keys of groups that would
 * be more than an identity can be in: it joins none of the new ones then.
 */
export async function renewMemberships(
  tx: Transaction,
  { identityId, organizationId, connectionId, applied }: Named,
  now: Date,
): Promise<{ leftOut: string[] }> {
  const source = sourceOf(connectionId)
  const groupIds = applied.map(({ groupId }) => groupId)
  const before = await store.listGroupIdsOf(tx, identityId, source)
  if (before.length + groupIds.length === 0) return { leftOut: [] }
  const locked = await store.lockGroups(tx, [...new Set([...before, ...groupIds])])
  const groups = locked.filter((group) => group.organizationId === organizationId)
  const idsOf = (some: GroupRef[]) => some.map(({ groupId }) => groupId)
  const named = groups.filter(({ groupId }) => groupIds.includes(groupId))
  const added = named.filter(({ groupId }) => !before.includes(groupId))
  const others = await store.countOtherGroups(tx, { identityId, source, groupIds: idsOf(named) })
  const isTooMany = others + named.length > limits.groupsPerIdentityMax
  const kept = isTooMany ? named.filter((group) => !added.includes(group)) : named
  const ended = groups.filter(({ groupId }) => before.includes(groupId) && !groupIds.includes(groupId))
  const membersOf = (some: GroupRef[]) => some.map(({ groupId }) => ({ groupId, identityId }))

  const expiresAt = addSeconds(now, limits.upstreamMembershipSeconds)
  const renewed = kept.map(({ groupId }) => {
    return { groupId, ruleIds: applied.filter((rule) => rule.groupId === groupId).map(({ ruleId }) => ruleId) }
  })
  if (renewed.length > 0) await store.upsertMemberships(tx, { identityId, source, renewed, expiresAt }, now)
  if (ended.length > 0) await store.deleteMemberships(tx, { identityId, source, groupIds: idsOf(ended) })
  const joined = await listByGroup(tx, membersOf(kept))
  const left = await unlistByGroup(tx, membersOf(ended))
  await record(tx, { action: 'group.member.added', members: joined, groups }, now)
  await record(tx, { action: 'group.member.removed', members: left, groups }, now)
  return { leftOut: isTooMany ? added.map(({ key }) => key) : [] }
}

type Members = { groupId: string; identityId: IdentityId }[]
type Change = { action: 'group.member.added' | 'group.member.removed'; members: Members; groups: GroupRef[] }

/** Counts and records who is a member now, or is no longer. The caller has locked the groups. */
async function record(tx: Transaction, { action, members, groups }: Change, now: Date): Promise<void> {
  if (members.length === 0) return
  const ofGroups = Map.groupBy(members, ({ groupId }) => groupId)
  const changes = groups.flatMap(({ groupId, key }) =>
    (ofGroups.get(groupId) ?? []).map(({ identityId }) => ({ identityId, groupId, key })),
  )
  const acts = changes.map(({ identityId, ...details }) => ({ action, actor: 'system', identityId, details }) as const)
  await recordAuditEvents(tx, acts, now)
  const events = changes.map((change) => ({ type: action, by: 'system', source: 'upstream', ...change }) as const)
  await recordMemberships(tx, events, now)
}

/** Ends at once what former members of an organization are in its groups. The caller has locked the organization. */
export async function leaveGroupsOfOrganization(
  tx: Transaction,
  { organizationId, identityIds }: { organizationId: OrganizationId; identityIds: IdentityId[] },
  now: Date,
): Promise<void> {
  await end(tx, await store.listMembershipsIn(tx, organizationId, identityIds), now)
}

/** Deletes up to `batch` memberships that have ended. Returns their number. */
export function endExpiredMemberships(db: Database, now: Date, batch: number): Promise<number> {
  return transaction(db, async (tx) => end(tx, await store.listExpired(tx, now, batch), now, now))
}

async function end(
  tx: Transaction,
  memberships: Awaited<ReturnType<typeof store.listExpired>>,
  now: Date,
  endedBy?: Date,
): Promise<number> {
  if (memberships.length === 0) return 0
  const groups = await store.lockGroups(tx, [...new Set(memberships.map(({ groupId }) => groupId))])
  // The members of deleted groups are ended with these, which also tells their apps.
  const existing = new Set(groups.map(({ groupId }) => groupId))
  const inGroups = memberships.filter(({ groupId }) => existing.has(groupId))
  const ended = await store.deleteListed(tx, inGroups, endedBy)
  const left = await unlistByGroup(tx, ended)
  await record(tx, { action: 'group.member.removed', members: left, groups }, now)
  return ended.length
}
