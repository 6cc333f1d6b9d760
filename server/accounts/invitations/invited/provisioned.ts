import { claimHandle, freeHandle } from '#accounts/identities/handle.ts'
import { setTerms } from '#accounts/identities/terms/term.ts'
import { sourceOf } from '#accounts/operators/acting-operator.ts'
import { auditFieldsOf, type Operator } from '#accounts/operators/operator-guard.ts'
import { limits } from '@countersign/protocol/formats/limits'
import { defineErrors } from '#platform/api-error.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import type { Transaction } from '#platform/database/database.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { renameOfIdentity } from '../store.ts'
import { draftOf, storeFor } from './addition.ts'
import { revokeInvitation } from './invited-identity.ts'
import type { InvitedRow } from './store.ts'
import * as store from './store.ts'

export { addGroup, removeGroup } from './store.ts'

const errors = defineErrors({
  too_many_invited_identities: [409, `There can be at most ${limits.invitedIdentitiesMax} invited identities.`],
})

type Deps = Pick<ServerContext, 'mail'>
type Provisioned = Pick<InvitedRow, 'identityId' | 'handle' | 'displayName' | 'email' | 'active'>

/**
 * Adds an invited identity that a source manages, in the transaction of the source. It is invited by mail, if it is
 * active and mail is set up. Throws `handle_taken`, `too_many_invited_identities`, `too_many_invitations`.
 */
export async function provisionInvited(
  deps: Deps,
  tx: Transaction,
  { operator, ...provisioned }: Provisioned & { operator: Operator },
  now: Date,
): Promise<void> {
  const { identityId, handle } = provisioned
  await claimHandle(tx, handle, identityId, now)
  const email = deps.mail.isSetUp ? provisioned.email : null
  const row = { ...provisioned, email, groupIds: [], managedBy: sourceOf(operator), createdAt: now }
  if (!(await store.insertInvited(tx, row))) throw errors.too_many_invited_identities()
  setTerms(tx, identityId, row)
  await recordAuditEvent(tx, { action: 'identity.invited', ...auditFieldsOf(operator), identityId }, now)
  await inviteByMail(deps, tx, { operator, row }, now)
}

/**
 * Changes an invited identity, which its source has locked. Another address, and the activation, send another
 * invitation; the deactivation ends it. Throws `handle_taken`, `too_many_invitations`.
 */
export async function changeProvisioned(
  deps: Deps,
  tx: Transaction,
  { operator, before, ...change }: Omit<Provisioned, 'identityId'> & { operator: Operator; before: InvitedRow },
  now: Date,
): Promise<void> {
  const { identityId } = before
  const email = deps.mail.isSetUp ? change.email : before.email
  const row = { ...before, ...change, email }
  const changed = (['handle', 'displayName', 'email', 'active'] as const).filter((each) => row[each] !== before[each])
  if (changed.length === 0) return
  const event = { action: 'identity.edited', ...auditFieldsOf(operator), identityId, details: { changed } } as const
  await recordAuditEvent(tx, event, now)
  if (row.handle !== before.handle) {
    await freeHandle(tx, identityId)
    await claimHandle(tx, row.handle, identityId, now)
  }
  await store.updateInvited(tx, row)
  setTerms(tx, identityId, row)
  const isInvitedAgain = row.active !== before.active || row.email !== before.email
  if (!isInvitedAgain) return renameOfIdentity(tx, row)
  await revokeInvitation(tx, { operator, identityId }, now)
  await inviteByMail(deps, tx, { operator, row }, now)
}

async function inviteByMail(
  deps: Deps,
  tx: Transaction,
  { operator, row }: { operator: Operator; row: InvitedRow },
  now: Date,
): Promise<void> {
  const { identityId, handle, displayName, email, active } = row
  if (!active || email === null) return
  const draft = draftOf(deps, { operator, browserLanguage: 'en', handle, displayName, email }, now)
  await storeFor(tx, { ...draft, identityId }, now)
}
