import type { AdminOrganization } from '@countersign/protocol/organizations/operator-view'
import { scopesOfRole } from '@countersign/protocol/formats/role'
import { record } from '#platform/audit/audit.ts'
import { transaction, type Database, type Transaction } from '#platform/database/database.ts'
import { refusals } from '#platform/refusal.ts'
import { endAccess } from './departure.ts'
import * as memberStore from './member-store.ts'
import * as store from './store.ts'

const refuse = refusals({
  organization_not_found: [404, 'There is no organization with this id.'],
  no_owner: [409, 'The last owner has left, and no admin has all scopes of the role other than by a directory.'],
})

type Row = Awaited<ReturnType<typeof store.listOrganizations>>[number]

/** So many organizations, the newest first, of those that are older than `before`. */
export async function listForOperator(
  db: Database,
  before: string | undefined,
  count: number,
): Promise<AdminOrganization[]> {
  return (await store.listOrganizations(db, { before, count })).map(toAdminOrganization)
}

/** Refuses `organization_not_found`. */
export async function readForOperator(db: Database, organizationId: string): Promise<AdminOrganization> {
  const [found] = await store.listOrganizations(db, { organizationId, count: 1 })
  if (!found) throw refuse.organization_not_found()
  return toAdminOrganization(found)
}

/**
 * Suspends an organization, whose tokens and the sessions that it opened end at once, or activates it. Where its last
 * owner has left meanwhile, the admin becomes the owner who joined first of those who have all scopes of the role, and
 * not from a directory alone. Refuses `organization_not_found`, `no_owner`.
 */
export async function setStatus(
  db: Database,
  organizationId: string,
  status: 'active' | 'suspended',
  now: Date,
): Promise<AdminOrganization> {
  return transaction(db, async (tx) => {
    const before = await store.lockOrganization(tx, organizationId)
    if (!before) throw refuse.organization_not_found()
    if (before.status === status) return readForOperator(tx, organizationId)
    if (status === 'active') await ensureOwner(tx, organizationId, now)
    await store.updateStatus(tx, { organizationId, status }, now)
    if (status === 'suspended') await endAccess(tx, { organizationId }, now)
    const action = status === 'suspended' ? 'organization.suspended' : 'organization.activated'
    await record(tx, { action, actor: 'operator', organizationId }, now)
    return readForOperator(tx, organizationId)
  })
}

/** Gives an organization that the transaction has locked an owner where it has none. Refuses `no_owner`. */
async function ensureOwner(tx: Transaction, organizationId: string, now: Date): Promise<void> {
  const { owners } = await readForOperator(tx, organizationId)
  if (owners > 0) return
  const admin = await memberStore.findFirstAdmin(tx, organizationId)
  if (!admin) throw refuse.no_owner()
  const { memberId, identityId, signingAuthority } = admin
  const rights = { role: 'owner' as const, scopes: [...scopesOfRole.owner], signingAuthority }
  await memberStore.countOwner(tx, organizationId)
  await memberStore.updateMember(tx, { organizationId, memberId, ...rights, namedByDirectory: false })
  const details = { memberId, memberIdentityId: identityId, ...rights }
  await record(tx, { action: 'organization.member.changed', actor: 'operator', organizationId, details }, now)
}

function toAdminOrganization({ createdAt, members, ...organization }: Row): AdminOrganization {
  return { ...organization, members: Number(members), createdAt: createdAt.toISOString() }
}
