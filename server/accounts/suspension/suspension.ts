import type { NewSuspension, Suspension, SuspensionScope } from '@countersign/protocol/accounts/suspension'
import { isDisplayName } from '@countersign/protocol/formats/display-name'
import { limits } from '@countersign/protocol/formats/limits'
import type { IdentityId } from '@countersign/protocol/ids'
import { queueLogouts } from '#accounts/backchannel-logout/logout.ts'
import { findIdentity } from '#accounts/identities/identity.ts'
import {
  type SuspensionRow,
  listSuspensions,
  lockAccountOfIdentity,
  recordSuspension,
  removeSuspension,
} from '#accounts/identities/suspension.ts'
import { missingIdentity } from '#accounts/invitations/invited/invited-identity.ts'
import { requireRightsOver } from '#accounts/operators/operator.ts'
import { sourceOf } from '#accounts/operators/acting-operator.ts'
import { auditFieldsOf, type Operator, operatorTransaction } from '#accounts/operators/operator-guard.ts'
import { defineErrors } from '#platform/api-error.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import { readInstant } from '#platform/http/instant.ts'
import type { Endings, Lifecycle } from '#platform/module/lifecycle.ts'

const errors = defineErrors({
  invalid_request: [400, 'reason must be 1 to 500 visible characters in one line.'],
  managed_elsewhere: [409, 'A directory has deactivated this identity by SCIM. It activates the identity there.'],
  version_mismatch: [412, 'The identity was changed meanwhile. Read it again.'],
})

type Services = { db: Database; lifecycle: Lifecycle }
type Ending = Endings['access']
type Act = { operator: Operator; identityId: IdentityId }
/** `version`: the one of the identity that the operator has read. Absent for any. */
type NewAct = Act & NewSuspension & { version?: number | undefined }

/**
 * Suspends an identity, or its whole account, and ends what it can use in the same transaction. The account is locked
 * first. Every statement that begins something locks the user, the identity or the row that it uses, and reads again
 * whether it may: what was faster is found and ended here, what was slower finds the suspension.
 *
 * Throws `identity_not_found`, `identity_invited`, `operator_protected`, `version_mismatch` and `invalid_request`. The
 * answer is the same whatever else is suspended in the account.
 */
export async function suspend(
  { db, lifecycle }: Services,
  { operator, identityId, version, reason, scope = 'account', until }: NewAct,
  now: Date,
): Promise<Suspension> {
  if (!isDisplayName(reason, limits.suspensionReasonCharactersMax)) throw errors.invalid_request()
  const suspendedUntil = until === undefined ? null : readInstant(until)
  if (suspendedUntil && suspendedUntil <= now)
    throw errors.invalid_request({ sentence: 'until must be in the future.' })
  return operatorTransaction(db, operator, async (tx) => {
    const account = await lockAccount(tx, { operator, identityId, scope })
    const { userId } = account
    const source = sourceOf(operator)
    const before = (await listSuspensions(tx, { userId, identityId }, now)).find((each) => each.source === source)
    // A narrower suspension frees the other identities of the account.
    if (before?.scope === 'account') await requireRights(tx, operator, { ...account, identityId, scope: before.scope })
    const row = { userId, identityId, source, scope, reason, suspendedAt: before?.suspendedAt ?? now, suspendedUntil }
    if (before && isSame(before, row)) return toSuspension(before)
    if (version !== undefined && (await findIdentity(tx, identityId))?.version !== version)
      throw errors.version_mismatch()
    const suspended = await recordSuspension(tx, row, now)
    const ending: Ending = {
      userId,
      identityIds: suspended.identityIds,
      which: suspended.all ? 'all' : 'of identities',
    }
    await lifecycle.end(tx, 'access', ending, now)
    await endSessions(tx, lifecycle, ending, now)
    const details = { scope, reason, ...(suspendedUntil && { until: suspendedUntil.toISOString() }) }
    await recordAuditEvent(
      tx,
      { action: 'identity.suspended', ...auditFieldsOf(operator), userId, identityId, details },
      now,
    )
    return toSuspension(row)
  })
}

/**
 * Ends the suspension of a source through an identity. Those of other sources and through other identities of its
 * account stay. Tokens, sessions and delegations do not return. Does nothing if there is none. Throws
 * `identity_not_found` and `identity_invited`, and `managed_elsewhere` to operators if only a directory suspends it.
 */
export async function activate(db: Database, { operator, identityId }: Act, now: Date): Promise<void> {
  await operatorTransaction(db, operator, async (tx) => {
    const account = await lockAccountOfIdentity(tx, identityId)
    if (!account) throw await missingIdentity(tx, identityId)
    const { userId } = account
    // A refusal tells of operators in the account. An act without effect leaves no record of it, so it is not refused.
    const suspensions = await listSuspensions(tx, { userId, identityId }, now)
    const source = sourceOf(operator)
    const suspension = suspensions.find((each) => each.source === source)
    if (!suspension && suspensions.length > 0 && source === 'operator') throw errors.managed_elsewhere()
    if (!suspension) return
    await requireRights(tx, operator, { ...account, identityId, scope: suspension.scope })
    await removeSuspension(tx, { userId, identityId, source }, now)
    await recordAuditEvent(tx, { action: 'identity.activated', ...auditFieldsOf(operator), userId, identityId }, now)
  })
}

/**
 * Ends all sessions of the account of an identity, or what belongs to the identity alone: its sessions by SSO, and its
 * sign-ins to apps. Throws `identity_not_found` and `identity_invited`.
 */
export async function signOut(
  { db, lifecycle }: Services,
  { operator, identityId, scope = 'account' }: Act & { scope?: SuspensionScope },
  now: Date,
): Promise<void> {
  await operatorTransaction(db, operator, async (tx) => {
    const account = await lockAccount(tx, { operator, identityId, scope })
    const { userId } = account
    const identityIds = scope === 'account' ? account.identityIds : [identityId]
    if (scope === 'identity') await queueLogouts(tx, { identityIds }, now)
    const which = scope === 'account' ? 'all' : 'of identities'
    await endSessions(tx, lifecycle, { userId, identityIds, which }, now)
    const details = { scope }
    await recordAuditEvent(
      tx,
      { action: 'identity.signed_out', ...auditFieldsOf(operator), userId, identityId, details },
      now,
    )
  })
}

/** Ends all sessions of an account, or those that an organization has opened as one of the identities. */
async function endSessions(tx: Transaction, lifecycle: Lifecycle, ending: Ending, now: Date): Promise<void> {
  await lifecycle.end(tx, 'sessions', ending, now)
}

/**
 * Locks the account of an identity, for an operator who may act on it. Throws `identity_not_found`, `identity_invited`
 * and `operator_protected`.
 */
async function lockAccount(tx: Transaction, { operator, identityId, scope }: Act & { scope: SuspensionScope }) {
  const account = await lockAccountOfIdentity(tx, identityId)
  if (!account) throw await missingIdentity(tx, identityId)
  await requireRights(tx, operator, { ...account, identityId, scope })
  return account
}

type ActOnAccount = { identityIds: IdentityId[]; identityId: IdentityId; scope: SuspensionScope }

/** Throws `operator_protected`. */
function requireRights(tx: Transaction, operator: Operator, { identityIds, identityId, scope }: ActOnAccount) {
  const affectedIds = scope === 'account' ? identityIds : [identityId]
  return requireRightsOver(tx, operator, { accountIdentityIds: identityIds, affectedIds })
}

function isSame(before: SuspensionRow, after: SuspensionRow): boolean {
  return (
    before.scope === after.scope &&
    before.reason === after.reason &&
    before.suspendedUntil?.getTime() === after.suspendedUntil?.getTime()
  )
}

function toSuspension({ identityId, scope, reason, suspendedAt, suspendedUntil }: SuspensionRow): Suspension {
  const until = suspendedUntil?.toISOString() ?? null
  return { identityId, scope, reason, suspendedAt: suspendedAt.toISOString(), until }
}
