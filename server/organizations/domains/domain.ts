import { randomUUIDv7 } from 'node:crypto'
import { challengeNameOf } from '@countersign/protocol/formats/domain'
import { limits } from '@countersign/protocol/formats/limits'
import type { OrganizationDomain } from '@countersign/protocol/organizations/domains'
import { record, type AuditAction } from '#platform/audit/audit.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import type { Kernel } from '#platform/module/services.ts'
import { randomBytes } from '#platform/crypto/random.ts'
import { refusals } from '#platform/refusal.ts'
import { actingTransaction } from '#accounts/sessions/acting.ts'
import { actingMemberTransaction, requireMember, type Asking } from '#organizations/membership/access.ts'
import { requireClaimable } from './claimable-domain.ts'
import { takenMail } from './domain-mails.ts'
import { tellOwners } from './domain-notice.ts'
import { lookForProof, nextCheckOf, stepOf, superseded, type Finding, type Look, type Step } from './domain-proof.ts'
import * as store from './store.ts'
import type { Claim, Claimed } from './store.ts'
import { recordAct } from '#organizations/membership/signed-action.ts'

const refuse = refusals({
  domain_not_found: [404, 'This organization claims no such domain.'],
  domain_already_claimed: [409, 'This organization claims this domain already.'],
  too_many_domains: [409, `An organization claims at most ${limits.domainsPerOrganizationMax} domains.`],
  domain_taken: [
    409,
    'Another organization has verified this domain, and its record is in the DNS. Remove that first, then verify.',
  ],
  domain_not_proved: [409, 'The record is not there.'],
  temporarily_unavailable: [503, 'The name servers of this domain do not answer. Try again in a moment.'],
})

/** What somebody reads whose domain is not proved, by what there is instead. */
const sentenceOf: Record<Exclude<Finding, 'proof' | 'no_answer'>, string> = {
  nothing: 'There is no TXT record at this name. A new one may take an hour to be seen.',
  other_text: 'There is a TXT record at this name, but its value is another one.',
  alias: 'There is a CNAME at this name. The TXT record must stand at the name itself.',
}

/** The domains that an organization claims. Refuses as `requireMember`. */
export async function listDomains(kernel: Kernel, asking: Asking, now: Date): Promise<OrganizationDomain[]> {
  await requireMember(kernel, asking, 'manage_sso', now)
  return (await store.listDomains(kernel.db, asking.organizationId)).map(toDomain)
}

/**
 * Claims a domain, which counts for nothing until it is proved; several organizations may claim one. Refuses what
 * `requireMember` and `recordAct` do, `invalid_domain`, `public_domain`, `rate_limited`, `too_many_domains`,
 * `domain_already_claimed`.
 */
export async function claimDomain(
  kernel: Kernel,
  asking: Asking,
  text: string,
  now: Date,
): Promise<OrganizationDomain> {
  const { db, rateLimits } = kernel
  const { organizationId } = asking
  await requireMember(kernel, asking, 'manage_sso', now)
  const domain = requireClaimable(text)
  await rateLimits.count('domain claim of an organization', organizationId)
  return actingMemberTransaction(db, asking, async (tx) => {
    const acting = await requireMember({ ...kernel, db: tx }, asking, 'manage_sso', now)
    if ((await store.countDomains(tx, organizationId)) >= limits.domainsPerOrganizationMax)
      throw refuse.too_many_domains()
    const challenge = randomBytes(challengeBytes).toString('base64url')
    const claim = await store.insertDomain(tx, { organizationId, domainId: randomUUIDv7(), domain, challenge }, now)
    if (!claim) throw refuse.domain_already_claimed()
    await recordAct(tx, { asking, acting }, { action: 'organization.domain.claimed', details: { domain } }, now)
    return toDomain(claim)
  })
}

const challengeBytes = 32

/**
 * Looks for the proof of a claim, and takes the domain if it is there: also from an organization that has verified it,
 * but whose own record is gone. Refuses what `requireMember` and `recordAct` do,
 * `rate_limited`, `domain_not_found`, `domain_not_proved`, `domain_taken`, `temporarily_unavailable`.
 */
export async function verifyDomain(
  kernel: Kernel,
  asking: Asking & { domainId: string; address: string },
  now: Date,
): Promise<OrganizationDomain> {
  const { db, rateLimits, nameServers } = kernel
  await requireMember(kernel, asking, 'manage_sso', now)
  await rateLimits.count('domain check', asking.address)
  await rateLimits.count('domain check of an organization', asking.organizationId)
  const claim = await store.findDomain(db, asking)
  if (!claim) throw refuse.domain_not_found()

  const look = await lookForProof(nameServers, claim)
  const { finding } = look
  if (finding === 'no_answer') throw refuse.temporarily_unavailable({ headers: { 'retry-after': '30' } })
  const settled = await actingTransaction(db, asking.session, async (tx) => {
    const step = await settleFinding(tx, claim, { ...look, by: 'person' }, now)
    if (!step) throw refuse.domain_not_found()
    const { event } = step
    if (event === undefined) return step
    if (finding !== 'proof') {
      await recordFinding(tx, claim, event, now)
      return step
    }
    // Name servers take seconds to answer, and who asked may have lost the right meanwhile.
    const acting = await requireMember({ ...kernel, db: tx }, asking, 'manage_sso', now)
    const act = { action: 'organization.domain.verified', details: { domain: claim.domain } } as const
    await recordAct(tx, { asking, acting }, act, now)
    return step
  })
  if (finding !== 'proof') throw refuse.domain_not_proved({ sentence: sentenceOf[finding], fields: { found: finding } })
  if (settled.former) await tellOwners(kernel, settled.former, takenMail)
  return toDomain(settled.after)
}

/**
 * Gives up a domain: whatever stood on it ends. Refuses what `requireMember` and `recordAct` do, `domain_not_found`.
 */
export async function removeDomain(
  { db, config }: Kernel,
  asking: Asking & { domainId: string },
  now: Date,
): Promise<void> {
  await actingTransaction(db, asking.session, async (tx) => {
    const acting = await requireMember({ db: tx, config }, asking, 'manage_sso', now)
    const domain = await store.deleteDomain(tx, asking)
    if (domain === undefined) throw refuse.domain_not_found()
    await store.releaseDomain(tx, domain, asking.organizationId)
    await recordAct(tx, { asking, acting }, { action: 'organization.domain.removed', details: { domain } }, now)
  })
}

type Found = Look & { by: 'person' | 'system' }

/** What became of a claim, and of the claim of another organization that had the domain until then. */
type Settled = Step & { former?: Claim }

/**
 * Writes down what was found of a claim; undefined where it is gone. Whoever calls it records what is news. Refuses
 * `domain_taken`.
 */
export async function settleFinding(
  tx: Transaction,
  claimed: Claimed,
  { finding, texts, by }: Found,
  now: Date,
): Promise<Settled | undefined> {
  const outdated = finding === 'proof' ? await findOutdated(tx, claimed, texts) : undefined
  const locked = await store.lockDomains(tx, outdated ? [claimed, outdated] : [claimed])
  const before = locked.find(({ domainId }) => domainId === claimed.domainId)
  if (!before) return undefined
  // Only a person takes a domain: what lost it while it was looked at stays without.
  if (by === 'system' && before.verifiedAt === null) return undefined
  const step = stepOf(before, finding, now)
  const { after } = step
  await store.updateDomain(tx, after)
  if (after.verifiedAt) {
    // Owners are told by the job, which then looks at once.
    const isToTell = by === 'person' && after.failingSince !== null && after.toldAt === null
    const dueAt = isToTell ? now : nextCheckOf(after, finding, now)
    if (!(await store.takeDomain(tx, after, { checkDueAt: dueAt, from: outdated }))) throw refuse.domain_taken()
  }
  const former = locked.find(({ domainId }) => domainId === outdated?.domainId)
  if (former) await endClaim(tx, former, now)
  if (before.verifiedAt && !after.verifiedAt) await store.releaseDomain(tx, before.domain, before.organizationId)
  return { ...step, ...(former && { former }) }
}

/**
 * The claim of another organization that has the domain of a claim, and no record at the look that has proved this one.
 * Both are seen in one answer of the DNS: where both records are there, neither proof is later, and the holder stays.
 */
async function findOutdated(tx: Transaction, claimed: Claimed, texts: string[]): Promise<Claim | undefined> {
  const claim = await store.findDomain(tx, claimed)
  const holding = claim && (await store.findHoldingClaim(tx, claim.domain))
  if (!holding || holding.organizationId === claimed.organizationId) return undefined
  return texts.includes(holding.challenge) ? undefined : holding
}

async function endClaim(tx: Transaction, former: Claim, now: Date): Promise<void> {
  await store.updateDomain(tx, superseded(former))
  const { organizationId, domain } = former
  const details = { domain, by: 'proof of another organization' }
  await record(tx, { action: 'organization.domain.lost', actor: 'system', organizationId, details }, now)
}

/** Records what became of a domain by what was found, whoever looked. */
export async function recordFinding(
  tx: Transaction,
  { organizationId, domain }: Claim,
  action: AuditAction,
  now: Date,
): Promise<void> {
  await record(tx, { action, actor: 'system', organizationId, details: { domain } }, now)
}

/** Which organization has verified a domain, in its one spelling. */
export async function verifiedDomainOf(db: Database, domain: string): Promise<{ organizationId: string } | undefined> {
  const organizationId = await store.findHolder(db, domain)
  return organizationId === undefined ? undefined : { organizationId }
}

/** Whether an organization has verified a domain, in its one spelling; not that it has one above it. */
export async function isVerifiedFor(db: Database, organizationId: string, domain: string): Promise<boolean> {
  return (await store.findHolder(db, domain)) === organizationId
}

/** The same of any of these domains. */
export function isAnyVerifiedFor(db: Database, organizationId: string, domains: string[]): Promise<boolean> {
  return store.isHolderOfAny(db, organizationId, domains)
}

function toDomain(claim: Claim): OrganizationDomain {
  const { domainId, domain, challenge, verifiedAt, checkedAt, failingSince } = claim
  return {
    domainId,
    domain,
    status: failingSince ? 'failing' : verifiedAt ? 'verified' : 'pending',
    challenge: { name: challengeNameOf(domain), value: challenge },
    verifiedAt: verifiedAt && verifiedAt.toISOString(),
    checkedAt: checkedAt && checkedAt.toISOString(),
    failingSince: failingSince && failingSince.toISOString(),
  }
}
