import { limits } from '@countersign/protocol/formats/limits'
import { type OperatorRole, permissionsOf } from '@countersign/protocol/formats/registries/permissions'
import type * as protocol from '@countersign/protocol/accounts/operators'
import type { IdentityId, UserId } from '@countersign/protocol/ids'
import { findByHandle, findIdentity, lockIdentityWithUser } from '#accounts/identities/identity.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import { ApiError, defineErrors } from '#platform/api-error.ts'
import type { ServerContext } from '#platform/module/services.ts'
import type { Mail } from '#platform/outbound/mail.ts'
import {
  auditFieldsOf,
  hasRightsOf,
  identityOf,
  type Operator,
  operatorTransaction,
  ownTransaction,
  requirePermissions,
  rightsHolderOf,
} from './acting-operator.ts'
import * as store from './store.ts'
import * as setupStore from './setup-store.ts'
import * as tokenStore from './token-store.ts'

const errors = defineErrors({
  invalid_request: [400, 'An operator who leaves cannot keep tokens.'],
  identity_not_found: [404, 'No identity has this username, or it is invited and has no account yet.'],
  operator_not_found: [404, 'No operator has this ID.'],
  last_owner: [409, 'The service must have an owner. Make another identity an owner first.'],
  operator_exists: [409, 'This identity is an operator already.'],
  operator_protected: [403, 'This identity is an operator with rights that you do not have.'],
  too_many_operators: [409, `There can be at most ${limits.operatorsMax} operators.`],
})

const ownAccount = 'Operators cannot do this to their own account.'

/** What happens to the admin tokens of an operator who loses rights. */
type TokensOfOperator = 'revoke' | 'keep'

export async function listOperators(db: Database): Promise<protocol.Operator[]> {
  return (await store.listOperators(db)).map(toOperator)
}

/**
 * Makes an identity an operator. Throws `permission_denied` for a role with more rights than the caller has,
 * `identity_not_found`, `operator_exists` or `too_many_operators`.
 */
export async function addOperator(
  db: Database,
  operator: Operator,
  { handle, role }: { handle: string; role: OperatorRole },
  now: Date,
): Promise<protocol.Operator> {
  requirePermissions(operator, permissionsOf(role))
  const found = await findByHandle(db, handle)
  if (!found) throw errors.identity_not_found()
  return operatorTransaction(db, operator, async (tx) => {
    const identity = await lockIdentityWithUser(tx, found.identityId)
    if (!identity) throw errors.identity_not_found()
    const { identityId, userId } = identity
    const granted = { identityId, role, grantedBy: identityOf(operator) }
    const outcome = await store.insertOperator(tx, granted, { max: limits.operatorsMax, now })
    if (outcome === 'exists') throw errors.operator_exists()
    if (outcome === 'too many') throw errors.too_many_operators()
    // Else a link would count again if this operator leaves.
    await setupStore.deleteLinks(tx)
    const event = { action: 'operator.added', userId, identityId, details: { role } } as const
    await recordAuditEvent(tx, { ...event, ...auditFieldsOf(operator) }, now)
    return readOperator(tx, identityId)
  })
}

/** Mail to an owner by their address, and what is logged if it cannot be sent. */
type OwnerNotice = { mailTo: (to: string) => Mail; failure: string }

/**
 * Mails the active owners with a verified address. The request does not wait for the mails: what they tell of must not
 * fail because the mail server does.
 */
export async function mailOwners(
  { db, config, mail, log }: ServerContext,
  { mailTo, failure }: OwnerNotice,
  now: Date,
): Promise<void> {
  if (config.mail.by === 'nothing') return
  for (const to of await store.listOwnerAddresses(db, now))
    void mail.send(mailTo(to)).catch((error: unknown) => {
      log.warn(error instanceof ApiError ? { reason: error.code } : { err: error }, failure)
    })
}

type Change = { identityId: IdentityId; tokens: TokensOfOperator }

/**
 * Changes the role of an operator, and revokes the admin tokens that they created or keeps them, limited to the new
 * role. Throws `permission_denied`, `operator_not_found` or `last_owner`.
 */
export async function updateOperator(
  db: Database,
  operator: Operator,
  { identityId, role, tokens }: Change & { role: OperatorRole },
  now: Date,
): Promise<protocol.Operator> {
  requirePermissions(operator, permissionsOf(role))
  return changing(db, operator, identityId, async (tx, before) => {
    const grantedBy = identityOf(operator)
    if (!(await store.updateRole(tx, targetOf(operator, identityId), { role, grantedBy }, now)))
      throw await refusalOf(tx, identityId)
    if (tokens === 'revoke') await tokenStore.deleteTokensOf(tx, [identityId])
    await audit(tx, operator, { action: 'operator.updated', identityId, details: { role, from: before.role } }, now)
    return readOperator(tx, identityId)
  })
}

/**
 * Removes an operator, and revokes the admin tokens that they created or lets them belong to the caller. Throws
 * `permission_denied`, `operator_not_found`, `last_owner`, or `invalid_request` for keeping tokens of the caller.
 */
export async function removeOperator(
  db: Database,
  operator: Operator,
  { identityId, tokens }: Change,
  now: Date,
): Promise<void> {
  const caller = identityOf(operator)
  if (tokens === 'keep' && caller === identityId) throw errors.invalid_request()
  await changing(db, operator, identityId, async (tx, { role }) => {
    if (!(await store.deleteOperator(tx, targetOf(operator, identityId), now))) throw await refusalOf(tx, identityId)
    const transfer = { from: identityId, to: caller, permissions: permissionsOf(role) }
    if (tokens === 'keep') await tokenStore.transferTokens(tx, transfer)
    if (tokens === 'revoke') await tokenStore.deleteTokensOf(tx, [identityId])
    await audit(tx, operator, { action: 'operator.removed', identityId, details: { role } }, now)
  })
}

/** Ends the roles of identities that are being deleted, and their admin tokens. Throws `last_owner`. */
export async function endOperators(tx: Transaction, identityIds: IdentityId[], now: Date): Promise<void> {
  if (!(await store.deleteOperatorsOf(tx, identityIds, now))) throw errors.last_owner()
  await tokenStore.deleteTokensOf(tx, identityIds)
}

/**
 * Ends the roles of identities whose account is recovered, and their admin tokens, also those of the last owner: a
 * reader of the mail of an operator would otherwise become one.
 */
export async function stripOperators(tx: Transaction, identityIds: IdentityId[], now: Date): Promise<void> {
  const stripped = await store.deleteRolesOf(tx, identityIds)
  await tokenStore.deleteTokensOf(tx, identityIds)
  for (const { identityId, role } of stripped)
    await audit(tx, null, { action: 'operator.removed', identityId, details: { role, by: 'recovery' } }, now)
}

/** Throws `operator_protected` if an operator is among identities on which the service itself acts. */
export async function requireNoOperators(tx: Transaction, identityIds: IdentityId[]): Promise<void> {
  if ((await store.listRolesOf(tx, identityIds)).length > 0) throw errors.operator_protected()
}

/** Revokes the admin tokens of identities that are being suspended. Throws `last_owner` if no active owner remains. */
export async function suspendOperators(tx: Transaction, identityIds: IdentityId[], now: Date): Promise<void> {
  const roles = await store.listRolesOf(tx, identityIds)
  const isOwner = roles.some(({ role }) => role === 'owner')
  if (isOwner && !(await store.leavesOwner(tx, identityIds, now))) throw errors.last_owner()
  await tokenStore.deleteTokensOf(tx, identityIds)
}

/** An account on which an operator acts, and those of its identities that are affected. */
type ActOnAccount = { accountIdentityIds: IdentityId[]; affectedIds: IdentityId[] }

/**
 * Throws `operator_protected` if an operator acts on their own account, or on an operator with rights that they lack.
 */
export async function requireRightsOver(
  tx: Transaction,
  operator: Operator,
  { accountIdentityIds, affectedIds }: ActOnAccount,
): Promise<void> {
  const own = rightsHolderOf(operator)
  if (own !== null && accountIdentityIds.includes(own)) throw errors.operator_protected({ sentence: ownAccount })
  await requireRightsOfAll(tx, operator, affectedIds)
}

/**
 * Throws `operator_protected` if one of the identities belongs to the account of the operator who acts, or is an
 * operator with rights that they lack.
 */
export async function requireOtherAccounts(
  tx: Transaction,
  operator: Operator,
  identityIds: IdentityId[],
): Promise<void> {
  await requireRightsOfAll(tx, operator, identityIds)
  await requireNotOwnAccount(tx, operator, identityIds)
}

/** Throws `operator_protected` if one of the identities belongs to the account of the operator who acts. */
export async function requireNotOwnAccount(
  tx: Transaction,
  operator: Operator,
  identityIds: IdentityId[],
): Promise<void> {
  if (await isInAccountOf(tx, rightsHolderOf(operator), identityIds))
    throw errors.operator_protected({ sentence: ownAccount })
}

/** Tells if one of the identities belongs to the account of an operator. ADMIN_TOKEN has none. */
export async function isInAccountOf(
  tx: Transaction,
  operatorId: IdentityId | null,
  identityIds: IdentityId[],
): Promise<boolean> {
  return operatorId !== null && (await store.isInAccountOf(tx, operatorId, identityIds))
}

/** Throws `operator_protected` unless an operator has the rights of all operators among identities. */
async function requireRightsOfAll(tx: Transaction, operator: Operator, identityIds: IdentityId[]): Promise<void> {
  const roles = await store.listRolesOf(tx, identityIds)
  if (!roles.every(({ role }) => hasRightsOf(operator, role))) throw errors.operator_protected()
}

/** Lists the identities of a user that are operators, with their present rights. */
export async function listOwnOperators(db: Database, userId: UserId, now: Date): Promise<protocol.OwnOperator[]> {
  const found = await store.listOwnOperators(db, userId, now)
  return found.map((operator) => ({ ...operator, permissions: permissionsOf(operator.role) }))
}

/** Runs a change of an operator by a caller who has all the rights of that operator. */
function changing<Result>(
  db: Database,
  operator: Operator,
  identityId: IdentityId,
  work: (tx: Transaction, before: store.OperatorRow) => Promise<Result>,
): Promise<Result> {
  const run = identityOf(operator) === identityId ? ownTransaction : operatorTransaction
  return run(db, operator, async (tx) => {
    const before = await store.findOperator(tx, identityId)
    if (!before) throw errors.operator_not_found()
    requirePermissions(operator, permissionsOf(before.role))
    return work(tx, before)
  })
}

function targetOf(operator: Operator, identityId: IdentityId) {
  const isOwn = operator.kind === 'session' && operator.identityId === identityId
  return { identityId, heldRole: isOwn ? operator.role : undefined }
}

async function refusalOf(tx: Transaction, identityId: IdentityId) {
  return (await store.findOperator(tx, identityId)) ? errors.last_owner() : errors.operator_not_found()
}

async function readOperator(tx: Transaction, identityId: IdentityId): Promise<protocol.Operator> {
  const found = await store.findOperator(tx, identityId)
  if (!found) throw errors.operator_not_found()
  return toOperator(found)
}

const bySystem = { actor: 'system' } as const
type OperatorEvent = {
  action: 'operator.updated' | 'operator.removed'
  identityId: IdentityId
  details: Record<string, string>
}

async function audit(tx: Transaction, operator: Operator | null, event: OperatorEvent, now: Date): Promise<void> {
  const identity = await findIdentity(tx, event.identityId)
  await recordAuditEvent(
    tx,
    { ...event, ...(identity && { userId: identity.userId }), ...(operator ? auditFieldsOf(operator) : bySystem) },
    now,
  )
}

function toOperator({ grantedAt, ...row }: store.OperatorRow): protocol.Operator {
  return { ...row, grantedAt: grantedAt.toISOString() }
}
