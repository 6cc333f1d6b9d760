import type { Database, Transaction } from '#platform/database/database.ts'

const columns = [
  'organization_domain.organization_id as organizationId',
  'organization_domain.domain_id as domainId',
  'domain',
  'challenge',
  'verified_at as verifiedAt',
  'checked_at as checkedAt',
  'proved_at as provedAt',
  'failing_since as failingSince',
  'told_at as toldAt',
] as const

/** A domain that an organization claims, and how it stands with its proof. */
export type Claim = NonNullable<Awaited<ReturnType<typeof findDomain>>>

export type Claimed = { organizationId: string; domainId: string }

export function listDomains(db: Database, organizationId: string) {
  return db
    .selectFrom('organization_domain')
    .select(columns)
    .where('organization_id', '=', organizationId)
    .orderBy('domain')
    .execute()
}

function ofClaim(db: Database, { organizationId, domainId }: Claimed) {
  return db
    .selectFrom('organization_domain')
    .select(columns)
    .where('organization_id', '=', organizationId)
    .where('domain_id', '=', domainId)
}

export function findDomain(db: Database, claimed: Claimed) {
  return ofClaim(db, claimed).executeTakeFirst()
}

/** Claims that nobody else changes until the transaction ends. Locked in one order, so that none waits for another. */
export function lockDomains(tx: Transaction, claimed: Claimed[]): Promise<Claim[]> {
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

export async function countDomains(db: Database, organizationId: string): Promise<number> {
  const { count } = await db
    .selectFrom('organization_domain')
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .where('organization_id', '=', organizationId)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Inserts a claim; nothing where the organization claims this domain already. */
export function insertDomain(tx: Transaction, claim: Claimed & { domain: string; challenge: string }, now: Date) {
  const { organizationId, domainId, domain, challenge } = claim
  return tx
    .insertInto('organization_domain')
    .values({ organization_id: organizationId, domain_id: domainId, domain, challenge, created_at: now })
    .onConflict((conflict) => conflict.columns(['organization_id', 'domain']).doNothing())
    .returning(columns)
    .executeTakeFirst()
}

/** Deletes a claim, and answers its domain; nothing where there is none. */
export async function deleteDomain(tx: Transaction, { organizationId, domainId }: Claimed) {
  const deleted = await tx
    .deleteFrom('organization_domain')
    .where('organization_id', '=', organizationId)
    .where('domain_id', '=', domainId)
    .returning('domain')
    .executeTakeFirst()
  return deleted?.domain
}

/** Writes down how a claim stands. */
export async function updateDomain(tx: Transaction, claim: Claim): Promise<void> {
  await tx
    .updateTable('organization_domain')
    .set({
      verified_at: claim.verifiedAt,
      checked_at: claim.checkedAt,
      proved_at: claim.provedAt,
      failing_since: claim.failingSince,
      told_at: claim.toldAt,
    })
    .where('organization_id', '=', claim.organizationId)
    .where('domain_id', '=', claim.domainId)
    .execute()
}

/**
 * Gives an organization its domain, to be looked at then; false where another organization has it, unless it is that of
 * the claim `from`.
 */
export async function takeDomain(
  tx: Transaction,
  { organizationId, domainId, domain }: Claimed & { domain: string },
  { checkDueAt, from }: { checkDueAt: Date; from: Claimed | undefined },
): Promise<boolean> {
  const taken = await tx
    .insertInto('organization_verified_domain')
    .values({ domain, organization_id: organizationId, domain_id: domainId, check_due_at: checkDueAt })
    .onConflict((conflict) =>
      conflict
        .column('domain')
        .doUpdateSet({ organization_id: organizationId, domain_id: domainId, check_due_at: checkDueAt })
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

export async function releaseDomain(tx: Transaction, domain: string, organizationId: string): Promise<void> {
  await tx
    .deleteFrom('organization_verified_domain')
    .where('domain', '=', domain)
    .where('organization_id', '=', organizationId)
    .execute()
}

export async function releaseDomains(tx: Transaction, organizationId: string): Promise<void> {
  await tx.deleteFrom('organization_verified_domain').where('organization_id', '=', organizationId).execute()
}

/** Which organization a domain is of. */
export async function findHolder(db: Database, domain: string): Promise<string | undefined> {
  const found = await db
    .selectFrom('organization_verified_domain')
    .select('organization_id as organizationId')
    .where('domain', '=', domain)
    .executeTakeFirst()
  return found?.organizationId
}

/** Whether an organization has any of these domains. */
export async function isHolderOfAny(db: Database, organizationId: string, domains: string[]): Promise<boolean> {
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

/** The claim by which an organization has a domain. */
export function findHoldingClaim(db: Database, domain: string): Promise<Claim | undefined> {
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

/** Takes up to `count` domains that are due, so that until the lease ends nobody else does. */
export function leaseDue(db: Database, count: number, leaseEndsAt: Date, now: Date): Promise<Claim[]> {
  const due = db
    .selectFrom('organization_verified_domain')
    .select('domain')
    .where('check_due_at', '<=', now)
    .orderBy('check_due_at')
    .limit(count)
    .forUpdate()
    .skipLocked()
  return db
    .with('leased', (one) =>
      one
        .updateTable('organization_verified_domain')
        .set({ check_due_at: leaseEndsAt })
        .where('domain', 'in', due)
        .where('check_due_at', '<=', now)
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

/** Writes down that the owners know that a domain fails. */
export async function noteTold(db: Database, { organizationId, domainId }: Claimed, now: Date): Promise<void> {
  await db
    .updateTable('organization_domain')
    .set({ told_at: now })
    .where('organization_id', '=', organizationId)
    .where('domain_id', '=', domainId)
    .where('failing_since', 'is not', null)
    .execute()
}

/** The owners of an organization who have a proved address, and what it is called. */
export function listOwnersToTell(db: Database, organizationId: string) {
  return db
    .selectFrom('organization_member')
    .innerJoin('organization', 'organization.organization_id', 'organization_member.organization_id')
    .innerJoin('identity', 'identity.identity_id', 'organization_member.identity_id')
    .select(['name', 'identity.email'])
    .where('organization_member.organization_id', '=', organizationId)
    .where('role', '=', 'owner')
    .where('identity.email', 'is not', null)
    .$narrowType<{ email: string }>()
    .distinct()
    .execute()
}
