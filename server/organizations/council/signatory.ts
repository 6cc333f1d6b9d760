import type { Council } from '@countersign/protocol/organizations/council'
import type { IdentityId } from '@countersign/protocol/ids'
import { recordSignedAction } from '#organizations/acts/signed-action.ts'
import { actingMemberTransaction, requireMember, type MemberContext } from '#organizations/membership/access.ts'
import {
  admitSignatory as admit,
  findCandidate,
  listSignatories,
  requireDecidable,
  suspendSignatory as suspend,
} from '#organizations/membership/council/council.ts'
import { defineErrors } from '#platform/api-error.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { readCouncil } from './council.ts'

const errors = defineErrors({
  member_not_found: [404, 'No member who may sign or approve has this identity.'],
  already_signatory: [409, 'The member is a signatory with these permissions already.'],
})

type OfSignatory = MemberContext & { signatoryId: IdentityId }

/**
 * Admits a member to the council with their present permissions, or restores them. Needs the approvals of the council.
 * Throws the errors of `requireMember`, `requireDecidable` and `recordSignedAction`, `member_not_found`,
 * `already_signatory`, `too_many_signatories`.
 */
export function admitSignatory({ db, config }: ServerContext, asking: OfSignatory, now: Date): Promise<Council> {
  const { organizationId, signatoryId } = asking
  return actingMemberTransaction(db, asking, async (tx) => {
    const acting = await requireMember({ db: tx, config }, asking, 'manage_identities', now)
    const candidate = await findCandidate(tx, organizationId, signatoryId)
    if (!candidate) throw errors.member_not_found()
    const { maySign, mayApprove } = candidate
    const signatories = await listSignatories(tx, organizationId)
    const present = signatories.find(({ identityId }) => identityId === signatoryId)
    const isSame = present?.maySign === maySign && present.mayApprove === mayApprove
    if (isSame && present.suspendedAt === null) throw errors.already_signatory()
    const approvals = await requireDecidable(tx, acting, [{ kind: 'admit', signatoryId, maySign, mayApprove }], now)
    await admit(tx, organizationId, candidate, now)
    // What the approving members have seen: the permissions of the member, and whether the member is suspended.
    const from = { maySign, mayApprove, signatory: present ? stateOf(present) : null }
    const action = 'organization.signatory.admitted'
    const details = { signatoryIdentityId: signatoryId, maySign, mayApprove }
    await recordSignedAction(tx, { asking, acting }, { action, from, details, approvals, isAlwaysSigned: true }, now)
    return readCouncil(tx, asking, now)
  })
}

function stateOf({ suspendedAt }: { suspendedAt: Date | null }): 'suspended' | 'in force' {
  return suspendedAt ? 'suspended' : 'in force'
}

/**
 * Suspends a signatory. An owner does so alone, because it gives no one anything. Throws the errors of `requireMember`,
 * `requireDecidable` and `recordSignedAction`, `signatory_not_found`.
 */
export function suspendSignatory({ db, config }: ServerContext, asking: OfSignatory, now: Date): Promise<Council> {
  const { organizationId, signatoryId } = asking
  return actingMemberTransaction(db, asking, async (tx) => {
    const acting = await requireMember({ db: tx, config }, asking, 'manage_org', now)
    await requireDecidable(tx, acting, [{ kind: 'suspend', signatoryId }], now)
    await suspend(tx, organizationId, signatoryId, now)
    const action = 'organization.signatory.suspended'
    const details = { signatoryIdentityId: signatoryId }
    await recordSignedAction(tx, { asking, acting }, { action, details, isAlwaysSigned: true }, now)
    return readCouncil(tx, asking, now)
  })
}
