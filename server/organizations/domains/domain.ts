import { challengeNameOf, normalizeDomain } from '@countersign/protocol/formats/domain'
import { getPublicSuffix } from 'tldts'
import { defineErrors } from '#platform/api-error.ts'
import { randomUUIDv7 } from 'node:crypto'
import { limits } from '@countersign/protocol/formats/limits'
import type { OrganizationId } from '@countersign/protocol/ids'
import type { OrganizationDomain } from '@countersign/protocol/organizations/domains'
import { type AuditAction, recordAuditEvent } from '#platform/audit/audit-log.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { randomBytes } from '#platform/crypto/random.ts'
import { actingTransaction } from '#accounts/sessions/acting.ts'
import { type MemberContext, actingMemberTransaction, requireMember } from '#organizations/membership/access.ts'
import { insertLoss } from './loss-store.ts'
import {
  type Look,
  type Step,
  type TxtLookupOutcome,
  lookUpTxtRecord,
  nextCheckAt,
  nextVerificationState,
  superseded,
} from './txt-record.ts'
import * as store from './store.ts'
import type { DomainClaim, DomainKey } from './store.ts'
import { recordSignedAction } from '#organizations/acts/signed-action.ts'
import { countChange } from '#organizations/acts/start-limit.ts'

const errors = defineErrors({
  invalid_domain: [400, 'domain must be a DNS name, such as example.com.'],
  public_domain: [400, 'Public suffixes and public mail domains cannot be claimed.'],
  domain_not_found: [404, 'Domain not found.'],
  domain_already_claimed: [409, 'The organization has already claimed this domain.'],
  too_many_domains: [409, `An organization can claim at most ${limits.domainsPerOrganizationMax} domains.`],
  domain_taken: [
    409,
    'Another organization has verified this domain, and its DNS record still exists. Remove that record first.',
  ],
  domain_verification_failed: [409, 'The DNS TXT record was not found or has a different value.'],
  temporarily_unavailable: [503, "The domain's name servers did not respond. Retry later."],
})

/**
 * Large public mailbox providers. Only the providers themselves could verify these domains. The list only prevents
 * pointless attempts, so it need not be complete.
 */
const mailboxProviders = new Set(
  [
    'gmail.com googlemail.com outlook.com outlook.de hotmail.com hotmail.co.uk hotmail.de hotmail.fr live.com live.de',
    'msn.com yahoo.com yahoo.co.uk yahoo.de yahoo.fr ymail.com icloud.com me.com mac.com aol.com gmx.de gmx.net',
    'gmx.at gmx.ch gmx.com web.de t-online.de freenet.de posteo.de mailbox.org mail.de proton.me protonmail.com',
    'pm.me tutanota.com tuta.io fastmail.com zoho.com mail.com mail.ru yandex.com yandex.ru bluewin.ch orange.fr',
    'laposte.net free.fr libero.it btinternet.com comcast.net verizon.net att.net qq.com 163.com 126.com sina.com',
    'naver.com',
  ].flatMap((line) => line.split(' ')),
)

/**
 * Returns the canonical spelling of a domain that an organization can claim. The domain must be below a suffix of the
 * Public Suffix List, including its private section (`github.io`). Throws `invalid_domain`, `public_domain`.
 */
export function requireClaimable(text: string): string {
  const domain = normalizeDomain(text)
  if (domain === undefined) throw errors.invalid_domain()
  if (mailboxProviders.has(domain) || isPublicSuffix(domain)) throw errors.public_domain()
  return domain
}

function isPublicSuffix(domain: string): boolean {
  return getPublicSuffix(domain, { allowPrivateDomains: true, extractHostname: false }) === domain
}

/** Error sentences for a failed verification, by the DNS records that were found instead. */
const sentenceOf: Record<Exclude<TxtLookupOutcome, 'proof' | 'no_answer'>, string> = {
  nothing: 'No TXT record exists at this name. A new record can take an hour to become visible.',
  other_text: 'A TXT record exists at this name, but has a different value.',
  alias: 'A CNAME record exists at this name. Add the TXT record at the name itself.',
}

/** Lists the domains that an organization claims. Throws the errors of `requireMember`. */
export async function listDomains(
  kernel: ServerContext,
  asking: MemberContext,
  now: Date,
): Promise<OrganizationDomain[]> {
  await requireMember(kernel, asking, 'manage_sso', now)
  return (await store.listDomains(kernel.db, asking.organizationId)).map(toDomain)
}

/**
 * Claims a domain. A claim has no effect until it is verified, and several organizations can claim the same domain.
 * Throws the errors of `requireMember` and `recordSignedAction`, `invalid_domain`, `public_domain`, `rate_limited`,
 * `too_many_domains`, `domain_already_claimed`.
 */
export async function addDomain(
  kernel: ServerContext,
  asking: MemberContext,
  text: string,
  now: Date,
): Promise<OrganizationDomain> {
  const { organizationId } = asking
  const member = await requireMember(kernel, asking, 'manage_sso', now)
  const domain = requireClaimable(text)
  await countChange(kernel, { asking, acting: member }, 'domains-added-per-organization')
  return actingMemberTransaction(kernel.db, asking, async (tx) => {
    const acting = await requireMember({ ...kernel, db: tx }, asking, 'manage_sso', now)
    if ((await store.countDomains(tx, organizationId)) >= limits.domainsPerOrganizationMax)
      throw errors.too_many_domains()
    const challenge = randomBytes(challengeBytes).toString('base64url')
    const claim = await store.insertDomain(tx, { organizationId, domainId: randomUUIDv7(), domain, challenge }, now)
    if (!claim) throw errors.domain_already_claimed()
    await recordSignedAction(tx, { asking, acting }, { action: 'organization.domain.added', details: { domain } }, now)
    return toDomain(claim)
  })
}

const challengeBytes = 32

/**
 * Looks up the TXT record of a claim and, if it exists, assigns the domain to the organization. The domain can be taken
 * over from an organization that has verified it but no longer has its own record. Throws the errors of `requireMember`
 * and `recordSignedAction`, `rate_limited`, `domain_not_found`, `domain_verification_failed`, `domain_taken`,
 * `temporarily_unavailable`.
 */
export async function verifyDomain(
  kernel: ServerContext,
  asking: MemberContext & { domainId: string; address: string },
  now: Date,
): Promise<OrganizationDomain> {
  const { db, rateLimits, dns } = kernel
  await requireMember(kernel, asking, 'manage_sso', now)
  await rateLimits.count('domain-checks', asking.address)
  await rateLimits.count('domain-checks-per-organization', asking.organizationId)
  const claim = await store.findDomain(db, asking)
  if (!claim) throw errors.domain_not_found()

  const look = await lookUpTxtRecord(dns, claim)
  const { finding } = look
  if (finding === 'no_answer') throw errors.temporarily_unavailable({ headers: { 'retry-after': '30' } })
  const settled = await actingTransaction(db, asking.session, async (tx) => {
    const step = await applyCheckResult(tx, claim, { ...look, by: 'user' }, now)
    if (!step) throw errors.domain_not_found()
    const { event } = step
    if (event === undefined) return step
    if (finding !== 'proof') {
      await storeCheckResult(tx, claim, event, now)
      return step
    }
    // Name servers can take seconds to answer, and the member can lose the permission in the meantime.
    const acting = await requireMember({ ...kernel, db: tx }, asking, 'manage_sso', now)
    const { domain } = claim
    const act = { action: 'organization.domain.verified', details: { domain }, from: { domain } } as const
    await recordSignedAction(tx, { asking, acting }, act, now)
    return step
  })
  if (finding !== 'proof')
    throw errors.domain_verification_failed({ sentence: sentenceOf[finding], fields: { found: finding } })
  return toDomain(settled.after)
}

/**
 * Removes a domain and ends everything that depends on it. Throws the errors of `requireMember` and
 * `recordSignedAction`, `domain_not_found`.
 */
export async function removeDomain(
  { db, config }: ServerContext,
  asking: MemberContext & { domainId: string },
  now: Date,
): Promise<void> {
  await actingTransaction(db, asking.session, async (tx) => {
    const acting = await requireMember({ db: tx, config }, asking, 'manage_sso', now)
    const domain = await store.deleteDomain(tx, asking)
    if (domain === undefined) throw errors.domain_not_found()
    await store.releaseVerifiedDomain(tx, domain, asking.organizationId)
    const act = { action: 'organization.domain.removed', details: { domain }, from: { domain } } as const
    await recordSignedAction(tx, { asking, acting }, act, now)
  })
}

type Found = Look & { by: 'user' | 'system' }

/**
 * Stores the finding for a claim, and the losses of which owners are notified. Returns undefined if the claim no longer
 * exists. The caller records changes of the claim in the audit log. Throws `domain_taken`.
 */
export async function applyCheckResult(
  tx: Transaction,
  claimed: DomainKey,
  { finding, texts, by }: Found,
  now: Date,
): Promise<Step | undefined> {
  const outdated = finding === 'proof' ? await findOutdated(tx, claimed, texts) : undefined
  const locked = await store.lockDomains(tx, outdated ? [claimed, outdated] : [claimed])
  const before = locked.find(({ domainId }) => domainId === claimed.domainId)
  if (!before) return undefined
  // Only a member can assign a domain: a claim that lost the domain during the lookup remains unverified.
  if (by === 'system' && before.verifiedAt === null) return undefined
  const step = nextVerificationState(before, finding, now)
  const { after } = step
  await store.updateDomain(tx, after)
  if (after.verifiedAt) {
    // The maintenance task sends the mails, and therefore checks this domain at once.
    const isDue = by === 'user' && after.failingSince !== null && after.notifiedAt === null
    const dueAt = isDue ? now : nextCheckAt(after, finding, now)
    if (!(await store.assignVerifiedDomain(tx, after, { nextCheckAt: dueAt, from: outdated })))
      throw errors.domain_taken()
  }
  const former = locked.find(({ domainId }) => domainId === outdated?.domainId)
  if (former) await endClaim(tx, former, now)
  if (before.verifiedAt && !after.verifiedAt) {
    await store.releaseVerifiedDomain(tx, before.domain, before.organizationId)
    await insertLoss(tx, before, 'expired', now)
  }
  return step
}

/**
 * Finds the claim of another organization that has verified the domain but had no TXT record when this claim was
 * verified. One DNS answer shows both records. If both exist, neither is newer, and the domain stays with the
 * organization that has it.
 */
async function findOutdated(tx: Transaction, claimed: DomainKey, texts: string[]): Promise<DomainClaim | undefined> {
  const claim = await store.findDomain(tx, claimed)
  const holding = claim && (await store.findHoldingClaim(tx, claim.domain))
  if (!holding || holding.organizationId === claimed.organizationId) return undefined
  return texts.includes(holding.challenge) ? undefined : holding
}

async function endClaim(tx: Transaction, former: DomainClaim, now: Date): Promise<void> {
  await store.updateDomain(tx, superseded(former))
  await insertLoss(tx, former, 'taken', now)
  const { organizationId, domain } = former
  const details = { domain, by: 'record of another organization' }
  await recordAuditEvent(
    tx,
    { action: 'organization.domain.verification_expired', actor: 'system', organizationId, details },
    now,
  )
}

/** Records the outcome of a check in the audit log, whether a member or the maintenance task made it. */
export async function storeCheckResult(
  tx: Transaction,
  { organizationId, domain }: DomainClaim,
  action: AuditAction,
  now: Date,
): Promise<void> {
  await recordAuditEvent(tx, { action, actor: 'system', organizationId, details: { domain } }, now)
}

/** Returns the organization that has verified a domain. The domain must be in its canonical spelling. */
export async function findVerifiedDomain(
  db: Database,
  domain: string,
): Promise<{ organizationId: OrganizationId } | undefined> {
  const organizationId = await store.findVerifiedOwner(db, domain)
  return organizationId === undefined ? undefined : { organizationId }
}

/**
 * Checks if an organization has verified exactly this domain, not a parent domain. The domain must be in its canonical
 * spelling.
 */
export async function isVerifiedFor(db: Database, organizationId: OrganizationId, domain: string): Promise<boolean> {
  return (await store.findVerifiedOwner(db, domain)) === organizationId
}

/** Checks if an organization has verified any of these domains. */
export function isAnyVerifiedFor(db: Database, organizationId: OrganizationId, domains: string[]): Promise<boolean> {
  return store.isHolderOfAny(db, organizationId, domains)
}

/** Releases all domains of an organization that is being deleted. */
export async function releaseDomains(tx: Transaction, organizationId: OrganizationId): Promise<void> {
  await store.releaseDomains(tx, organizationId)
}

function toDomain(claim: DomainClaim): OrganizationDomain {
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
