import type { AdminOrganization } from '@countersign/protocol/organization-oversight'
import { record } from '#kernel/audit.ts'
import { transaction, type Database } from '#kernel/database.ts'
import { refusals } from '#kernel/refusal.ts'
import { endAccess } from './departure.ts'
import { listOrganizations, lockOrganization, updateStatus } from './store.ts'

const refuse = refusals({ organization_not_found: [404, 'There is no organization with this id.'] })

type Row = Awaited<ReturnType<typeof listOrganizations>>[number]

/** So many organizations, the newest first, of those that are older than `before`. */
export async function listForOperator(
  db: Database,
  before: string | undefined,
  count: number,
): Promise<AdminOrganization[]> {
  return (await listOrganizations(db, { before, count })).map(toAdminOrganization)
}

/** Refuses `organization_not_found`. */
export async function readForOperator(db: Database, organizationId: string): Promise<AdminOrganization> {
  const [found] = await listOrganizations(db, { organizationId, count: 1 })
  if (!found) throw refuse.organization_not_found()
  return toAdminOrganization(found)
}

/**
 * Suspends an organization, whose tokens and the sessions that it opened end at once, or lets it go on. Refuses
 * `organization_not_found`.
 */
export async function setStatus(
  db: Database,
  organizationId: string,
  status: 'active' | 'suspended',
  now: Date,
): Promise<AdminOrganization> {
  return transaction(db, async (tx) => {
    const before = await lockOrganization(tx, organizationId)
    if (!before) throw refuse.organization_not_found()
    if (before.status === status) return readForOperator(tx, organizationId)
    await updateStatus(tx, { organizationId, status }, now)
    if (status === 'suspended') await endAccess(tx, { organizationId }, now)
    const action = status === 'suspended' ? 'organization.suspended' : 'organization.activated'
    await record(tx, { action, actor: 'operator', organizationId }, now)
    return readForOperator(tx, organizationId)
  })
}

function toAdminOrganization({ createdAt, members, ...organization }: Row): AdminOrganization {
  return { ...organization, members: Number(members), createdAt: createdAt.toISOString() }
}
