/**
 * Council of an organization: the members who sign and approve for it, and how many others must approve a change of who
 * decides. No single member changes that. The caller has verified the signatures of each decision.
 */

import { limits } from '../../formats/limits.ts'

const resetAfterMilliseconds = limits.councilResetAfterSeconds * 1000
/** A reset that was announced long ago would surprise the members. It must be requested again. */
const resetUntilMilliseconds = limits.councilResetUntilSeconds * 1000

/**
 * A member of a council. `signatoryId` is an identity: the service admits one of each user, so that each counts once.
 */
export type Signatory = Admitted & { isSuspended: boolean }
export type Admitted = { signatoryId: string; maySign: boolean; mayApprove: boolean }

/**
 * State of a council. `approvalsNeeded` is 0 if there is none. Suspended signatories sign and approve nothing, but can
 * still veto a reset. `resetAt` tells verifiers that the signatories were replaced without the consent of the former
 * ones.
 */
export type Council = {
  approvalsNeeded: number
  signatories: readonly Signatory[]
  resetRequestedAt: Date | undefined
  resetAt: Date | undefined
}

export type CouncilDecision =
  /** Owner; each person named accepts it. These people are the only signatories afterwards. */
  | { kind: 'found'; approvalsNeeded: number; people: readonly Admitted[] }
  /** Adds a signatory, restores a suspended one, or changes what one may do. */
  | ({ kind: 'admit' } & Admitted)
  /** 0 ends the council by its own consent. */
  | { kind: 'change_approvals_needed'; approvalsNeeded: number }
  /** Any other change of what protects the council: required signatures, and the deletion of the organization. */
  | { kind: 'widen' }
  /** Owner alone: also the removal of a member. */
  | { kind: 'suspend'; signatoryId: string }
  /** Owner alone, where too few signatories are left. All are notified. */
  | { kind: 'request_reset' }
  | { kind: 'veto_reset' }
  | { kind: 'reset' }

/** Users who signed a decision: the one who made it, and those who approved it. */
export type CouncilSigners = { by: { signatoryId: string; isOwner: boolean }; approvedBy: readonly string[] }

export type CouncilError =
  | 'insufficient_scope'
  | 'approvals_missing'
  | 'council_exists'
  | 'no_council'
  | 'too_few_signatories'
  | 'not_accepted'
  | 'unknown_signatory'
  | 'reset_pending'
  | 'no_reset'
  | 'too_early'
  | 'reset_expired'

type CouncilResult = { council: Council } | { flaw: CouncilError }

/** Applies a decision to a council; returns the council afterwards, or why the decision is not permitted. */
export function applyDecision(
  council: Council,
  decision: CouncilDecision,
  signers: CouncilSigners,
  now: Date,
): CouncilResult {
  const flaw = permissionFlaw(council, decision, signers) ?? stateFlaw(council, decision, now)
  if (flaw) return { flaw }
  const changed: Council = { ...council, ...changesOf(council, decision, now) }
  // Suspensions leave the number as it is: lowering it would give an owner what the approvals of others protect.
  const isResized = ['found', 'admit', 'change_approvals_needed'].includes(decision.kind)
  const isEnded = decision.kind === 'change_approvals_needed' && decision.approvalsNeeded === 0
  return isResized && !isEnded && !isLargeEnough(changed) ? { flaw: 'too_few_signatories' } : { council: changed }
}

/** Returns whether the signers may make the decision. */
function permissionFlaw(
  { approvalsNeeded, signatories }: Council,
  decision: CouncilDecision,
  { by, approvedBy }: CouncilSigners,
): CouncilError | undefined {
  switch (decision.kind) {
    case 'found': {
      if (!by.isOwner) return 'insufficient_scope'
      const accepting = new Set([by.signatoryId, ...approvedBy])
      return decision.people.every(({ signatoryId }) => accepting.has(signatoryId)) ? undefined : 'not_accepted'
    }
    case 'suspend':
    case 'request_reset':
    case 'reset':
      return by.isOwner ? undefined : 'insufficient_scope'
    case 'veto_reset':
      return signatories.some(({ signatoryId }) => signatoryId === by.signatoryId) ? undefined : 'insufficient_scope'
    case 'admit':
    case 'change_approvals_needed':
    case 'widen': {
      if (approvalsNeeded === 0) return by.isOwner ? undefined : 'insufficient_scope'
      const active = signatories.filter(({ isSuspended }) => !isSuspended)
      if (!active.some(({ signatoryId }) => signatoryId === by.signatoryId)) return 'insufficient_scope'
      const others = active.filter(
        ({ signatoryId, mayApprove }) =>
          mayApprove && signatoryId !== by.signatoryId && approvedBy.includes(signatoryId),
      )
      return others.length < approvalsNeeded ? 'approvals_missing' : undefined
    }
  }
}

/** Returns whether the council is in a state in which the decision can be made. */
function stateFlaw(council: Council, decision: CouncilDecision, now: Date): CouncilError | undefined {
  const { approvalsNeeded, signatories, resetRequestedAt } = council
  const hasCouncil = approvalsNeeded > 0
  switch (decision.kind) {
    case 'found':
      return hasCouncil ? 'council_exists' : undefined
    case 'widen':
      return undefined
    case 'admit':
    case 'change_approvals_needed':
      return hasCouncil ? undefined : 'no_council'
    case 'suspend':
      return signatories.some(isNamed(decision)) ? undefined : 'unknown_signatory'
    case 'request_reset':
      if (!hasCouncil) return 'no_council'
      return isResetPending(resetRequestedAt, now) ? 'reset_pending' : undefined
    case 'veto_reset':
      return isResetPending(resetRequestedAt, now) ? undefined : 'no_reset'
    case 'reset':
      if (!resetRequestedAt) return 'no_reset'
      if (!isResetPending(resetRequestedAt, now)) return 'reset_expired'
      return now.getTime() - resetRequestedAt.getTime() < resetAfterMilliseconds ? 'too_early' : undefined
  }
}

function changesOf({ signatories }: Council, decision: CouncilDecision, now: Date): Partial<Council> {
  switch (decision.kind) {
    case 'found': {
      const { approvalsNeeded, people } = decision
      const founders = new Map(people.map((person) => [person.signatoryId, { ...person, isSuspended: false }]))
      return { approvalsNeeded, signatories: [...founders.values()] }
    }
    case 'admit': {
      const { signatoryId, maySign, mayApprove } = decision
      const others = signatories.filter((each) => !isNamed(decision)(each))
      return { signatories: [...others, { signatoryId, maySign, mayApprove, isSuspended: false }] }
    }
    case 'change_approvals_needed': {
      const { approvalsNeeded } = decision
      return approvalsNeeded === 0 ? ended : { approvalsNeeded }
    }
    case 'widen':
      return {}
    case 'suspend':
      return {
        signatories: signatories.map((each) => (isNamed(decision)(each) ? { ...each, isSuspended: true } : each)),
      }
    case 'request_reset':
      return { resetRequestedAt: now }
    case 'veto_reset':
      return { resetRequestedAt: undefined }
    case 'reset':
      return { ...ended, resetAt: now }
  }
}

const ended: Partial<Council> = { approvalsNeeded: 0, signatories: [], resetRequestedAt: undefined }

/** Checks `1 ≤ approvalsNeeded < number of those who approve`, so that every signatory has enough others. */
function isLargeEnough({ approvalsNeeded, signatories }: Council): boolean {
  const approving = signatories.filter(({ mayApprove, isSuspended }) => mayApprove && !isSuspended)
  return Number.isInteger(approvalsNeeded) && approvalsNeeded >= 1 && approvalsNeeded < approving.length
}

/** Returns whether a reset can still be completed or vetoed. */
export function isResetPending(resetRequestedAt: Date | undefined, now: Date): boolean {
  return resetRequestedAt !== undefined && now.getTime() - resetRequestedAt.getTime() < resetUntilMilliseconds
}

function isNamed(named: { signatoryId: string }): (signatory: Signatory) => boolean {
  return ({ signatoryId }) => signatoryId === named.signatoryId
}
