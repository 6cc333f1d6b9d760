import { type Static, Type } from 'typebox'
import { NoContent, endpoint } from '../endpoint.ts'
import { IdentityId } from '../ids.ts'
import { Timestamp, Uuid } from '../values.ts'
import { StartedAct } from './acts.ts'
import { ActingAs, ByOrganizationId } from './organizations.ts'

const business = { security: 'session', cors: 'first party', host: 'business' } as const

/** Action that a member proposes, which others approve before the same member does it. */
export const Proposal = Type.Object({
  proposalId: Uuid,
  action: Type.String({ description: 'Name of the action, as in the audit log' }),
  details: StartedAct.properties.details,
  salt: StartedAct.properties.salt,
  statement: Type.String({ description: 'Canonical JSON of the proposal: approvals contain its digest' }),
  createdAt: Timestamp,
  expiresAt: Timestamp,
  proposedBy: Type.Object({ identityId: IdentityId, handle: Type.String(), displayName: Type.String() }),
  approvals: Type.Array(
    Type.Object({ identityId: IdentityId, handle: Type.String(), displayName: Type.String(), approvedAt: Timestamp }),
    { description: 'Approvals that count now, oldest first' },
  ),
  approvalsNeeded: Type.Integer(),
  mayApprove: Type.Boolean({ description: 'Whether the user may approve it and has not' }),
  mayComplete: Type.Boolean({ description: 'Whether the user proposed it and enough others have approved' }),
})
export type Proposal = Static<typeof Proposal>

const ByProposalId = Type.Object({ ...ByOrganizationId.properties, proposalId: Uuid })

export const createProposal = endpoint(
  'POST /api/organizations/:organizationId/acts/:actId/proposal',
  { ...business, summary: 'Propose a started act that needs approvals, for seven days, in place of signing it' },
  { params: Type.Object({ ...ByOrganizationId.properties, actId: Uuid }), querystring: ActingAs },
  { 201: Type.Object({ proposal: Proposal }) },
)

export const listProposals = endpoint(
  'GET /api/organizations/:organizationId/proposals',
  { ...business, summary: 'List the proposals that are not yet done or expired, oldest first' },
  { params: ByOrganizationId, querystring: ActingAs },
  { 200: Type.Object({ proposals: Type.Array(Proposal) }) },
)

export const startProposalApproval = endpoint(
  'POST /api/organizations/:organizationId/proposals/:proposalId/approval',
  { ...business, summary: 'Start the approval of a proposal of another member; it counts once signed like an act' },
  { params: ByProposalId, querystring: ActingAs },
  { 201: StartedAct },
)

export const startProposalAct = endpoint(
  'POST /api/organizations/:organizationId/proposals/:proposalId/act',
  { ...business, summary: 'Start the act of my proposal, once enough others have approved it' },
  { params: ByProposalId, querystring: ActingAs },
  { 201: StartedAct },
)

export const deleteProposal = endpoint(
  'DELETE /api/organizations/:organizationId/proposals/:proposalId',
  { ...business, summary: 'Withdraw my proposal; an owner may withdraw any' },
  { params: ByProposalId, querystring: ActingAs },
  { 204: NoContent },
)
