import * as endpoints from '@countersign/protocol/organizations/operator-view'
import type { AdminOrganization } from '@countersign/protocol/organizations/operator-view'
import { scopesOfRole } from '@countersign/protocol/formats/role'
import type { OrganizationId } from '@countersign/protocol/ids'
import { expireMembershipsOfOrganization, isEndingMemberships } from '#accounts/groups/ending.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import { defineErrors } from '#platform/api-error.ts'
import { endAccess, isEndingAccess } from './ending.ts'
import { lockOrganization } from '#organizations/membership/member.ts'
import * as memberStore from './member-store.ts'
import * as store from './store.ts'
import { adminGuard, auditFieldsOf, type Operator, operatorTransaction } from '#accounts/operators/operator-guard.ts'
import type { Host } from '#platform/http/host.ts'
import type { ServerContext } from '#platform/module/services.ts'

const errors = defineErrors({
  organization_not_found: [404, 'No organization has this ID.'],
  organization_ending: [
    409,
    'The suspension still ends tokens, sessions and memberships of this large organization. Try again in a minute.',
  ],
  no_owner: [
    409,
    'The last owner has left, and no admin has all permissions of the role independently of a directory.',
  ],
})

type Row = Awaited<ReturnType<typeof store.listOrganizations>>[number]

/** Lists organizations that are older than `before`, newest first, up to a maximum number. */
async function listAllOrganizations(
  db: Database,
  before: OrganizationId | undefined,
  count: number,
): Promise<AdminOrganization[]> {
  return (await store.listOrganizations(db, { before, count })).map(toAdminOrganization)
}

/** Gets an organization. Throws `organization_not_found`. */
async function getAnyOrganization(db: Database, organizationId: OrganizationId): Promise<AdminOrganization> {
  const [found] = await store.listOrganizations(db, { organizationId, count: 1 })
  if (!found) throw errors.organization_not_found()
  return toAdminOrganization(found)
}

/** Lists the organizations that have these slugs now. */
export async function findOrganizationsBySlug(tx: Transaction, slugs: string[]): Promise<AdminOrganization[]> {
  if (slugs.length === 0) return []
  return (await store.listOrganizations(tx, { slugs, count: slugs.length })).map(toAdminOrganization)
}

/**
 * Suspends or reactivates an organization. Suspension ends its tokens and the sessions that its SSO opened at once, and
 * the memberships in its groups. If there are very many, the cleanup does the rest, and the organization cannot be
 * reactivated before. If the last owner has left in the meantime, reactivation makes an admin the owner: the one who
 * joined first among those who have all scopes of the role, not only from a directory. Throws `organization_not_found`,
 * `organization_ending`, `no_owner`.
 */
export async function setStatus(
  db: Database,
  operator: Operator,
  { organizationId, status }: { organizationId: OrganizationId; status: 'active' | 'suspended' },
  now: Date,
): Promise<AdminOrganization> {
  return operatorTransaction(db, operator, async (tx) => {
    const before = await lockOrganization(tx, organizationId)
    if (!before) throw errors.organization_not_found()
    if (before.status === status) return getAnyOrganization(tx, organizationId)
    if (status === 'active') {
      await requireEnded(tx, organizationId)
      await ensureOwner(tx, operator, organizationId, now)
    }
    await store.updateStatus(tx, { organizationId, status }, now)
    if (status === 'suspended') {
      await endAccess(tx, organizationId, now)
      await expireMembershipsOfOrganization(tx, organizationId, now)
    }
    const action = status === 'suspended' ? 'organization.suspended' : 'organization.reactivated'
    await recordAuditEvent(tx, { action, ...auditFieldsOf(operator), organizationId }, now)
    return getAnyOrganization(tx, organizationId)
  })
}

/**
 * Throws `organization_ending` if not all has ended that the suspension of a locked organization ends: in an active
 * organization, nothing would tell it from what came later.
 */
async function requireEnded(tx: Transaction, organizationId: OrganizationId): Promise<void> {
  const isEnding = (await isEndingAccess(tx, organizationId)) || (await isEndingMemberships(tx, organizationId))
  if (isEnding) throw errors.organization_ending()
}

/** Makes an admin the owner of a locked organization that has no owner. Throws `no_owner`. */
async function ensureOwner(
  tx: Transaction,
  operator: Operator,
  organizationId: OrganizationId,
  now: Date,
): Promise<void> {
  const { owners } = await getAnyOrganization(tx, organizationId)
  if (owners > 0) return
  const admin = await memberStore.findFirstAdmin(tx, organizationId)
  if (!admin) throw errors.no_owner()
  const { memberId, identityId, signingAuthority } = admin
  const rights = { role: 'owner' as const, scopes: [...scopesOfRole.owner], signingAuthority }
  await memberStore.incrementOwnerCount(tx, organizationId)
  await memberStore.updateMember(tx, { organizationId, memberId, ...rights, namedByDirectory: false })
  const details = { memberId, memberIdentityId: identityId, ...rights }
  const event = { action: 'organization.member.updated', organizationId, details } as const
  await recordAuditEvent(tx, { ...event, ...auditFieldsOf(operator) }, now)
}

function toAdminOrganization({ createdAt, members, ...organization }: Row): AdminOrganization {
  return { ...organization, members: Number(members), createdAt: createdAt.toISOString() }
}

const organizationsDefault = 50

/** Routes for operators: list organizations, suspend and reactivate them. */
export function oversightRoutes(host: Host, kernel: ServerContext): void {
  const { db, clock } = kernel
  const { onRequest, of } = adminGuard(kernel)

  host.route({
    ...endpoints.listAdminOrganizations,
    onRequest,
    async handler({ query }) {
      const count = Number(query.limit ?? organizationsDefault)
      const found = await listAllOrganizations(db, query.cursor, count + 1)
      const organizations = found.slice(0, count)
      const nextCursor = found.length > count ? (organizations.at(-1)?.organizationId ?? null) : null
      return { organizations, nextCursor }
    },
  })

  host.route({
    ...endpoints.getAdminOrganization,
    onRequest,
    async handler({ params }) {
      return { organization: await getAnyOrganization(db, params.organizationId) }
    },
  })

  host.route({
    ...endpoints.setOrganizationStatus,
    onRequest,
    async handler(request) {
      const requested = { ...request.params, ...request.body }
      return { organization: await setStatus(db, of(request), requested, clock()) }
    },
  })
}
