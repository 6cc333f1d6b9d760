import { randomUUIDv7 } from 'node:crypto'
import type { Group } from '@countersign/protocol/accounts/groups'
import type { GroupField } from '@countersign/protocol/clients/webhook-events'
import { isDisplayName, isShown } from '@countersign/protocol/formats/display-name'
import { limits } from '@countersign/protocol/formats/limits'
import type { ClientId, OrganizationId } from '@countersign/protocol/ids'
import {
  type GroupEvent,
  type MembershipEvent,
  recordGroupEvent,
  recordMembershipEvents,
} from '#accounts/app-events/event.ts'
import { requirePermissions } from '#accounts/operators/acting-operator.ts'
import {
  auditFieldsOf,
  type Operator,
  operatorTransaction,
  requireRecentAuthenticationOfOperator,
} from '#accounts/operators/operator-guard.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { type Database, type Transaction, transaction } from '#platform/database/database.ts'
import { defineErrors } from '#platform/api-error.ts'
import * as store from './store.ts'
import type { GroupChange, GroupRow } from './store.ts'

const errors = defineErrors({
  invalid_request: [400, 'Invalid group.'],
  group_not_found: [404, 'No group has this ID.'],
  group_exists: [409, 'Another group has this key.'],
  too_many_groups: [409, `There can be at most ${limits.groupsMax} groups. Delete one first.`],
  managed_elsewhere: [409, 'The identity provider of an organization manages this group.'],
})
const byDirectory = 'A directory manages this group by SCIM.'

/** Beginnings of keys that have a meaning elsewhere: for Kubernetes, and for groups of organizations. */
const reservedPrefixes = ['system:', 'org:']

/** Checks whether a key begins like the names of groups of Kubernetes or of organizations. */
export function hasReservedPrefix(key: string): boolean {
  return reservedPrefixes.some((prefix) => key.startsWith(prefix))
}

type Page = { key?: string | undefined; after?: string | undefined; count: number }

/** Lists a page of the groups by key, or the group with a key. */
export async function listGroups(
  db: Database,
  { key, after, count }: Page,
): Promise<{ groups: Group[]; nextCursor: string | null }> {
  const found = await store.listGroups(db, { key, after, count: count + 1 })
  const groups = found.slice(0, count).map(toGroup)
  return { groups, nextCursor: found.length > count ? (groups.at(-1)?.key ?? null) : null }
}

/** Returns a group. Throws `group_not_found`. */
export async function getGroup(db: Database | Transaction, groupId: string): Promise<Group> {
  const row = await store.findGroup(db, groupId)
  if (!row) throw errors.group_not_found()
  return toGroup(row)
}

/** Locks a group until the transaction ends, if it exists. */
export function findAndLockGroup(tx: Transaction, groupId: string): Promise<GroupRow | undefined> {
  return store.lockGroup(tx, groupId)
}

/** Returns those groups that exist, by their IDs. */
export async function findGroups(db: Database | Transaction, groupIds: string[]): Promise<GroupRow[]> {
  return groupIds.length === 0 ? [] : store.findGroupsById(db, groupIds)
}

/** Returns those groups that exist, by their keys. */
export async function findGroupsByKey(db: Database | Transaction, keys: string[]): Promise<GroupRow[]> {
  return keys.length === 0 ? [] : store.findGroupsByKey(db, keys)
}

/** Locks a group until the transaction ends. Throws `group_not_found`. */
export async function lockGroup(tx: Transaction, groupId: string): Promise<GroupRow> {
  const row = await store.lockGroup(tx, groupId)
  if (!row) throw errors.group_not_found()
  return row
}

/**
 * Throws `permission_denied` or `reauthentication_required` unless an operator may change a group and its members: a
 * protected one needs the permission that manages operators.
 */
export function requireRightsOverGroup(
  operator: Operator,
  group: { protected?: boolean | undefined },
  now: Date,
): void {
  if (!group.protected) return
  requirePermissions(operator, ['operators.manage'])
  requireRecentAuthenticationOfOperator(operator, now)
}

type Managed = { organizationId: OrganizationId | null; managedBy: string | null }

/** Throws `managed_elsewhere` for a group of an organization or a directory: these name the members. */
export function requireManual({ organizationId, managedBy }: Managed): void {
  if (organizationId !== null) throw errors.managed_elsewhere()
  if (managedBy !== null) throw errors.managed_elsewhere({ sentence: byDirectory, fields: { managedBy } })
}

/** Throws as `requireManual` and `requireRightsOverGroup` unless an operator may change the members of a group. */
export function requireRightsOverMembers(operator: Operator, group: GroupRow, now: Date): void {
  requireManual(group)
  requireRightsOverGroup(operator, group, now)
}

/** A group as settings of apps name it. */
export type GroupRef = { groupId: string; key: string }

/** Returns the groups with these keys, by key. Throws `group_not_found`, which names the first unknown key. */
export async function requireGroups(db: Database | Transaction, keys: string[]): Promise<GroupRef[]> {
  const found = await findGroupsByKey(db, keys)
  const unknown = keys.find((key) => !found.some((each) => each.key === key))
  if (unknown !== undefined) throw errors.group_not_found({ sentence: `No group has the key ${unknown}.` })
  return found.map(({ groupId, key }) => ({ groupId, key }))
}

/** Records an event of a group, which the caller has locked, for webhooks of the service. */
export async function recordGroupChange(tx: Transaction, event: GroupEvent, now: Date): Promise<void> {
  await recordGroupEvent(tx, event, await store.advanceGroups(tx, [event.groupId]), now)
}

/** Counts and records who is a member now, or is no longer, of groups that the caller has locked. */
export async function recordMemberships(tx: Transaction, events: MembershipEvent[], now: Date): Promise<void> {
  if (events.length === 0) return
  await recordMembershipEvents(tx, events, await store.countMembers(tx, events), now)
}

type GroupInput = GroupChange & { key: string; displayName: string }

/**
 * Creates a group. It is protected if claims of an app name its key already. Throws `invalid_request`, `group_exists`,
 * `too_many_groups`, and as `requireRightsOverGroup`.
 */
export async function createGroup(db: Database, operator: Operator, requested: GroupInput, now: Date): Promise<Group> {
  const { key, displayName, description = null, protected: isProtected = false } = requested
  const reserved = reservedPrefixes.find((prefix) => key.startsWith(prefix))
  if (reserved !== undefined)
    throw errors.invalid_request({ sentence: `The key of a group must not start with ${reserved}` })
  validateShown(requested)
  requireRightsOverGroup(operator, requested, now)
  const groupId = randomUUIDv7()
  return operatorTransaction(db, operator, async (tx) => {
    const protects = isProtected || (await store.isNamedByClaims(tx, key))
    const inserted = { groupId, key, displayName, description, protected: protects }
    const isNew = await store.insertGroup(tx, inserted, now)
    if (!isNew) throw await whyNot(tx, key)
    await recordAuditEvent(tx, { action: 'group.created', ...auditFieldsOf(operator), details: { groupId, key } }, now)
    await recordGroupChange(tx, { type: 'group.created', groupId, key, by: 'operator' }, now)
    return getGroup(tx, groupId)
  })
}

async function whyNot(tx: Transaction, key: string) {
  const [existing] = await store.findGroupsByKey(tx, [key])
  return existing ? errors.group_exists() : errors.too_many_groups()
}

type Empowered = { operator: Operator; clientId: ClientId; groupIds: string[] }

/** Protects groups to which an operator gives rights in an app. Leaves out those that are protected or deleted. */
export async function protectGroups(
  tx: Transaction,
  { operator, clientId, groupIds }: Empowered,
  now: Date,
): Promise<void> {
  const act = { action: 'group.updated', ...auditFieldsOf(operator), clientId } as const
  const changed: GroupField[] = ['protected']
  for (const { groupId, key } of await store.protectGroups(tx, groupIds, now)) {
    await recordAuditEvent(tx, { ...act, details: { groupId, key, changed } }, now)
    await recordGroupChange(tx, { type: 'group.updated', groupId, key, by: 'operator', fields: changed }, now)
  }
}

const changeable = ['displayName', 'description', 'protected'] as const

/** A group that an operator changes. */
export type GroupTarget = { operator: Operator; groupId: string }

/**
 * Changes what is shown of a group, and who may change it. Of a group of an organization or a directory, only the
 * protection can change.
 * Throws `invalid_request`, `group_not_found`, and as `requireManual` and `requireRightsOverGroup`.
 */
export async function updateGroup(
  db: Database,
  { operator, groupId }: GroupTarget,
  change: GroupChange,
  now: Date,
): Promise<Group> {
  validateShown(change)
  return operatorTransaction(db, operator, async (tx) => {
    const before = await lockGroup(tx, groupId)
    if (change.displayName !== undefined || change.description !== undefined) requireManual(before)
    requireRightsOverGroup(operator, before, now)
    requireRightsOverGroup(operator, change, now)
    await store.updateGroup(tx, groupId, change, now)
    const group = await getGroup(tx, groupId)
    const { key } = group
    const fields = changeable.filter((field) => change[field] !== undefined)
    const details = { groupId, key, changed: fields }
    await recordAuditEvent(tx, { action: 'group.updated', ...auditFieldsOf(operator), details }, now)
    await recordGroupChange(tx, { type: 'group.updated', groupId, key, by: 'operator', fields }, now)
    return group
  })
}

/**
 * Deletes a group. No claim and no access counts it from then on. A cleanup task deletes its members, who can be many.
 * Throws `group_not_found`, and as `requireRightsOverGroup`.
 */
export async function deleteGroup(db: Database, { operator, groupId }: GroupTarget, now: Date): Promise<void> {
  await operatorTransaction(db, operator, async (tx) => {
    const group = await lockGroup(tx, groupId)
    requireRightsOverGroup(operator, group, now)
    await store.markDeleted(tx, groupId, now)
    const { key } = group
    await recordAuditEvent(tx, { action: 'group.deleted', ...auditFieldsOf(operator), details: { groupId, key } }, now)
    await recordGroupChange(tx, { type: 'group.deleted', groupId, key, by: 'operator' }, now)
  })
}

/** Deletes up to `batch` members of deleted groups, and the groups without any. Returns their number. */
export function pruneDeletedGroups(db: Database, now: Date, batch: number): Promise<number> {
  return transaction(db, async (tx) => {
    const members = await store.deleteMembersOfDeleted(tx, batch)
    const events = members.map((member) => ({ type: 'group.member.removed', by: 'system', ...member }) as const)
    await recordMemberships(tx, events, now)
    return members.length > 0 ? members.length : store.pruneDeletedGroups(tx)
  })
}

function validateShown({ displayName, description }: GroupChange): void {
  if (displayName !== undefined && !isDisplayName(displayName))
    throw errors.invalid_request({ sentence: 'displayName must be 1 to 80 visible characters.' })
  if (description && !isShown(description))
    throw errors.invalid_request({ sentence: 'description contains an invisible character.' })
}

function toGroup({ createdAt, updatedAt, ...group }: GroupRow): Group {
  return { ...group, createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() }
}
