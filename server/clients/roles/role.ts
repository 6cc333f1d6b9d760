import type { AppRoles, AppRolesChange, RoleAssignment } from '@countersign/protocol/clients/roles'
import { isDisplayName } from '@countersign/protocol/formats/display-name'
import type { ClientId, IdentityId } from '@countersign/protocol/ids'
import { hasReservedPrefix, protectGroups, requireGroups } from '#accounts/groups/group.ts'
import { lockIdentities } from '#accounts/identities/identity.ts'
import { auditFieldsOf, type Operator, operatorTransaction } from '#accounts/operators/operator-guard.ts'
import { requireOtherAccounts } from '#accounts/operators/operator.ts'
import { getApp, lockManagedApp } from '#clients/registration/app.ts'
import { recordAuditEvent, recordAuditEvents } from '#platform/audit/audit-log.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import { defineErrors } from '#platform/api-error.ts'
import { sha256 } from '#platform/crypto/secret.ts'
import * as store from './store.ts'
import type { RoleGroup, RoleIdentity, RoleRow } from './store.ts'

const errors = defineErrors({
  invalid_request: [400, 'Invalid roles.'],
  identity_not_found: [404, 'An identity does not exist, or is invited and has no account yet.'],
  version_mismatch: [412, 'The roles or their assignments were changed meanwhile. Read them again.'],
})

/** Reference to the roles of an app by an operator. */
export type AppRolesRef = { operator: Operator; clientId: ClientId }

/** Returns the roles of an app and who has them. Throws `app_not_found`. */
export async function getRoles(db: Database, { operator, clientId }: AppRolesRef): Promise<AppRoles> {
  await getApp(db, { manager: operator, clientId })
  return readRoles(db, clientId)
}

/** Reads the roles of an app that exists. */
export async function readRoles(db: Database | Transaction, clientId: ClientId): Promise<AppRoles> {
  const roles = await store.listRoles(db, clientId)
  const groups = await store.listRoleGroups(db, clientId)
  const identities = await store.listRoleIdentities(db, clientId)
  const assignmentOf = ({ key: role }: RoleRow) => ({
    role,
    groups: groups.filter((each) => each.role === role).map(({ key }) => key),
    identities: identities.filter((each) => each.role === role).map(({ identityId }) => identityId),
  })
  const named = new Map(identities.map(({ role: _role, ...identity }) => [identity.identityId, identity]))
  const roleAssignments = roles.map(assignmentOf).filter((each) => each.groups.length + each.identities.length > 0)
  return { version: versionOf(roles, roleAssignments), roles, roleAssignments, identities: [...named.values()] }
}

/**
 * Returns the version of roles and assignments: a digest of them, which also changes when an identity or a group with a
 * role is deleted. Names of identities are not part of it.
 */
function versionOf(roles: RoleRow[], roleAssignments: RoleAssignment[]): string {
  const assigned = roleAssignments.map(({ role, groups, identities }) => [role, groups, identities.toSorted()])
  const defined = roles.map(({ key, displayName }) => [key, displayName])
  return sha256(JSON.stringify([defined, assigned]))
    .subarray(0, 16)
    .toString('base64url')
}

/**
 * Replaces the roles of an app and who has them. Groups that get a role become protected. Also returns whether all
 * processes must apply the change before the response. Locks the identities first, like their deletion does. Throws
 * `invalid_request`, `app_not_found`, `group_not_found`, `identity_not_found`, `version_mismatch` if the roles have
 * another version than the given one, and `operator_protected` if a role of an identity of the operator's own account
 * changes, or of an operator with more rights.
 */
export async function replaceRoles(
  db: Database,
  { operator, clientId, version }: AppRolesRef & { version?: string | undefined },
  requested: AppRolesChange,
  now: Date,
): Promise<{ roles: AppRoles; isForAll: boolean }> {
  const roles = requireRoles(requested)
  const identities = identitiesOf(requested)
  return operatorTransaction(db, operator, async (tx) => {
    await requireIdentities(tx, identities)
    await lockManagedApp(tx, { manager: operator, clientId })
    if (version !== undefined && (await readRoles(tx, clientId)).version !== version) throw errors.version_mismatch()
    const before = {
      groups: await store.listRoleGroups(tx, clientId),
      identities: await store.listRoleIdentities(tx, clientId),
    }
    const groups = await groupsOf(tx, requested)
    const assigned = without(identities, before.identities)
    const removed = without(before.identities, identities)
    const changed = [...new Set([...assigned, ...removed].map(({ identityId }) => identityId))]
    if (changed.length > 0) await requireOtherAccounts(tx, operator, changed)

    await store.deleteRoleIdentities(tx, clientId, removed)
    await store.replaceRoles(tx, clientId, roles)
    await store.replaceRoleGroups(tx, clientId, groups)
    await store.insertRoleIdentities(tx, clientId, assigned, now)
    const empowered = withoutGroups(groups, before.groups).map(({ groupId }) => groupId)
    await protectGroups(tx, { operator, clientId, groupIds: [...new Set(empowered)] }, now)
    const details = { changed: ['roles'] }
    await recordAuditEvent(tx, { action: 'app.updated', ...auditFieldsOf(operator), clientId, details }, now)
    await recordAssignments(tx, { operator, clientId }, { assigned, removed }, now)
    // A process with the old roles would name groups to the app that it may no longer know.
    const isForAll = withoutGroups(before.groups, groups).length > 0
    return { roles: await readRoles(tx, clientId), isForAll }
  })
}

/** Returns the roles of a request. Throws `invalid_request` unless each is defined once, and assigned once at most. */
function requireRoles({ roles, roleAssignments }: AppRolesChange): RoleRow[] {
  const keys = roles.map(({ key }) => key)
  const assigned = roleAssignments.map(({ role }) => role)
  for (const [nth, key] of keys.entries()) {
    if (hasReservedPrefix(key)) throw errors.invalid_request({ sentence: `The key of a role must not be ${key}.` })
    if (keys.indexOf(key) !== nth) throw errors.invalid_request({ sentence: `The role ${key} is sent twice.` })
  }
  for (const [nth, role] of assigned.entries()) {
    if (!keys.includes(role)) throw errors.invalid_request({ sentence: `The app has no role ${role}.` })
    if (assigned.indexOf(role) !== nth)
      throw errors.invalid_request({ sentence: `The role ${role} is assigned twice.` })
  }
  const named = roles.map(({ key, displayName = key }) => ({ key, displayName }))
  if (!named.every(({ displayName }) => isDisplayName(displayName)))
    throw errors.invalid_request({ sentence: 'displayName must be 1 to 80 visible characters.' })
  return named
}

function identitiesOf({ roleAssignments }: AppRolesChange): RoleIdentity[] {
  return roleAssignments.flatMap(({ role, identities = [] }) =>
    [...new Set(identities)].map((identityId) => ({ role, identityId })),
  )
}

/** Locks identities until the transaction ends. Throws `identity_not_found`, which names those that do not exist. */
async function requireIdentities(tx: Transaction, identities: RoleIdentity[]): Promise<void> {
  const identityIds = [...new Set(identities.map(({ identityId }) => identityId))]
  const existing = new Set(await lockIdentities(tx, identityIds))
  const unknown = identityIds.filter((identityId) => !existing.has(identityId))
  if (unknown.length > 0) throw errors.identity_not_found({ fields: { identityIds: unknown } })
}

async function groupsOf(tx: Transaction, { roleAssignments }: AppRolesChange): Promise<RoleGroup[]> {
  const named = roleAssignments.flatMap(({ role, groups = [] }) => groups.map((key) => ({ role, key })))
  const found = await requireGroups(tx, [...new Set(named.map(({ key }) => key))])
  const idOf = new Map(found.map(({ groupId, key }) => [key, groupId]))
  return named.flatMap(({ role, key }) => {
    const groupId = idOf.get(key)
    return groupId === undefined ? [] : [{ role, groupId, key }]
  })
}

function without(all: RoleIdentity[], others: RoleIdentity[]): RoleIdentity[] {
  const known = new Set(others.map(({ role, identityId }) => `${identityId} ${role}`))
  return all.filter(({ role, identityId }) => !known.has(`${identityId} ${role}`))
}

function withoutGroups(all: RoleGroup[], others: RoleGroup[]): RoleGroup[] {
  const known = new Set(others.map(({ role, groupId }) => `${groupId} ${role}`))
  return all.filter(({ role, groupId }) => !known.has(`${groupId} ${role}`))
}

type Assignments = { assigned: RoleIdentity[]; removed: RoleIdentity[] }

/** Records who got and lost a role, each for the activity of their own account. */
async function recordAssignments(
  tx: Transaction,
  { operator, clientId }: AppRolesRef,
  { assigned, removed }: Assignments,
  now: Date,
): Promise<void> {
  const act = { ...auditFieldsOf(operator), clientId }
  const given = assigned.map(
    ({ identityId, role }) => ({ action: 'app.role.assigned', ...act, identityId, details: { role } }) as const,
  )
  const taken = removed.map(
    ({ identityId, role }) => ({ action: 'app.role.removed', ...act, identityId, details: { role } }) as const,
  )
  await recordAuditEvents(tx, [...given, ...taken], now)
}

/** Lists the keys of the roles of an identity in an app, by itself and by its groups. */
export function listRolesOf(db: Database | Transaction, clientId: ClientId, identityId: IdentityId): Promise<string[]> {
  return store.listRolesOf(db, clientId, identityId)
}

/** Lists the roles that were assigned to an identity, as its owner exports them. */
export async function exportRolesOf(db: Database, identityId: IdentityId) {
  const rows = await store.listAssignedRoles(db, identityId)
  return rows.map(({ assignedAt, ...role }) => ({ ...role, assignedAt: assignedAt.toISOString() }))
}

/** Takes all roles from identities that are being deleted, and are locked. */
export function deleteRolesOf(tx: Transaction, identityIds: IdentityId[]): Promise<void> {
  return store.deleteRolesOf(tx, identityIds)
}
