import type { IdentityDeletion, NewIdentityDeletion } from '@countersign/protocol/accounts/deletion'
import { isDisplayName } from '@countersign/protocol/formats/display-name'
import { normalizeHandle } from '@countersign/protocol/formats/handle'
import { limits } from '@countersign/protocol/formats/limits'
import type { IdentityId } from '@countersign/protocol/ids'
import { endIdentity } from '#accounts/account/deletion.ts'
import { findIdentity, type IdentityRow, verifiedEmailOf } from '#accounts/identities/identity.ts'
import {
  type DeletionRow,
  findDeletion,
  lockAccountOfIdentity,
  recordDeletion,
  removeDeletion,
  suspendsAccount,
} from '#accounts/identities/suspension.ts'
import {
  deleteInvited,
  findInvited,
  type InvitedRow,
  missingIdentity,
} from '#accounts/invitations/invited/invited-identity.ts'
import { eventActorOf } from '#accounts/operators/acting-operator.ts'
import { requireRightsOver } from '#accounts/operators/operator.ts'
import { auditFieldsOf, type Operator, operatorTransaction } from '#accounts/operators/operator-guard.ts'
import { holdActing } from '#accounts/sessions/acting.ts'
import { ApiError, defineErrors } from '#platform/api-error.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { addSeconds } from '#platform/clock.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import { rehearse } from '#platform/database/rehearsal.ts'
import type { Lifecycle } from '#platform/module/lifecycle.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { deletionMail } from './deletion-mail.ts'

const errors = defineErrors({
  identity_not_found: [404, 'No identity has this ID.'],
  invalid_request: [400, 'reason must be 1 to 500 visible characters in one line.'],
})
const sentences = {
  erasure: 'retainDays can be 0 only with legalErasure.',
  confirm: 'confirm must be the username of this identity.',
}

type Services = { kernel: ServerContext; lifecycle: Lifecycle }
type Act = { operator: Operator; identityId: IdentityId }
type Deletion = Act & NewIdentityDeletion
/** `notified`: the identity whose user gets a mail. */
export type Outcome = { row: Omit<DeletionRow, 'userId'>; notified?: IdentityRow }

/**
 * Suspends an identity and schedules its deletion, or deletes it at once if the law requires it. What would refuse the
 * deletion refuses the schedule. A repeated request changes nothing, except that it can delete at once. The user gets a
 * mail. An invited identity has no user, and is deleted at once. Throws `identity_not_found`, `operator_protected`,
 * `invalid_request`, `last_owner`, `owns_apps` or `state_changed`.
 */
export async function scheduleDeletion(services: Services, deletion: Deletion, now: Date): Promise<IdentityDeletion> {
  const { reason, retainDays, legalErasure } = deletion
  if (!isDisplayName(reason, limits.suspensionReasonCharactersMax)) throw errors.invalid_request()
  if (retainDays === 0 && !legalErasure) throw errors.invalid_request({ sentence: sentences.erasure })
  const { db } = services.kernel
  const outcome = await operatorTransaction(db, deletion.operator, async (tx) => {
    const invited = await findInvited(tx, deletion.identityId)
    return invited ? endInvited(tx, services, { ...deletion, invited }, now) : decide(tx, services, deletion, now)
  })
  await notifyOfDeletion(services.kernel, outcome)
  return toDeletion(outcome.row)
}

type ByDirectory = Act & { reason: string }

/**
 * Deletes an identity for a directory that manages it, in its transaction: an invited one at once, else in a week. The
 * caller sends the mail with `notifyOfDeletion` after the commit. Throws as `scheduleDeletion`.
 */
export async function deleteForDirectory(
  tx: Transaction,
  services: Services,
  { operator, identityId, reason }: ByDirectory,
  now: Date,
): Promise<Outcome> {
  const invited = await findInvited(tx, identityId)
  const identity = invited ?? (await findIdentity(tx, identityId))
  if (!identity) throw errors.identity_not_found()
  const deletion = { operator, identityId, reason, confirm: identity.handle }
  return invited ? endInvited(tx, services, { ...deletion, invited }, now) : decide(tx, services, deletion, now)
}

/** Deletes an invited identity: there is nothing to keep for a restoration. */
async function endInvited(
  tx: Transaction,
  { lifecycle }: Services,
  { operator, identityId, confirm, reason, invited }: Deletion & { invited: InvitedRow },
  now: Date,
): Promise<Outcome> {
  requireConfirmed(confirm, invited)
  await deleteInvited(tx, { operator, identityId }, now)
  await lifecycle.end(tx, 'invited', { identityIds: [identityId] }, now)
  const event = { action: 'identity.deleted', ...auditFieldsOf(operator), identityId, details: { reason } } as const
  await recordAuditEvent(tx, event, now)
  return { row: { identityId, reason, scheduledAt: now, dueAt: now } }
}

function requireConfirmed(confirm: string, { handle }: { handle: string }): void {
  if (normalizeHandle(confirm) !== normalizeHandle(handle))
    throw errors.invalid_request({ sentence: sentences.confirm })
}

async function decide(tx: Transaction, { lifecycle }: Services, deletion: Deletion, now: Date): Promise<Outcome> {
  const { operator, identityId, confirm, reason, retainDays = limits.deletionRetainDays } = deletion
  const { userId, identity, endsSuspension } = await lockForOperator(tx, { operator, identityId }, now)
  requireConfirmed(confirm, identity)
  const key = { userId, identityId }
  const by = eventActorOf(operator)
  const event = { ...auditFieldsOf(operator), ...key } as const
  if (retainDays === 0) {
    await endIdentity(tx, lifecycle, { ...key, by }, now)
    if (endsSuspension) await recordAuditEvent(tx, { action: 'identity.activated', ...event }, now)
    const details = { reason, legalErasure: true }
    await recordAuditEvent(tx, { action: 'identity.deleted', ...event, details }, now)
    return { row: { ...key, reason, scheduledAt: now, dueAt: now }, notified: identity }
  }
  const before = await findDeletion(tx, key)
  if (before) return { row: before }
  // The rehearsal would lock the session of the operator too, and release it at its end.
  await holdActing(tx)
  await rehearse(tx, () => endIdentity(tx, lifecycle, { ...key, by }, now))
  const row = { ...key, reason, scheduledAt: now, dueAt: addSeconds(now, retainDays * 86_400) }
  const { identityIds, all } = await recordDeletion(tx, row, by, now)
  const ending = { userId, identityIds, which: all ? 'all' : 'of identities' } as const
  await lifecycle.end(tx, 'access', ending, now)
  await lifecycle.end(tx, 'sessions', ending, now)
  const details = { reason, dueAt: row.dueAt.toISOString() }
  await recordAuditEvent(tx, { action: 'identity.deletion_scheduled', ...event, details }, now)
  return { row, notified: identity }
}

/**
 * Undoes the scheduled deletion of an identity, with the suspension that came with it. Other suspensions remain, and
 * tokens, sessions and delegations do not return. Does nothing if there is none. Throws `identity_not_found`,
 * `identity_invited` and `operator_protected`.
 */
export async function restoreIdentity(db: Database, { operator, identityId }: Act, now: Date): Promise<void> {
  await operatorTransaction(db, operator, async (tx) => {
    const account = await lockAccountOfIdentity(tx, identityId)
    if (!account) throw await missingIdentity(tx, identityId)
    const key = { userId: account.userId, identityId }
    // Like the activation of what is not suspended, an act without effect is not refused.
    if (!(await findDeletion(tx, key))) return
    await requireRightsOver(tx, operator, { accountIdentityIds: account.identityIds, affectedIds: [identityId] })
    await removeDeletion(tx, key, now)
    await recordAuditEvent(tx, { action: 'identity.restored', ...auditFieldsOf(operator), ...key }, now)
  })
}

/**
 * Locks an account for the deletion of an identity. A suspension of the account through the identity ends with it, so
 * that the deletion needs the same rights as the activation. Throws `identity_not_found` and `operator_protected`.
 */
async function lockForOperator(tx: Transaction, { operator, identityId }: Act, now: Date) {
  const account = await lockAccountOfIdentity(tx, identityId)
  const identity = account && (await findIdentity(tx, identityId))
  if (!identity) throw errors.identity_not_found()
  const { userId, identityIds } = account
  const endsSuspension = await suspendsAccount(tx, { userId, identityId }, now)
  const affectedIds = endsSuspension ? identityIds : [identityId]
  await requireRightsOver(tx, operator, { accountIdentityIds: identityIds, affectedIds })
  return { userId, identity, endsSuspension }
}

/** Sends the mail, if there is someone to get it. The deletion is committed, so a failure to send is only logged. */
export async function notifyOfDeletion(
  { mail, log, config }: ServerContext,
  { notified, row }: Outcome,
): Promise<void> {
  const to = notified ? verifiedEmailOf(notified) : null
  if (!notified || to === null) return
  try {
    await mail.send(deletionMail({ to, handle: notified.handle, config, ...row }))
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    log.warn({ identityId: row.identityId, reason: error.code }, 'notification of a deletion failed')
  }
}

function toDeletion({ identityId, reason, scheduledAt, dueAt }: Outcome['row']): IdentityDeletion {
  return { identityId, reason, scheduledAt: scheduledAt.toISOString(), dueAt: dueAt.toISOString() }
}
