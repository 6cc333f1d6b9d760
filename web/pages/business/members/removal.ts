import type { OrganizationMember, OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { Refused } from '../../../lib/call.ts'
import type { Act } from '../session/acts.ts'
import { aboutMember } from '../session/memberships.ts'

/** Removes a member; or has one leave, as the name that leaves. */
export async function removeMember(
  how: Act,
  organization: OwnOrganization,
  { member, leaving }: { member: Pick<OrganizationMember, 'memberId' | 'identityId'>; leaving: boolean },
): Promise<void> {
  const acting = leaving ? { ...organization, identityId: member.identityId } : organization
  const given = { ...aboutMember(acting, member), body: null }
  await how('DELETE /api/organizations/:organizationId/members/:memberId', given).catch(acceptGone)
}

/** Removed already, by another administrator: what the person wants is so. */
function acceptGone(error: unknown): void {
  if (!(error instanceof Refused && error.code === 'member_not_found')) throw error
}
