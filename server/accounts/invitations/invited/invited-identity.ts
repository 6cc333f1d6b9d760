import type { IdentityId } from '@countersign/protocol/ids'
import { freeHandle } from '#accounts/identities/handle.ts'
import { removeTerms } from '#accounts/identities/terms/term.ts'
import { auditFieldsOf, type Operator } from '#accounts/operators/operator-guard.ts'
import { type ApiError, defineErrors } from '#platform/api-error.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import { deleteOfIdentity } from '../store.ts'
import * as store from './store.ts'
import type { InvitedRow } from './store.ts'

export { findInvited, findInvitedOfToken, listGroupIds, lockInvited, releaseInvited } from './store.ts'
export type { InvitedRow }

const errors = defineErrors({
  identity_not_found: [404, 'No identity has this ID.'],
  state_changed: [409, 'The identity was accepted or deleted meanwhile. Read it again.'],
  identity_invited: [409, 'The identity is invited and has no account yet. It can be invited again or deleted.'],
})

/** Returns why no account has an identity, to which an act would apply: `identity_invited` or `identity_not_found`. */
export async function missingIdentity(db: Database, identityId: IdentityId): Promise<ApiError> {
  return (await store.findInvited(db, identityId)) ? errors.identity_invited() : errors.identity_not_found()
}

/**
 * Ends the state of an invited identity that the transaction has given to an account. Its handle and its terms are now
 * those of the identity. Returns undefined if it is not invited any more.
 */
export function acceptInvited(tx: Transaction, identityId: IdentityId): Promise<InvitedRow | undefined> {
  return store.deleteInvited(tx, identityId)
}

/**
 * Deletes an invited identity with its invitation, and frees its handle. Throws `state_changed` unless it is still
 * invited: the caller's transaction then undoes all of it.
 */
export async function deleteInvited(
  tx: Transaction,
  { operator, identityId }: { operator: Operator; identityId: IdentityId },
  now: Date,
): Promise<void> {
  // Locks in the order of an acceptance: handle, identity, invitation.
  await freeHandle(tx, identityId)
  if (!(await store.deleteInvited(tx, identityId))) throw errors.state_changed()
  await revokeInvitation(tx, { operator, identityId }, now)
  await removeTerms(tx, identityId)
}

/** Deletes the invitation of an invited identity, so that its link ends. */
export async function revokeInvitation(
  tx: Transaction,
  { operator, identityId }: { operator: Operator; identityId: IdentityId },
  now: Date,
): Promise<void> {
  const deleted = await deleteOfIdentity(tx, identityId)
  if (!deleted) return
  await recordAuditEvent(tx, { action: 'invitation.deleted', ...auditFieldsOf(operator), details: { ...deleted } }, now)
}
