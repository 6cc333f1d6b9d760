import { randomUUIDv7 } from 'node:crypto'
import { toBase64, toBase64Url } from '@countersign/protocol/formats/base64'
import { limits } from '@countersign/protocol/formats/limits'
import { proposalDigest } from '@countersign/protocol/formats/acts/act'
import { writeCanonicalJson } from '@countersign/protocol/formats/signing/canonical-json'
import type { IdentityId, OrganizationId } from '@countersign/protocol/ids'
import type { Proposal } from '@countersign/protocol/organizations/proposals'
import type { Council } from '@countersign/protocol/signing/acts/council'
import { type ActProposal, parseActProposal } from '@countersign/protocol/signing/acts/statements'
import { Type } from 'typebox'
import { Check } from 'typebox/schema'
import { actingTransaction } from '#accounts/sessions/acting.ts'
import { ownKey } from '#accounts/sessions/own-key.ts'
import type { PasskeySession, Session } from '#accounts/sessions/session.ts'
import { requireMember, type MemberContext } from '#organizations/membership/access.ts'
import { approversOf, loadCouncil } from '#organizations/membership/council/council.ts'
import { sendNotice } from '#organizations/membership/council/notice.ts'
import { type Organization, listMembershipsOfSession, lockOrganization } from '#organizations/membership/member.ts'
import { defineErrors } from '#platform/api-error.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { addSeconds, maxDate } from '#platform/clock.ts'
import { randomBytes } from '#platform/crypto/random.ts'
import { sha256 } from '#platform/crypto/secret.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { consumeAct, readDetails, readStatement, requireAct, resealRequest, sealOf } from '../act.ts'
import { proposedNotice } from './notices.ts'
import * as store from './proposal-store.ts'
import type { StoredApproval, StoredProposal } from './proposal-store.ts'

const nonceBytes = 32

const errors = defineErrors({
  insufficient_scope: [403, 'Only the member who proposed it, or an owner, can withdraw a proposal.'],
  organization_not_found: [404, 'Organization not found, or you are not a member.'],
  proposal_not_found: [404, 'The proposal does not exist, has expired, or was done or withdrawn.'],
  approvals_not_needed: [409, 'The act needs no approvals. Sign it.'],
  too_many_proposals: [409, 'The organization has reached the maximum number of open proposals.'],
})

type OfAct = { session: PasskeySession; organizationId: OrganizationId; actId: string }

/**
 * Proposes an act in place of signing it, for seven days. Those who can approve it get a mail. Throws `act_not_found`,
 * `approvals_not_needed`, `too_many_proposals`, `rate_limited`, and the errors of `requireMember`.
 */
export async function createProposal(
  kernel: ServerContext,
  { session, organizationId, actId }: OfAct,
  now: Date,
): Promise<Proposal> {
  const { db, config, rateLimits } = kernel
  const key = { organizationId, actId, sessionId: session.sessionId }
  const act = await requireAct(db, key, now)
  const { identityId, action, details, salt } = act
  const asking = { session, organizationId, identityId }
  if (act.approvalsNeeded === 0 || act.proposalId !== null) throw errors.approvals_not_needed()
  await rateLimits.count('council-notices-per-user', ownKey(session, now))
  const proposalId = randomUUIDv7()
  const sealedRequest = await resealRequest(kernel, act, proposalId)
  const { at, details: digest } = readStatement(act.statement)
  // The clock of the process that started the act may be ahead of this one.
  const createdAt = maxDate(now, new Date(at))
  const expiresAt = addSeconds(createdAt, limits.actProposalLifetimeSeconds)
  const statement: ActProposal = {
    ...{ version: 2, issuer: config.authUrl.origin, organizationId, identityId, action, details: digest },
    nonce: toBase64Url(randomBytes(nonceBytes)),
    createdAt: createdAt.toISOString(),
    expiresAt: expiresAt.toISOString(),
  }
  const proposal = {
    ...{ organizationId, proposalId, identityId, endpoint: act.endpoint, sealedRequest, action, details, salt },
    ...{ statement: writeCanonicalJson(statement), createdAt, expiresAt },
  }
  const { view, approvers } = await actingTransaction(db, session, async (tx) => {
    const organization = await lockOrganization(tx, organizationId)
    if (!organization) throw errors.organization_not_found()
    await requireMember({ db: tx, config }, asking, undefined, now)
    if ((await store.countProposals(tx, organizationId, now)) >= limits.proposalsMax) throw errors.too_many_proposals()
    await consumeAct(tx, key, now)
    await store.insertProposal(tx, proposal)
    const event = { action: 'organization.proposal.created', actor: 'user', userId: session.userId } as const
    const noted = { proposalId, proposedAction: action }
    await recordAuditEvent(tx, { ...event, identityId, organizationId, details: noted }, now)
    const [stored] = await store.listProposals(tx, organizationId, now, proposalId)
    if (!stored) throw new Error(`the proposal ${proposalId} is missing after its insertion`)
    const [written] = await toViews(tx, { organization, session }, [stored])
    if (!written) throw new Error(`the proposal ${proposalId} has no view`)
    return { view: written, approvers: await listApprovers(tx, organization, stored) }
  })
  await sendNotice(kernel, { organizationId, identityIds: approvers.identityIds }, proposedNotice)
  return view
}

/** Lists the open proposals of an organization. Throws the errors of `requireMember`. */
export async function listProposals(kernel: ServerContext, asking: MemberContext, now: Date): Promise<Proposal[]> {
  const { organization } = await requireMember(kernel, asking, 'read', now)
  const stored = await store.listProposals(kernel.db, organization.organizationId, now)
  return toViews(kernel.db, { organization, session: asking.session }, stored)
}

/** Finds an open proposal. Throws `proposal_not_found`. */
export async function requireProposal(
  db: Database,
  { organizationId, proposalId }: store.ProposalKey,
  now: Date,
): Promise<StoredProposal> {
  const [proposal] = await store.listProposals(db, organizationId, now, proposalId)
  if (!proposal) throw errors.proposal_not_found()
  return proposal
}

/**
 * Withdraws a proposal, as the member who made it or as an owner. Throws `proposal_not_found`, `insufficient_scope`,
 * and the errors of `requireMember`.
 */
export async function deleteProposal(
  { db, config }: ServerContext,
  { proposalId, ...asking }: MemberContext & { proposalId: string },
  now: Date,
): Promise<void> {
  const { session, organizationId } = asking
  await requireMember({ db, config }, asking, 'read', now)
  await actingTransaction(db, session, async (tx) => {
    await lockOrganization(tx, organizationId)
    const proposal = await requireProposal(tx, { organizationId, proposalId }, now)
    const acting = await requireMember({ db: tx, config }, asking, 'read', now)
    if (proposal.userId !== session.userId && acting.role !== 'owner') throw errors.insufficient_scope()
    if (!(await store.deleteProposal(tx, { organizationId, proposalId }))) throw errors.proposal_not_found()
    const event = { action: 'organization.proposal.withdrawn', actor: 'user', userId: session.userId } as const
    const { identityId } = acting
    await recordAuditEvent(tx, { ...event, identityId, organizationId, details: { proposalId } }, now)
  })
}

/** How many approvals a proposal needs, and the identities that may give them. */
export type Approvers = { count: number; identityIds: string[] }

/** Lists who may approve a proposal now: those who would found a council, or the signatories in force. */
export async function listApprovers(
  db: Database,
  organization: Pick<Organization, 'organizationId' | 'approvalsNeeded'>,
  proposal: Pick<StoredProposal, 'details' | 'identityId'>,
): Promise<Approvers> {
  return approversAmong(await loadCouncil(db, organization), proposal)
}

function approversAmong(
  council: Council,
  { details, identityId }: Pick<StoredProposal, 'details' | 'identityId'>,
): Approvers {
  const founders = foundersIn(details)
  const isOther = (each: string) => each !== identityId
  if (founders) return { count: founders.filter(isOther).length, identityIds: founders.filter(isOther) }
  return { count: council.approvalsNeeded, identityIds: approversOf(council).filter(isOther) }
}

/** Returns the identities that a proposal would make the first signatories, if it founds a council. */
function foundersIn(text: string): string[] | undefined {
  const details = readDetails(text)
  return Check(Founding, details) ? details.from.signatories.map(({ identityId }) => identityId) : undefined
}

const Founding = Type.Object({
  from: Type.Object({ signatories: Type.Array(Type.Object({ identityId: Type.String() })) }),
})

/** Returns the approvals of a proposal that count now, each of another identity, oldest first. */
export async function listValidApprovals(
  db: Database,
  { organizationId, proposalId }: store.ProposalKey,
  { identityIds }: Pick<Approvers, 'identityIds'>,
): Promise<StoredApproval[]> {
  const approvals = await store.listApprovals(db, organizationId, [proposalId])
  return approvals.filter(({ identityId }) => identityIds.includes(identityId))
}

async function toViews(
  db: Database,
  { organization, session }: { organization: Organization; session: Session },
  proposals: StoredProposal[],
): Promise<Proposal[]> {
  if (proposals.length === 0) return []
  const { organizationId } = organization
  const ids = proposals.map(({ proposalId }) => proposalId)
  const given = Map.groupBy(await store.listApprovals(db, organizationId, ids), ({ proposalId }) => proposalId)
  const memberships = await listMembershipsOfSession(db, session, { organizationId })
  const own = memberships.map(({ identityId }) => identityId)
  const council = await loadCouncil(db, organization)
  return proposals.map((proposal) => {
    const { count, identityIds } = approversAmong(council, proposal)
    const approvals = (given.get(proposal.proposalId) ?? []).filter(({ identityId }) =>
      identityIds.includes(identityId),
    )
    const isOwn = proposal.userId === session.userId
    const mine = own.filter((identityId) => identityIds.includes(identityId))
    const hasApproved = approvals.some(({ identityId }) => mine.includes(identityId))
    return {
      proposalId: proposal.proposalId,
      action: proposal.action,
      details: readDetails(proposal.details),
      salt: toBase64(proposal.salt),
      statement: proposal.statement,
      createdAt: proposal.createdAt.toISOString(),
      expiresAt: proposal.expiresAt.toISOString(),
      proposedBy: { identityId: proposal.identityId, handle: proposal.handle, displayName: proposal.displayName },
      approvals: approvals.map(({ identityId, handle, displayName, approvedAt }) => ({
        ...{ identityId, handle, displayName, approvedAt: approvedAt.toISOString() },
      })),
      approvalsNeeded: count,
      mayApprove: !isOwn && mine.length > 0 && !hasApproved,
      mayComplete: isOwn && approvals.length >= count,
    }
  })
}

/** Returns the digest by which approvals and the act name a proposal, and that of its details. */
export function digestsOf({ statement }: Pick<StoredProposal, 'statement'>): { digest: string; detailsDigest: string } {
  const proposal = parseActProposal(statement)
  if (!proposal) throw new Error('the statement of a stored proposal cannot be parsed')
  return { digest: proposalDigest(sha256, proposal), detailsDigest: proposal.details }
}

/** Deletes up to `batch` expired proposals. Returns their number. */
export function pruneProposals(db: Database, now: Date, batch: number): Promise<number> {
  return store.deleteExpiredProposals(db, now, batch)
}

/** Re-encrypts requests that are not under the current root key, so that the operator can remove the old one. */
export async function reencryptProposals({ db, keyring }: Pick<ServerContext, 'db' | 'keyring'>): Promise<void> {
  for (const { sealedRequest, ...key } of await store.listSealedRequests(db)) {
    const sealed = await keyring.renew(sealOf(key.proposalId), sealedRequest)
    if (sealed !== sealedRequest) await store.replaceSealedRequest(db, key, sealed)
  }
}

/** Deletes the proposals and approvals of identities that are being deleted. */
export async function deleteProposals(tx: Transaction, identityIds: IdentityId[]) {
  if (identityIds.length > 0) await store.deleteProposalsOf(tx, identityIds)
}

/**
 * Withdraws the approvals of identities that are being suspended, also for the time after. The caller has locked their
 * organizations, so that no approval is being added.
 */
export async function withdrawApprovals(tx: Transaction, identityIds: IdentityId[]): Promise<void> {
  if (identityIds.length > 0) await store.deleteApprovalsOf(tx, identityIds)
}
