import { challengeNameOf } from '@countersign/protocol/formats/domain'
import { limits } from '@countersign/protocol/formats/limits'
import type { AuditAction } from '#platform/audit/audit.ts'
import { secondsAfter } from '#platform/clock.ts'
import type { NameServers } from '#platform/outbound/name-servers.ts'
import type { Claim } from './store.ts'

/** What the DNS has at the place of a proof. */
export type Finding = 'proof' | 'nothing' | 'other_text' | 'alias' | 'no_answer'

/** What was seen at one look: what that is for a claim, and all texts there, which may prove other claims too. */
export type Look = { finding: Finding; texts: string[] }

/** Looks whether a domain has the text of a claim, whole, and at its own name. */
export async function lookForProof(
  nameServers: NameServers,
  { domain, challenge }: Pick<Claim, 'domain' | 'challenge'>,
): Promise<Look> {
  const answer = await nameServers.readTexts(challengeNameOf(domain))
  if (answer.kind === 'no answer') return { finding: 'no_answer', texts: [] }
  if (answer.kind === 'alias') return { finding: 'alias', texts: [] }
  const { texts } = answer
  if (texts.includes(challenge)) return { finding: 'proof', texts }
  return { finding: texts.length === 0 ? 'nothing' : 'other_text', texts }
}

export type Step = { after: Claim; event?: AuditAction }

/**
 * What a finding makes of a claim, and what of that is news. A verified domain whose proof is gone fails for a while
 * before it is lost. Name servers that say nothing change nothing at first: that may be anybody's fault.
 */
export function stepOf(claim: Claim, finding: Finding, now: Date): Step {
  if (finding === 'proof') {
    const isNews = claim.verifiedAt === null || claim.failingSince !== null
    const after = { ...claim, verifiedAt: claim.verifiedAt ?? now, provedAt: now, checkedAt: now, ...sound }
    return isNews ? { after, event: 'organization.domain.verified' } : { after }
  }
  const seen = finding === 'no_answer' ? claim : { ...claim, checkedAt: now }
  if (claim.provedAt === null) return { after: seen }
  if (claim.failingSince) {
    if (now < graceEndOf(claim.failingSince)) return { after: seen }
    return { after: superseded(seen), event: 'organization.domain.lost' }
  }
  const isSilent = finding === 'no_answer' && now < secondsAfter(claim.provedAt, limits.domainSilenceSeconds)
  return isSilent ? { after: seen } : { after: { ...seen, failingSince: now }, event: 'organization.domain.failing' }
}

const sound = { failingSince: null, toldAt: null }

/** A claim whose domain another organization has proved since: it counts for nothing until it is proved again. */
export function superseded(claim: Claim): Claim {
  return { ...claim, verifiedAt: null, provedAt: null, ...sound }
}

/** When a verified domain is looked at again: daily, sooner where nobody answered, and when its grace is over. */
export function nextCheckOf({ failingSince }: Claim, finding: Finding, now: Date): Date {
  const next = secondsAfter(now, finding === 'no_answer' ? limits.domainCheckAgainSeconds : limits.domainCheckSeconds)
  const graceEnd = failingSince && graceEndOf(failingSince)
  return graceEnd && graceEnd < next ? graceEnd : next
}

/** Until when a domain counts as verified that fails. */
export function graceEndOf(failingSince: Date): Date {
  return secondsAfter(failingSince, limits.domainGraceSeconds)
}
