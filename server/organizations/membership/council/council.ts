import type { IdentityId, OrganizationId, UserId } from '@countersign/protocol/ids'
import { limits } from '@countersign/protocol/formats/limits'
import {
  applyDecision,
  type Council,
  type CouncilDecision,
  type CouncilError,
  isResetPending,
} from '@countersign/protocol/signing/acts/council'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import { defineErrors } from '#platform/api-error.ts'
import type { Member, Organization } from '../member.ts'
import * as store from './council-store.ts'
import type { Candidate, SignatoryRow } from './council-store.ts'

export type { Candidate, SignatoryRow } from './council-store.ts'

const errors = defineErrors({
  insufficient_scope: [403, 'Only an owner, or a signatory in force, can decide this.'],
  signatory_not_found: [404, 'Signatory not found.'],
  approvals_missing: [409, 'Not enough other signatories in force have approved this proposal.'],
  council_exists: [409, 'The organization has a council already.'],
  no_council: [409, 'The organization has no council. Set approvalsNeeded first.'],
  too_few_signatories: [409, 'approvalsNeeded must be at least 1 and less than the number of signatories who approve.'],
  too_many_signatories: [409, 'A council has at most 100 signatories.'],
  already_signatory: [409, 'The user is a signatory already, with another identity.'],
  reset_pending: [409, 'A reset has been requested already.'],
  no_reset: [409, 'No reset has been requested.'],
  reset_too_early: [409, 'A reset can be completed 14 days after its request.'],
  reset_expired: [409, 'The request for the reset is older than 28 days. Request it again.'],
})

const errorOf = {
  insufficient_scope: errors.insufficient_scope,
  approvals_missing: errors.approvals_missing,
  not_accepted: errors.approvals_missing,
  council_exists: errors.council_exists,
  no_council: errors.no_council,
  too_few_signatories: errors.too_few_signatories,
  unknown_signatory: errors.signatory_not_found,
  reset_pending: errors.reset_pending,
  no_reset: errors.no_reset,
  too_early: errors.reset_too_early,
  reset_expired: errors.reset_expired,
} as const satisfies Record<CouncilError, unknown>

/** Lists the signatories with what they may do now: what was admitted and is still among their permissions. */
export function listSignatories(db: Database, organizationId: OrganizationId): Promise<SignatoryRow[]> {
  return store.listSignatories(db, organizationId)
}

/** Returns the council of an organization as its rules read it. */
export async function loadCouncil(
  db: Database,
  { organizationId, approvalsNeeded }: Pick<Organization, 'organizationId' | 'approvalsNeeded'>,
): Promise<Council> {
  const signatories = await store.listSignatories(db, organizationId)
  const { requestedAt, resetAt } = await store.findReset(db, organizationId)
  return {
    approvalsNeeded,
    signatories: signatories.map(({ identityId, maySign, mayApprove, suspendedAt }) => ({
      ...{ signatoryId: identityId, maySign, mayApprove, isSuspended: suspendedAt !== null },
    })),
    resetRequestedAt: requestedAt ?? undefined,
    resetAt: resetAt ?? undefined,
  }
}

/** Lists who would found a council: members who sign or approve, one identity of each user, such as `acting`. */
export async function listFounders(
  db: Database,
  organizationId: OrganizationId,
  acting: IdentityId,
): Promise<Candidate[]> {
  const founders = await store.listCandidates(db, organizationId, acting)
  if (founders.length > limits.signatoriesMax) throw errors.too_many_signatories()
  return founders
}

/** Finds a member who could be admitted with the present permissions. */
export function findCandidate(db: Database, organizationId: OrganizationId, identityId: IdentityId) {
  return store.findCandidate(db, organizationId, identityId)
}

/** Decisions that one act makes, in their order. None: the council has no say in it. */
export type Decisions = readonly CouncilDecision[]

/** Number of approvals that decisions need, and the identities that may give them: not that of the acting member. */
export type ApprovalsNeeded = { count: number; approvers: string[] }

/**
 * Returns how many approvals decisions need, and of which identities. Throws the error of decisions that would fail
 * with the approvals of all.
 */
export async function requireDecidable(
  tx: Transaction,
  acting: Member,
  decisions: Decisions,
  now: Date,
): Promise<ApprovalsNeeded> {
  if (decisions.length === 0) return { count: 0, approvers: [] }
  const council = await loadCouncil(tx, acting.organization)
  const needed = approvalsFor(council, decisions, acting.identityId)
  apply(council, decisions, { acting, approvedBy: needed.approvers }, now)
  return needed
}

/** Returns how many approvals the decisions of a member need, and of which identities. */
function approvalsFor(council: Council, decisions: Decisions, by: string): ApprovalsNeeded {
  const founding = decisions.find((decision) => decision.kind === 'found')
  if (founding) {
    const approvers = founding.people.map(idOf).filter((person) => person !== by)
    return { count: approvers.length, approvers }
  }
  const isShared = decisions.some(({ kind }) => ['admit', 'change_approvals_needed', 'widen'].includes(kind))
  if (council.approvalsNeeded === 0 || !isShared) return { count: 0, approvers: [] }
  return { count: council.approvalsNeeded, approvers: approversOf(council).filter((signatory) => signatory !== by) }
}

function apply(
  council: Council,
  decisions: Decisions,
  { acting, approvedBy }: { acting: Member; approvedBy: string[] },
  now: Date,
): void {
  const by = { signatoryId: acting.identityId, isOwner: acting.role === 'owner' }
  let present = council
  for (const decision of decisions) {
    const result = applyDecision(present, decision, { by, approvedBy }, now)
    if ('flaw' in result) throw errorOf[result.flaw]()
    present = result.council
  }
}

/** Makes these people the council of an organization that the transaction has locked. */
export async function foundCouncil(
  tx: Transaction,
  organizationId: OrganizationId,
  founders: Candidate[],
  now: Date,
): Promise<void> {
  for (const founder of founders) await store.upsertSignatory(tx, organizationId, founder, now)
}

/** Returns the signatories in force who approve. */
export function approversOf({ signatories }: Council): string[] {
  return signatories.filter(({ mayApprove, isSuspended }) => mayApprove && !isSuspended).map(idOf)
}

function idOf({ signatoryId }: { signatoryId: string }): string {
  return signatoryId
}

/** Admits or restores a signatory. Throws `already_signatory`, `too_many_signatories`. */
export async function admitSignatory(
  tx: Transaction,
  organizationId: OrganizationId,
  candidate: Candidate,
  now: Date,
): Promise<void> {
  if (!(await store.upsertSignatory(tx, organizationId, candidate, now))) throw errors.already_signatory()
  const signatories = await store.listSignatories(tx, organizationId)
  if (signatories.length > limits.signatoriesMax) throw errors.too_many_signatories()
}

/** Suspends a signatory. Throws `signatory_not_found`. */
export async function suspendSignatory(
  tx: Transaction,
  organizationId: OrganizationId,
  identityId: IdentityId,
  now: Date,
): Promise<void> {
  if (!(await store.suspendSignatory(tx, organizationId, identityId, now))) throw errors.signatory_not_found()
}

/**
 * Suspends the signatories that a change of permissions has left without any that the council admitted. Returns their
 * number: only the council can restore them.
 */
export function suspendSignatoriesWithout(
  tx: Transaction,
  organizationId: OrganizationId,
  { identityIds, maySign, mayApprove }: { identityIds: IdentityId[]; maySign: boolean; mayApprove: boolean },
  now: Date,
): Promise<number> {
  return store.suspendWithout(tx, organizationId, { identityIds, maySign, mayApprove }, now)
}

/** Ends the council of an organization, by its own consent or by a reset at `resetAt`. */
export async function endCouncil(tx: Transaction, organizationId: OrganizationId, resetAt?: Date): Promise<void> {
  const { resetAt: earlier } = await store.findReset(tx, organizationId)
  await store.deleteSignatories(tx, organizationId)
  await store.updateReset(tx, organizationId, { requestedAt: null, resetAt: resetAt ?? earlier })
}

/** Stores that a reset was requested, or null if it was vetoed. */
export async function setResetRequest(
  tx: Transaction,
  organizationId: OrganizationId,
  requestedAt: Date | null,
): Promise<void> {
  const { resetAt } = await store.findReset(tx, organizationId)
  await store.updateReset(tx, organizationId, { requestedAt, resetAt })
}

/** Finds the identity with which a user is a signatory, also a suspended one or a former member. */
export function findSignatoryOfUser(db: Database, organizationId: OrganizationId, userId: UserId) {
  return store.findSignatoryOfUser(db, organizationId, userId)
}

/** Deletes identities that are being deleted from all councils. */
export function deleteSignatoriesOf(tx: Transaction, identityIds: IdentityId[]): Promise<void> {
  return store.deleteSignatoriesOf(tx, identityIds)
}

/**
 * Ends all requests for resets after the restore of a backup, which cannot know which were vetoed since. Owners request
 * them again. Those that have expired are deleted without a veto, which a verifier of the trail would not expect.
 */
export async function endResetRequests(tx: Transaction, now: Date): Promise<void> {
  for (const { organizationId, requestedAt } of await store.listResetRequests(tx)) {
    await setResetRequest(tx, organizationId, null)
    if (!isResetPending(requestedAt, now)) continue
    await recordAuditEvent(tx, { action: 'organization.council.reset_vetoed', actor: 'operator', organizationId }, now)
  }
}
