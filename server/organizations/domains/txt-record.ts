import { challengeNameOf } from '@countersign/protocol/formats/domain'
import { limits } from '@countersign/protocol/formats/limits'
import type { AuditAction } from '#platform/audit/audit-log.ts'
import { addSeconds } from '#platform/clock.ts'
import type { DnsResolver } from '#platform/outbound/dns-resolver.ts'
import type { DomainClaim } from './store.ts'

/** DNS records found at the name of the TXT record. */
export type TxtLookupOutcome = 'proof' | 'nothing' | 'other_text' | 'alias' | 'no_answer'

/** Result of one DNS lookup: the finding for a claim, and all texts found, which can verify other claims too. */
export type Look = { finding: TxtLookupOutcome; texts: string[] }

/** Checks if a domain has the whole text of a claim in one TXT record at its own name. */
export async function lookUpTxtRecord(
  nameServers: DnsResolver,
  { domain, challenge }: Pick<DomainClaim, 'domain' | 'challenge'>,
): Promise<Look> {
  const answer = await nameServers.readTexts(challengeNameOf(domain))
  if (answer.kind === 'no answer') return { finding: 'no_answer', texts: [] }
  if (answer.kind === 'alias') return { finding: 'alias', texts: [] }
  const { texts } = answer
  if (texts.includes(challenge)) return { finding: 'proof', texts }
  return { finding: texts.length === 0 ? 'nothing' : 'other_text', texts }
}

export type Step = { after: DomainClaim; event?: AuditAction }

/**
 * Returns the new state of a claim after a finding, and the change to report. A verified domain without its record
 * fails for a grace period before it is lost. Name servers that do not answer change nothing at first, because the
 * cause can be elsewhere.
 */
export function nextVerificationState(claim: DomainClaim, finding: TxtLookupOutcome, now: Date): Step {
  if (finding === 'proof') {
    const isNews = claim.verifiedAt === null || claim.failingSince !== null
    const after = { ...claim, verifiedAt: claim.verifiedAt ?? now, lastVerifiedAt: now, checkedAt: now, ...sound }
    return isNews ? { after, event: 'organization.domain.verified' } : { after }
  }
  const seen = finding === 'no_answer' ? claim : { ...claim, checkedAt: now }
  if (claim.lastVerifiedAt === null) return { after: seen }
  if (claim.failingSince) {
    if (now < gracePeriodEndsAt(claim.failingSince)) return { after: seen }
    return { after: superseded(seen), event: 'organization.domain.verification_expired' }
  }
  const isSilent = finding === 'no_answer' && now < addSeconds(claim.lastVerifiedAt, limits.domainSilenceSeconds)
  return isSilent
    ? { after: seen }
    : { after: { ...seen, failingSince: now }, event: 'organization.domain.verification_failing' }
}

const sound = { failingSince: null, notifiedAt: null }

/**
 * Returns the state of a claim whose domain another organization has verified since: unverified until it is verified
 * again.
 */
export function superseded(claim: DomainClaim): DomainClaim {
  return { ...claim, verifiedAt: null, lastVerifiedAt: null, ...sound }
}

/**
 * Returns the time of the next check of a verified domain: daily, earlier if the name servers did not answer, and at
 * the end of the grace period.
 */
export function nextCheckAt({ failingSince }: DomainClaim, finding: TxtLookupOutcome, now: Date): Date {
  const next = addSeconds(now, finding === 'no_answer' ? limits.domainCheckAgainSeconds : limits.domainCheckSeconds)
  const graceEnd = failingSince && gracePeriodEndsAt(failingSince)
  return graceEnd && graceEnd < next ? graceEnd : next
}

/** Returns the time until which a failing domain counts as verified. */
export function gracePeriodEndsAt(failingSince: Date): Date {
  return addSeconds(failingSince, limits.domainGraceSeconds)
}
