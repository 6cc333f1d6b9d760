import type { Council } from '@countersign/protocol/organizations/council'
import type { OrganizationId } from '@countersign/protocol/ids'
import { applyDecision } from '@countersign/protocol/signing/acts/council'
import { actingTransaction } from '#accounts/sessions/acting.ts'
import { ownKey } from '#accounts/sessions/own-key.ts'
import type { PasskeySession } from '#accounts/sessions/session.ts'
import { recordSignedAction } from '#organizations/acts/signed-action.ts'
import { actingMemberTransaction, requireMember, type MemberContext } from '#organizations/membership/access.ts'
import {
  endCouncil,
  findSignatoryOfUser,
  loadCouncil,
  requireDecidable,
  setResetRequest,
} from '#organizations/membership/council/council.ts'
import { listAddressees, notifyCouncil, sendNotice } from '#organizations/membership/council/notice.ts'
import { lockOrganization } from '#organizations/membership/member.ts'
import { endApprovals } from '#organizations/members/organization.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { defineErrors } from '#platform/api-error.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { readCouncil } from './council.ts'
import { resetDoneNotice, resetRequestedNotice, resetVetoedNotice } from './notices.ts'

const errors = defineErrors({
  organization_not_found: [404, 'Organization not found, or you are not one of its signatories.'],
  no_reset: [409, 'No reset has been requested.'],
})

/**
 * Requests that the council ends without its consent, where too few signatories are left. All of them and the owners
 * get a mail. Throws the errors of `requireMember`, `requireDecidable` and `recordSignedAction`, `rate_limited`.
 */
export async function requestReset(kernel: ServerContext, asking: MemberContext, now: Date): Promise<Council> {
  const { db, config, rateLimits } = kernel
  const { organizationId } = asking
  // Without an act, the request only starts one. It counts among the changes of the user.
  if (asking.requested.act) await rateLimits.count('council-notices-per-user', ownKey(asking.session, now))
  const council = await actingMemberTransaction(db, asking, async (tx) => {
    const acting = await requireMember({ db: tx, config }, asking, 'manage_org', now)
    await requireDecidable(tx, acting, [{ kind: 'request_reset' }], now)
    await setResetRequest(tx, organizationId, now)
    const act = { action: 'organization.council.reset_requested', isAlwaysSigned: true } as const
    await recordSignedAction(tx, { asking, acting }, act, now)
    return readCouncil(tx, asking, now)
  })
  await notifyCouncil(kernel, organizationId, resetRequestedNotice)
  return council
}

/**
 * Ends the council 14 to 28 days after the request. Receipts and the council show it from then on. Throws the errors of
 * `requireMember`, `requireDecidable` and `recordSignedAction`.
 */
export async function completeReset(kernel: ServerContext, asking: MemberContext, now: Date): Promise<Council> {
  const { db, config } = kernel
  const { organizationId } = asking
  const { council, identityIds } = await actingMemberTransaction(db, asking, async (tx) => {
    const acting = await requireMember({ db: tx, config }, asking, 'manage_org', now)
    await requireDecidable(tx, acting, [{ kind: 'reset' }], now)
    const { resetRequestedAt } = await loadCouncil(tx, acting.organization)
    const from = { approvalsNeeded: acting.organization.approvalsNeeded, resetRequestedAt: toText(resetRequestedAt) }
    const act = { action: 'organization.council.reset', from, isAlwaysSigned: true } as const
    const addressees = await listAddressees(tx, organizationId)
    await endApprovals(tx, organizationId, now)
    await endCouncil(tx, organizationId, now)
    await recordSignedAction(tx, { asking, acting }, act, now)
    return { council: await readCouncil(tx, asking, now), identityIds: addressees }
  })
  await sendNotice(kernel, { organizationId, identityIds }, resetDoneNotice)
  return council
}

function toText(instant: Date | undefined): string | null {
  return instant?.toISOString() ?? null
}

/**
 * Ends the request for a reset. Each signatory may, also a suspended one, and one who is no longer a member: otherwise
 * an owner would remove all others first. Throws `organization_not_found`, `no_reset`.
 */
export async function vetoReset(
  kernel: ServerContext,
  { session, organizationId }: { session: PasskeySession; organizationId: OrganizationId },
  now: Date,
): Promise<void> {
  const { userId } = session
  const isSignatory = await findSignatoryOfUser(kernel.db, organizationId, userId)
  // Before the lock, so that no one else can block the organization.
  if (!isSignatory) throw errors.organization_not_found()
  await kernel.rateLimits.count('council-notices-per-user', ownKey(session, now))
  await actingTransaction(kernel.db, session, async (tx) => {
    const organization = await lockOrganization(tx, organizationId)
    const identityId = await findSignatoryOfUser(tx, organizationId, userId)
    if (!organization || !identityId) throw errors.organization_not_found()
    const by = { signatoryId: identityId, isOwner: false }
    const signers = { by, approvedBy: [] }
    if ('flaw' in applyDecision(await loadCouncil(tx, organization), { kind: 'veto_reset' }, signers, now))
      throw errors.no_reset()
    await setResetRequest(tx, organizationId, null)
    const event = { action: 'organization.council.reset_vetoed', actor: 'user' } as const
    await recordAuditEvent(tx, { ...event, userId, identityId, organizationId }, now)
  })
  await notifyCouncil(kernel, organizationId, resetVetoedNotice)
}
