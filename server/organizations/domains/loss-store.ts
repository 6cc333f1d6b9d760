import { isDistributed } from '#platform/database/distributed/engine.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import { columns, type DomainKey } from './store.ts'

/** Records that an organization has lost a domain, so that its owners are notified. */
export async function insertLoss(
  tx: Transaction,
  { organizationId, domainId }: DomainKey,
  cause: 'taken' | 'expired',
  now: Date,
): Promise<void> {
  const notice = { cause, mail_at: now, mail_attempts: 0, settled_ids: [] }
  await tx
    .insertInto('organization_domain_loss')
    .values({ organization_id: organizationId, domain_id: domainId, ...notice })
    .onConflict((conflict) => conflict.columns(['organization_id', 'domain_id']).doUpdateSet(notice))
    .execute()
}

/** Lost domain with the state of its notice. */
export type Loss = Awaited<ReturnType<typeof leaseLosses>>[number]

/** Leases up to `count` losses whose notice is due. No other process gets them until the lease ends. */
export function leaseLosses(db: Database, { count, until }: { count: number; until: Date }, now: Date) {
  const due = db
    .selectFrom('organization_domain_loss')
    .select(['organization_id', 'domain_id'])
    .where('mail_at', '<=', now)
    .orderBy('mail_at')
    .orderBy('domain_id')
    .limit(count)
    .$if(!isDistributed(db), (rows) => rows.forUpdate().skipLocked())
  return db
    .with('leased', (one) =>
      one
        .updateTable('organization_domain_loss')
        .set((eb) => ({ mail_at: until, mail_attempts: eb('mail_attempts', '+', 1) }))
        .where(({ eb, refTuple }) =>
          eb(refTuple('organization_id', 'domain_id'), 'in', due.$asTuple('organization_id', 'domain_id')),
        )
        .where('mail_at', '<=', now)
        .returning(['organization_id', 'domain_id', 'cause', 'mail_attempts', 'settled_ids']),
    )
    .selectFrom('organization_domain')
    .innerJoin('leased', (join) =>
      join
        .onRef('leased.organization_id', '=', 'organization_domain.organization_id')
        .onRef('leased.domain_id', '=', 'organization_domain.domain_id'),
    )
    .select(columns)
    .select(['cause', 'mail_attempts as attempts', 'settled_ids as settledIds'])
    .execute()
}

type Lease = DomainKey & { until: Date }

/** Ends a leased notice, unless the domain was lost again meanwhile. */
export async function deleteLoss(db: Database, { organizationId, domainId, until }: Lease): Promise<void> {
  await db
    .deleteFrom('organization_domain_loss')
    .where('organization_id', '=', organizationId)
    .where('domain_id', '=', domainId)
    .where('mail_at', '=', until)
    .execute()
}

/** Sets when a leased notice is attempted again, and which owners get no other mail. */
export async function postponeLoss(
  db: Database,
  { organizationId, domainId, until }: Lease,
  { mailAt, settledIds }: { mailAt: Date; settledIds: string[] },
): Promise<void> {
  await db
    .updateTable('organization_domain_loss')
    .set({ mail_at: mailAt, settled_ids: settledIds })
    .where('organization_id', '=', organizationId)
    .where('domain_id', '=', domainId)
    .where('mail_at', '=', until)
    .execute()
}
