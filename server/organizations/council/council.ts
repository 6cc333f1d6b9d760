import type { Council, CouncilSignatory } from '@countersign/protocol/organizations/council'
import { limits } from '@countersign/protocol/formats/limits'
import type { OrganizationId } from '@countersign/protocol/ids'
import type { PasskeySession } from '#accounts/sessions/session.ts'
import { requireMember, type MemberContext } from '#organizations/membership/access.ts'
import {
  findSignatoryOfUser,
  listSignatories,
  loadCouncil,
  type SignatoryRow,
} from '#organizations/membership/council/council.ts'
import { findOrganization, listMembershipsOfSession } from '#organizations/membership/member.ts'
import { defineErrors } from '#platform/api-error.ts'
import { addSeconds } from '#platform/clock.ts'
import type { Database } from '#platform/database/database.ts'
import type { ServerContext } from '#platform/module/services.ts'

const errors = defineErrors({
  organization_not_found: [404, 'Organization not found, or you are neither a member nor a signatory.'],
})

/**
 * Returns the council of an organization to a member, or to a signatory who has left. Throws the errors of
 * `requireMember`, and `organization_not_found`.
 */
export async function getCouncil(
  kernel: Pick<ServerContext, 'db' | 'config'>,
  asking: MemberContext & { session: PasskeySession },
  now: Date,
): Promise<Council> {
  const { session, organizationId } = asking
  const memberships = await listMembershipsOfSession(kernel.db, session, { organizationId })
  if (memberships.length > 0) await requireMember(kernel, asking, 'read', now)
  else if (!(await findSignatoryOfUser(kernel.db, organizationId, session.userId)))
    throw errors.organization_not_found()
  return readCouncil(kernel.db, { organizationId, session }, now)
}

/** Reads a council as the user of a session sees it, in the transaction that has changed it if there is one. */
export async function readCouncil(
  db: Database,
  { organizationId, session }: { organizationId: OrganizationId; session: Pick<PasskeySession, 'userId'> },
  now: Date,
): Promise<Council> {
  const organization = await findOrganization(db, organizationId)
  if (!organization) throw errors.organization_not_found()
  const { approvalsNeeded } = organization
  const signatories = await listSignatories(db, organizationId)
  const { resetRequestedAt, resetAt } = await loadCouncil(db, organization)
  const expiresAt = resetRequestedAt && addSeconds(resetRequestedAt, limits.councilResetUntilSeconds)
  const requestedAt = expiresAt && expiresAt > now ? resetRequestedAt : undefined
  return {
    approvalsNeeded,
    signatories: signatories.map(toSignatory),
    resetRequestedAt: requestedAt?.toISOString() ?? null,
    resetPossibleAt: requestedAt ? addSeconds(requestedAt, limits.councilResetAfterSeconds).toISOString() : null,
    resetExpiresAt: requestedAt ? addSeconds(requestedAt, limits.councilResetUntilSeconds).toISOString() : null,
    resetAt: resetAt?.toISOString() ?? null,
    isSignatory: signatories.some(({ userId }) => userId === session.userId),
  }
}

function toSignatory({ userId: _hidden, admittedAt, suspendedAt, ...signatory }: SignatoryRow): CouncilSignatory {
  return {
    ...signatory,
    admittedAt: admittedAt.toISOString(),
    suspendedAt: suspendedAt?.toISOString() ?? null,
  }
}
