import type { OrganizationId } from '@countersign/protocol/ids'
import type { Database, Transaction } from '#platform/database/database.ts'
import { isDistributed } from '#platform/database/distributed/engine.ts'

/** Columns of a claim. */
export const columns = [
  'organization_domain.organization_id as organizationId',
  'organization_domain.domain_id as domainId',
  'domain',
  'txt_value as challenge',
  'verified_at as verifiedAt',
  'last_checked_at as checkedAt',
  'last_verified_at as lastVerifiedAt',
  'failing_since as failingSince',
  'notified_at as notifiedAt',
] as const

/** A domain that an organization claims, and the state of its verification. */
export type DomainClaim = NonNullable<Awaited<ReturnType<typeof findDomain>>>

export type DomainKey = { organizationId: OrganizationId; domainId: string }

export function listDomains(db: Database, organizationId: OrganizationId) {
  return db
    .selectFrom('organization_domain')
    .select(columns)
    .where('organization_id', '=', organizationId)
    .orderBy('domain')
    .execute()
}

function ofClaim(db: Database, { organizationId, domainId }: DomainKey) {
  return db
    .selectFrom('organization_domain')
    .select(columns)
    .where('organization_id', '=', organizationId)
    .where('domain_id', '=', domainId)
}

export function findDomain(db: Database, claimed: DomainKey) {
  return ofClaim(db, claimed).executeTakeFirst()
}

/** Locks claims until the transaction ends. The rows are locked in a fixed order to avoid deadlocks. */
export function lockDomains(tx: Transaction, claimed: DomainKey[]): Promise<DomainClaim[]> {
  return tx
    .selectFrom('organization_domain')
    .select(columns)
    .where(({ eb, or, and }) =>
      or(
        claimed.map(({ organizationId, domainId }) =>
          and([eb('organization_id', '=', organizationId), eb('domain_id', '=', domainId)]),
        ),
      ),
    )
    .orderBy('organization_id')
    .orderBy('domain_id')
    .forUpdate()
    .execute()
}

export async function countDomains(db: Database, organizationId: OrganizationId): Promise<number> {
  const { count } = await db
    .selectFrom('organization_domain')
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .where('organization_id', '=', organizationId)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Inserts a claim. Does nothing if the organization already claims this domain. */
export function insertDomain(tx: Transaction, claim: DomainKey & { domain: string; challenge: string }, now: Date) {
  const { organizationId, domainId, domain, challenge } = claim
  return tx
    .insertInto('organization_domain')
    .values({ organization_id: organizationId, domain_id: domainId, domain, txt_value: challenge, created_at: now })
    .onConflict((conflict) => conflict.columns(['organization_id', 'domain']).doNothing())
    .returning(columns)
    .executeTakeFirst()
}

/** Deletes a claim and returns its domain. Returns undefined if there is no such claim. */
export async function deleteDomain(tx: Transaction, { organizationId, domainId }: DomainKey) {
  const deleted = await tx
    .deleteFrom('organization_domain')
    .where('organization_id', '=', organizationId)
    .where('domain_id', '=', domainId)
    .returning('domain')
    .executeTakeFirst()
  return deleted?.domain
}

/** Updates the verification state of a claim. */
export async function updateDomain(tx: Transaction, claim: DomainClaim): Promise<void> {
  await tx
    .updateTable('organization_domain')
    .set({
      verified_at: claim.verifiedAt,
      last_checked_at: claim.checkedAt,
      last_verified_at: claim.lastVerifiedAt,
      failing_since: claim.failingSince,
      notified_at: claim.notifiedAt,
    })
    .where('organization_id', '=', claim.organizationId)
    .where('domain_id', '=', claim.domainId)
    .execute()
}

/**
 * Assigns a domain to an organization and sets the time of the next check. Returns false if another organization has
 * the domain, unless that is the claim `from`.
 */
export async function assignVerifiedDomain(
  tx: Transaction,
  { organizationId, domainId, domain }: DomainKey & { domain: string },
  { nextCheckAt, from }: { nextCheckAt: Date; from: DomainKey | undefined },
): Promise<boolean> {
  const taken = await tx
    .insertInto('organization_verified_domain')
    .values({ domain, organization_id: organizationId, domain_id: domainId, next_check_at: nextCheckAt })
    .onConflict((conflict) =>
      conflict
        .column('domain')
        .doUpdateSet({ organization_id: organizationId, domain_id: domainId, next_check_at: nextCheckAt })
        .where(({ eb, or, and }) =>
          or([
            eb('organization_verified_domain.organization_id', '=', organizationId),
            ...(from
              ? [
                  and([
                    eb('organization_verified_domain.organization_id', '=', from.organizationId),
                    eb('organization_verified_domain.domain_id', '=', from.domainId),
                  ]),
                ]
              : []),
          ]),
        ),
    )
    .returning('domain')
    .executeTakeFirst()
  return taken !== undefined
}

export async function releaseVerifiedDomain(
  tx: Transaction,
  domain: string,
  organizationId: OrganizationId,
): Promise<void> {
  await tx
    .deleteFrom('organization_verified_domain')
    .where('domain', '=', domain)
    .where('organization_id', '=', organizationId)
    .execute()
}

export async function releaseDomains(tx: Transaction, organizationId: OrganizationId): Promise<void> {
  await tx.deleteFrom('organization_verified_domain').where('organization_id', '=', organizationId).execute()
}

/** Finds the organization that has verified a domain. */
export async function findVerifiedOwner(db: Database, domain: string): Promise<OrganizationId | undefined> {
  const found = await db
    .selectFrom('organization_verified_domain')
    .select('organization_id as organizationId')
    .where('domain', '=', domain)
    .executeTakeFirst()
  return found?.organizationId
}

/** Checks if an organization has verified any of these domains. */
export async function isHolderOfAny(db: Database, organizationId: OrganizationId, domains: string[]): Promise<boolean> {
  if (domains.length === 0) return false
  const found = await db
    .selectFrom('organization_verified_domain')
    .select('domain')
    .where('domain', 'in', domains)
    .where('organization_id', '=', organizationId)
    .limit(1)
    .executeTakeFirst()
  return found !== undefined
}

/** Finds the claim through which an organization has a domain. */
export function findHoldingClaim(db: Database, domain: string): Promise<DomainClaim | undefined> {
  return db
    .selectFrom('organization_verified_domain')
    .innerJoin('organization_domain', (join) =>
      join
        .onRef('organization_domain.organization_id', '=', 'organization_verified_domain.organization_id')
        .onRef('organization_domain.domain_id', '=', 'organization_verified_domain.domain_id'),
    )
    .select(columns.filter((column) => column !== 'domain'))
    .select('organization_domain.domain')
    .where('organization_verified_domain.domain', '=', domain)
    .executeTakeFirst()
}

/** Leases up to `count` domains that are due. No other process gets them until the lease ends. */
export function leaseDueChecks(db: Database, count: number, leaseEndsAt: Date, now: Date): Promise<DomainClaim[]> {
  const due = db
    .selectFrom('organization_verified_domain')
    .select('domain')
    .where('next_check_at', '<=', now)
    .orderBy('next_check_at')
    .orderBy('domain')
    .limit(count)
    .$if(!isDistributed(db), (rows) => rows.forUpdate().skipLocked())
  return db
    .with('leased', (one) =>
      one
        .updateTable('organization_verified_domain')
        .set({ next_check_at: leaseEndsAt })
        .where('domain', 'in', due)
        .where('next_check_at', '<=', now)
        .returning(['organization_id', 'domain_id']),
    )
    .selectFrom('organization_domain')
    .innerJoin('leased', (join) =>
      join
        .onRef('leased.organization_id', '=', 'organization_domain.organization_id')
        .onRef('leased.domain_id', '=', 'organization_domain.domain_id'),
    )
    .select(columns)
    .execute()
}

/** Records that the owners were notified about a failing domain. */
export async function markOwnersNotified(
  db: Database,
  { organizationId, domainId }: DomainKey,
  now: Date,
): Promise<void> {
  await db
    .updateTable('organization_domain')
    .set({ notified_at: now })
    .where('organization_id', '=', organizationId)
    .where('domain_id', '=', domainId)
    .where('failing_since', 'is not', null)
    .execute()
}

/**
 * Lists the owners of an organization who have a verified e-mail address, one for each address, with the name of the
 * organization.
 */
export function listOwnerEmails(db: Database, organizationId: OrganizationId) {
  return db
    .selectFrom('organization_member')
    .innerJoin('organization', 'organization.organization_id', 'organization_member.organization_id')
    .innerJoin('identity', 'identity.identity_id', 'organization_member.identity_id')
    .distinctOn('identity.email')
    .select(['identity.identity_id as identityId', 'name', 'identity.email'])
    .where('organization_member.organization_id', '=', organizationId)
    .where('role', '=', 'owner')
    .where('identity.email_verified', '=', true)
    .orderBy('identity.email')
    .orderBy('identity.identity_id')
    .$narrowType<{ email: string }>()
    .execute()
}
