import {
  type OperatorRole,
  type Permission,
  permissions,
  permissionsOf,
} from '@countersign/protocol/formats/registries/permissions'
import type { EventActor } from '@countersign/protocol/clients/webhook-events'
import type { IdentityId } from '@countersign/protocol/ids'
import type { AuditEvent } from '#platform/audit/audit-log.ts'
import { type Database, type Transaction, ensureTransaction, transaction } from '#platform/database/database.ts'
import { defineErrors } from '#platform/api-error.ts'
import { actingTransaction } from '#accounts/sessions/acting.ts'
import { type PasskeySession, requireRecentAuthentication } from '#accounts/sessions/session.ts'
import * as store from './store.ts'
import * as tokenStore from './token-store.ts'

/** Operator who acts: by ADMIN_TOKEN, by an admin token or a SCIM token, or as one of their identities in a session. */
export type Operator =
  | { actor: 'operator'; kind: 'break_glass' }
  | {
      actor: 'operator'
      kind: 'token'
      tokenId: string
      name: string
      permissions: readonly string[]
      /** Operator who created the token, and their present role. Null for a token that ADMIN_TOKEN created. */
      createdBy: IdentityId | null
      role: OperatorRole | null
      /** When these rights were read. */
      readAt: Date
    }
  | {
      actor: 'operator'
      kind: 'session'
      identityId: IdentityId
      role: OperatorRole
      session: PasskeySession
      readAt: Date
    }
  | {
      actor: 'operator'
      kind: 'scim'
      tokenId: string
      name: string
      /** Operator by whose rights the token acts. Null for a token that ADMIN_TOKEN created. */
      createdBy: IdentityId | null
      /** Locks the token against changes until the transaction ends. Returns false if it does not count any more. */
      hold: (tx: Transaction) => Promise<boolean>
    }

/** What a SCIM token may do, to what it manages. It counts as long as its creator may do this too. */
export const scimPermissions: readonly Permission[] = [
  'people.read',
  'people.edit',
  'people.suspend',
  'people.delete',
  'people.invite',
  'groups.read',
  'groups.manage',
]

const errors = defineErrors({
  permission_denied: [403, 'The role or token has no permission for this.'],
})

/** Creates the error for a missing permission. */
function deniedError(permission: Permission) {
  return errors.permission_denied({ sentence: `This requires the permission ${permission}.`, fields: { permission } })
}

/**
 * Returns the permissions of an operator now. A token has those of its own that its creator has too: a token that
 * outlived the rights of its creator would be a way to keep them.
 */
function permissionsOfOperator(operator: Operator): readonly Permission[] {
  switch (operator.kind) {
    case 'break_glass':
      return permissions
    case 'session':
      return permissionsOf(operator.role)
    case 'token': {
      const limit =
        operator.createdBy === null ? permissions : operator.role === null ? [] : permissionsOf(operator.role)
      return limit.filter((permission) => operator.permissions.includes(permission))
    }
    case 'scim':
      return scimPermissions
  }
}

/** Checks whether an operator has all permissions of a role. */
export function hasRightsOf(operator: Operator, role: OperatorRole): boolean {
  const held = permissionsOfOperator(operator)
  return permissionsOf(role).every((permission) => held.includes(permission))
}

/** Tells if an operator has a permission. */
export function hasPermission(operator: Operator, permission: Permission): boolean {
  return permissionsOfOperator(operator).includes(permission)
}

/** Throws `permission_denied`, which names the first permission that the operator lacks. */
export function requirePermissions(operator: Operator, required: readonly Permission[]): void {
  const held = permissionsOfOperator(operator)
  const missing = required.find((permission) => !held.includes(permission))
  if (missing !== undefined) throw deniedError(missing)
}

/** Throws `reauthentication_required` if an operator with a session has not used a passkey recently. */
export function requireRecentAuthenticationOfOperator(operator: Operator, now: Date): void {
  if (operator.kind === 'session') requireRecentAuthentication(operator.session, now)
}

/** Returns the fields of audit events that name the operator who acted. Only operators can read them. */
export function auditFieldsOf(operator: Operator): Pick<AuditEvent, 'actor' | 'operator'> & { actor: 'operator' } {
  const { actor, kind } = operator
  switch (kind) {
    case 'break_glass':
      return { actor, operator: { kind } }
    case 'token':
    case 'scim':
      return { actor, operator: { kind, id: operator.tokenId, name: operator.name } }
    case 'session':
      return { actor, operator: { kind: 'operator', id: operator.identityId } }
  }
}

/** Returns the key by which the requests of an operator are counted: of an identity or a token, or of ADMIN_TOKEN. */
export function operatorKeyOf(operator: Operator): string {
  switch (operator.kind) {
    case 'break_glass':
      return operator.kind
    case 'token':
    case 'scim':
      return operator.tokenId
    case 'session':
      return operator.identityId
  }
}

/** Returns the identity that acts, or null for ADMIN_TOKEN and admin tokens. */
export function identityOf(operator: Operator): IdentityId | null {
  return operator.kind === 'session' ? operator.identityId : null
}

/** Returns the identity by whose rights an operator acts: their own, or that of a token's creator. Null without one. */
export function rightsHolderOf(operator: Operator): IdentityId | null {
  switch (operator.kind) {
    case 'break_glass':
      return null
    case 'session':
      return operator.identityId
    case 'token':
    case 'scim':
      return operator.createdBy
  }
}

/** Returns how events name an operator. */
export function eventActorOf({ kind }: Operator): EventActor {
  return kind === 'scim' ? 'scim' : 'operator'
}

/** Returns what an operator is called in suspensions and managed objects: `scim:` and an ID, or `operator`. */
export function sourceOf(operator: Operator): string {
  return operator.kind === 'scim' ? `scim:${operator.tokenId}` : 'operator'
}

/**
 * Runs a change by an operator. It commits only if the session, the token and the role that permit it still exist at
 * its end. As a part of a larger change by the same operator, `db` is its transaction, which checks this. Throws
 * `unauthorized`, `reauthentication_required` or `permission_denied`.
 */
export function operatorTransaction<Result>(
  db: Database,
  operator: Operator,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  if (db.isTransaction) return ensureTransaction(db, work)
  return ownTransaction(db, operator, async (tx) => {
    const result = await work(tx)
    await requireUnchanged(tx, operator)
    return result
  })
}

/** Like `operatorTransaction`, for a change of the caller's own role, whose statement requires the present role. */
export function ownTransaction<Result>(
  db: Database,
  operator: Operator,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  return operator.kind === 'session' ? actingTransaction(db, operator.session, work) : transaction(db, work)
}

async function requireUnchanged(tx: Transaction, operator: Operator): Promise<void> {
  if (operator.kind === 'break_glass') return
  if (operator.kind === 'token' && !(await tokenStore.holdToken(tx, operator.tokenId))) throw errors.permission_denied()
  if (operator.kind === 'scim') {
    if (await operator.hold(tx)) return
    throw errors.permission_denied()
  }
  const identityId = rightsHolderOf(operator)
  if (identityId === null) return
  const held = await store.holdRole(tx, identityId, operator.readAt)
  if (held?.role !== operator.role) throw errors.permission_denied()
}

/** Whose rights something that an operator created needs later. ADMIN_TOKEN if both are null. */
export type Rights = { operatorId: IdentityId | null; tokenId: string | null }

/** Returns by whose rights an operator acts, to be kept with what they create. */
export function rightsOf(operator: Operator): Rights {
  return { operatorId: rightsHolderOf(operator), tokenId: operator.kind === 'token' ? operator.tokenId : null }
}

/** Returns the permissions that still stand. Nothing takes them away before the transaction ends. */
export async function holdRights(tx: Transaction, rights: Rights, now: Date): Promise<readonly Permission[]> {
  const { operatorId, tokenId } = rights
  const role = operatorId === null ? undefined : (await store.holdRole(tx, operatorId, now))?.role
  const ofToken = tokenId === null ? undefined : await tokenStore.holdPermissions(tx, tokenId, now)
  return standing(rights, role, ofToken)
}

/** Reads the permissions that stand now of those of several. Returns the function that gives them. */
export async function readRights(
  db: Database,
  several: readonly Rights[],
  now: Date,
): Promise<(rights: Rights) => readonly Permission[]> {
  const operatorIds = new Set(several.flatMap(({ operatorId }) => operatorId ?? []))
  const tokenIds = new Set(several.flatMap(({ tokenId }) => tokenId ?? []))
  const roles = new Map(
    (await store.listActiveRoles(db, [...operatorIds], now)).map((each) => [each.identityId, each.role]),
  )
  const tokens = new Map(
    (await tokenStore.listPermissions(db, [...tokenIds], now)).map((each) => [each.tokenId, each.permissions]),
  )
  return (rights) => {
    const { operatorId, tokenId } = rights
    const role = operatorId === null ? undefined : roles.get(operatorId)
    return standing(rights, role, tokenId === null ? undefined : tokens.get(tokenId))
  }
}

function standing(
  { operatorId, tokenId }: Rights,
  role: OperatorRole | undefined,
  ofToken: readonly string[] | undefined,
): readonly Permission[] {
  if (operatorId !== null && role === undefined) return []
  const ofRole = role === undefined ? permissions : permissionsOf(role)
  return tokenId === null ? ofRole : ofRole.filter((permission) => ofToken?.includes(permission) === true)
}
