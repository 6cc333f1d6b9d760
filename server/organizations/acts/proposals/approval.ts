import type { IdentityId } from '@countersign/protocol/ids'
import { startProposalApproval as approvalEndpoint } from '@countersign/protocol/organizations/proposals'
import type { StartedAct } from '@countersign/protocol/organizations/acts'
import { presenceTransaction } from '#accounts/passkeys/assertion.ts'
import type { PasskeySession } from '#accounts/sessions/session.ts'
import { requireMember, type MemberContext } from '#organizations/membership/access.ts'
import { listMembershipsOfSession, lockOrganization } from '#organizations/membership/member.ts'
import { defineErrors } from '#platform/api-error.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { addSeconds, maxDate } from '#platform/clock.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { limits } from '@countersign/protocol/formats/limits'
import { type VerifiedAct, consumeAct, insertStartedAct, openRequest, readStatement, startedOf } from '../act.ts'
import { findSigningKey } from '../store.ts'
import { digestsOf, listApprovers, listValidApprovals, requireProposal } from './proposal.ts'
import * as store from './proposal-store.ts'

const errors = defineErrors({
  insufficient_scope: [403, 'You cannot approve this proposal: only other signatories in force can.'],
  proposal_not_found: [404, 'The proposal does not exist, has expired, or was done or withdrawn.'],
  approvals_missing: [409, 'Not enough other signatories in force have approved this proposal.'],
  no_signing_key: [422, 'The acting identity has no signing key.'],
})

type OfProposal = MemberContext & { session: PasskeySession; proposalId: string }

/**
 * Starts the approval of a proposal by the identity of the user that may give it. Throws `proposal_not_found`,
 * `insufficient_scope`, `no_signing_key`, and the errors of `requireMember`.
 */
export async function startProposalApproval(
  kernel: ServerContext,
  { proposalId, ...asking }: OfProposal,
  now: Date,
): Promise<StartedAct> {
  const { db } = kernel
  const { session, organizationId } = asking
  const { organization } = await requireMember(kernel, asking, undefined, now)
  const proposal = await requireProposal(db, { organizationId, proposalId }, now)
  const { identityIds } = await listApprovers(db, organization, proposal)
  const { identityId: as } = asking
  const own = await listMembershipsOfSession(db, session, { organizationId, identityId: as, usableAt: now })
  const approver = own.find(({ identityId }) => identityIds.includes(identityId))
  if (!approver || proposal.userId === session.userId) throw errors.insufficient_scope()
  const { identityId } = approver
  await requireMember(kernel, { ...asking, identityId }, undefined, now)
  const key = await findSigningKey(db, identityId)
  if (!key) throw errors.no_signing_key()
  const at = [key.createdAt, proposal.createdAt].reduce(maxDate, now)
  const act = await insertStartedAct(
    kernel,
    session,
    {
      ...actOf(proposal),
      ...{ identityId, key, at, role: 'approve', approvalsNeeded: 0, endpoint: approvalEndpoint.name },
      request: { content: { params: { organizationId, proposalId }, body: null }, secretSalt: '' },
      // It counts until the proposal expires.
      signableUntil: proposal.expiresAt,
    },
    now,
  )
  return { ...startedOf(act), approvalsNeeded: act.approvalsNeeded }
}

/**
 * Starts the act of a proposal by the member who made it. Throws `proposal_not_found`, `insufficient_scope`,
 * `approvals_missing`, `no_signing_key`, and the errors of `requireMember`.
 */
export async function startProposalAct(
  kernel: ServerContext,
  { proposalId, ...asking }: OfProposal,
  now: Date,
): Promise<StartedAct> {
  const { db } = kernel
  const { session, organizationId } = asking
  await requireMember(kernel, asking, undefined, now)
  const proposal = await requireProposal(db, { organizationId, proposalId }, now)
  const { identityId } = proposal
  if (proposal.userId !== session.userId) throw errors.insufficient_scope()
  const { organization } = await requireMember(kernel, { ...asking, identityId }, undefined, now)
  const approvers = await listApprovers(db, organization, proposal)
  const approvals = await listValidApprovals(db, proposal, approvers)
  if (approvals.length < approvers.count) throw errors.approvals_missing()
  const key = await findSigningKey(db, identityId)
  if (!key) throw errors.no_signing_key()
  const given = approvals.map(({ statement }) => new Date(readStatement(statement).at))
  const at = [key.createdAt, proposal.createdAt, ...given].reduce(maxDate, now)
  const end = addSeconds(at, limits.actLifetimeSeconds)
  const act = await insertStartedAct(
    kernel,
    session,
    {
      ...actOf(proposal),
      ...{ identityId, key, at, role: 'sign', approvalsNeeded: approvers.count, endpoint: proposal.endpoint },
      request: await openRequest(kernel, { actId: proposalId, sealedRequest: proposal.sealedRequest }),
      signableUntil: end < proposal.expiresAt ? end : proposal.expiresAt,
    },
    now,
  )
  return { ...startedOf(act), approvalsNeeded: act.approvalsNeeded }
}

/** Returns what approvals and the act of a proposal have in common. */
function actOf(proposal: store.StoredProposal) {
  const { organizationId, proposalId, action, details, salt } = proposal
  const { digest, detailsDigest } = digestsOf(proposal)
  return { organizationId, proposal: { proposalId, digest }, action, details, salt, digest: detailsDigest }
}

/**
 * Stores the verified approval of a proposal and consumes the act that started it. Throws `act_not_found`,
 * `proposal_not_found`, `insufficient_scope` if the user may not approve any more, `invalid_credential`, and the errors
 * of `requireMember`.
 */
export async function giveApproval(
  kernel: ServerContext,
  session: PasskeySession,
  { act, statement, signature, presence }: VerifiedAct,
  now: Date,
): Promise<{ approved: true }> {
  const { organizationId, identityId, proposalId } = act
  if (proposalId === null) throw errors.proposal_not_found()
  const key = { organizationId, proposalId }
  await presenceTransaction(kernel, { session, presence }, now, async (tx) => {
    await lockOrganization(tx, organizationId)
    const { organization } = await requireMember(
      { ...kernel, db: tx },
      { session, organizationId, identityId },
      undefined,
      now,
    )
    const proposal = await requireProposal(tx, key, now)
    const { identityIds } = await listApprovers(tx, organization, proposal)
    if (!identityIds.includes(identityId) || proposal.userId === session.userId) throw errors.insufficient_scope()
    await consumeAct(tx, act, now)
    const given = { keyVersion: statement.keyVersion, statement: act.statement, presence: presence.digest, signature }
    if (!(await store.upsertApproval(tx, { ...key, identityId, ...given }, now))) throw errors.proposal_not_found()
    const event = { action: 'organization.proposal.approved', actor: 'user', userId: session.userId } as const
    await recordAuditEvent(tx, { ...event, identityId, organizationId, details: { proposalId } }, now)
    return true
  })
  return { approved: true }
}

/** Proposal that an act carries out, and its approvals that count, as the trail records them. */
export type ApprovedProposal = { statement: string; approvals: store.StoredApproval[] }

/**
 * Takes the approvals of a proposal for its act, and deletes the proposal, in the transaction of the change. `needed`
 * is what the change needs by the locked rows. Throws `approvals_missing`, `proposal_not_found`.
 */
export async function consumeProposal(
  tx: Transaction,
  { organizationId, proposalId, at }: store.ProposalKey & { at: string },
  needed: { count: number; approvers: readonly string[] },
  now: Date,
): Promise<ApprovedProposal> {
  const proposal = await requireProposal(tx, { organizationId, proposalId }, now)
  const identityIds = needed.count === 0 ? undefined : [...needed.approvers]
  const approvals = await listGiven(tx, proposal, identityIds, at)
  if (approvals.length < needed.count) throw errors.approvals_missing()
  if (!(await store.deleteProposal(tx, proposal))) throw errors.proposal_not_found()
  return { statement: proposal.statement, approvals }
}

/** Lists the approvals that were given before the act was started: a later one would not precede it in the trail. */
async function listGiven(
  db: Database,
  { organizationId, proposalId, identityId: proposer }: store.StoredProposal,
  identityIds: string[] | undefined,
  at: string,
) {
  const approvals = await store.listApprovals(db, organizationId, [proposalId])
  const isCounted = (identityId: IdentityId) => identityIds?.includes(identityId) ?? identityId !== proposer
  return approvals.filter(({ identityId, statement }) => isCounted(identityId) && readStatement(statement).at <= at)
}
