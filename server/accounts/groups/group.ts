import { randomUUIDv7 } from 'node:crypto'
import type { Group } from '@countersign/protocol/accounts/groups'
import { isDisplayName, isShown } from '@countersign/protocol/formats/display-name'
import { limits } from '@countersign/protocol/formats/limits'
import { auditFieldsOf, type Operator, operatorTransaction } from '#accounts/operators/operator-guard.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { type Database, type Transaction, transaction } from '#platform/database/database.ts'
import { defineErrors } from '#platform/api-error.ts'
import * as store from './store.ts'
import type { GroupRow } from './store.ts'

const errors = defineErrors({
  invalid_request: [400, 'Invalid group.'],
  group_not_found: [404, 'No group has this ID.'],
  group_exists: [409, 'Another group has this key.'],
  too_many_groups: [409, `There can be at most ${limits.groupsMax} groups. Delete one first.`],
})

/** Beginnings of keys that have a meaning elsewhere: for Kubernetes, and for groups of organizations. */
const reservedPrefixes = ['system:', 'org:']

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

/** Locks a group until the transaction ends. Throws `group_not_found`. */
export async function lockGroup(tx: Transaction, groupId: string): Promise<GroupRow> {
  const row = await store.lockGroup(tx, groupId)
  if (!row) throw errors.group_not_found()
  return row
}

/** A group as settings of apps name it. */
export type GroupRef = { groupId: string; key: string }

/** Returns the groups with these keys, by key. Throws `group_not_found`, which names the first unknown key. */
export async function requireGroups(db: Database | Transaction, keys: string[]): Promise<GroupRef[]> {
  const found = keys.length === 0 ? [] : await store.findGroupsByKey(db, keys)
  const unknown = keys.find((key) => !found.some((each) => each.key === key))
  if (unknown !== undefined) throw errors.group_not_found({ sentence: `No group has the key ${unknown}.` })
  return found
}

type GroupInput = { key: string; displayName: string; description?: string | null | undefined }

/** Creates a group. Throws `invalid_request`, `group_exists`, `too_many_groups`. */
export async function createGroup(db: Database, operator: Operator, requested: GroupInput, now: Date): Promise<Group> {
  const { key, displayName, description = null } = requested
  const reserved = reservedPrefixes.find((prefix) => key.startsWith(prefix))
  if (reserved !== undefined)
    throw errors.invalid_request({ sentence: `The key of a group must not start with ${reserved}` })
  validateShown(requested)
  const groupId = randomUUIDv7()
  return operatorTransaction(db, operator, async (tx) => {
    const isNew = await store.insertGroup(tx, { groupId, key, displayName, description }, now)
    if (!isNew) throw await whyNot(tx, key)
    await recordAuditEvent(tx, { action: 'group.created', ...auditFieldsOf(operator), details: { groupId, key } }, now)
    return getGroup(tx, groupId)
  })
}

async function whyNot(tx: Transaction, key: string) {
  const [existing] = await store.findGroupsByKey(tx, [key])
  return existing ? errors.group_exists() : errors.too_many_groups()
}

/** A group that an operator changes. */
export type GroupTarget = { operator: Operator; groupId: string }

type GroupChange = { displayName?: string | undefined; description?: string | null | undefined }

/** Changes what is shown of a group. Throws `invalid_request`, `group_not_found`. */
export async function updateGroup(
  db: Database,
  { operator, groupId }: GroupTarget,
  change: GroupChange,
  now: Date,
): Promise<Group> {
  validateShown(change)
  return operatorTransaction(db, operator, async (tx) => {
    if (!(await store.updateGroup(tx, groupId, change, now))) throw errors.group_not_found()
    const group = await getGroup(tx, groupId)
    const details = { groupId, key: group.key, changed: Object.keys(change) }
    await recordAuditEvent(tx, { action: 'group.updated', ...auditFieldsOf(operator), details }, now)
    return group
  })
}

/**
 * Deletes a group. No claim and no access counts it from then on. A cleanup task deletes its members, who can be many.
 * Throws `group_not_found`.
 */
export async function deleteGroup(db: Database, { operator, groupId }: GroupTarget, now: Date): Promise<void> {
  await operatorTransaction(db, operator, async (tx) => {
    const key = await store.markDeleted(tx, groupId, now)
    if (key === undefined) throw errors.group_not_found()
    await recordAuditEvent(tx, { action: 'group.deleted', ...auditFieldsOf(operator), details: { groupId, key } }, now)
  })
}

/** Deletes up to `batch` members of deleted groups, and the groups without any. Returns their number. */
export function pruneDeletedGroups(db: Database, _now: Date, batch: number): Promise<number> {
  return transaction(db, (tx) => store.pruneDeletedGroups(tx, batch))
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
