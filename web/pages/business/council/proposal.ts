import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'
import type { Proposal } from '@countersign/protocol/organizations/proposals'
import { type ActionDescription, describeAction } from '../../../lib/acts/describe-action.ts'
import { detailsOf } from '../../../lib/acts/statement.ts'
import { type ActionSubject, loadActionSubject } from '../../../lib/acts/subject.ts'
import type { ActWords, BusinessWords } from '../../../lib/acts/words.ts'
import { ApiError } from '../../../lib/api/call.ts'
import { signStarted } from '../session/acts.ts'
import { memberContext } from '../session/membership.ts'
import { callBusiness } from '../session/session.ts'

/** A proposal in words. */
export type DescribedProposal = { proposal: Proposal; description: ActionDescription }

/** Reads the open proposals of an organization, and the names of those that they concern. */
export async function readProposals(
  organization: OwnOrganization,
  words: { acts: ActWords; business: BusinessWords },
): Promise<DescribedProposal[]> {
  const given = memberContext(organization)
  const { proposals } = await callBusiness('GET /api/organizations/:organizationId/proposals', given)
  return Promise.all(
    proposals.map(async (proposal) => {
      const act = { action: proposal.action, details: detailsOf(proposal.details) }
      const { id: organizationId, identityId } = organization
      const subject = await loadActionSubject({ organizationId, identityId, details: act.details }).catch(
        (error: unknown) => withoutNames(error, organization),
      )
      return { proposal, description: describeAction(act, subject, words) }
    }),
  )
}

/** What a proposal concerns may be gone. */
function withoutNames(error: unknown, { name }: OwnOrganization): ActionSubject {
  if (!(error instanceof ApiError)) throw error
  return { organization: name, isOwn: false }
}

function aboutProposal(organization: OwnOrganization, { proposalId }: Proposal) {
  const { params, querystring } = memberContext(organization)
  return { params: { ...params, proposalId }, querystring }
}

/** Leaves to approve a proposal. */
export async function approveProposal(organization: OwnOrganization, proposal: Proposal): Promise<never> {
  const path = 'POST /api/organizations/:organizationId/proposals/:proposalId/approval'
  const { actId, identityId } = await callBusiness(path, aboutProposal(organization, proposal))
  return signStarted({ organizationId: organization.id, actId, identityId }, 'organization.proposal.approved')
}

/** Leaves to sign and do what others have approved. */
export async function completeProposal(organization: OwnOrganization, proposal: Proposal): Promise<never> {
  const path = 'POST /api/organizations/:organizationId/proposals/:proposalId/act'
  const { actId, identityId } = await callBusiness(path, aboutProposal(organization, proposal))
  return signStarted({ organizationId: organization.id, actId, identityId }, proposal.action)
}

export async function withdrawProposal(organization: OwnOrganization, proposal: Proposal): Promise<void> {
  const path = 'DELETE /api/organizations/:organizationId/proposals/:proposalId'
  await callBusiness(path, aboutProposal(organization, proposal))
}

/** Returns whether the proposal has expired, or was already completed or withdrawn. */
export function isProposalGone(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'proposal_not_found'
}
