import type { OrganizationMember, OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { ConfirmDialog } from '../session/ConfirmDialog.tsx'
import { useBusinessMessages } from '../words.ts'
import { ApiError } from '../../../lib/api/call.ts'
import type { SignedAction } from '../session/acts.ts'
import { memberRef } from '../session/membership.ts'

type Props = {
  organization: OwnOrganization
  member: OrganizationMember
  /** True for the user's own membership. */
  leaving: boolean
  onAgreed: () => Promise<void>
  onClose: () => void
}

/** Asks for confirmation, and says what the member loses. */
export function RemoveMember({ organization, member, leaving, onAgreed, onClose }: Props) {
  const words = useBusinessMessages()
  const agree = leaving
    ? ({ name: 'leave-organization', label: words.leaveNow, look: 'danger', do: onAgreed } as const)
    : ({ name: 'remove-member', label: words.removeNow, look: 'danger', do: onAgreed } as const)
  const title = leaving ? words.leaveTitle(organization.name) : words.removeTitle(member.displayName)
  return (
    <ConfirmDialog title={title} agree={agree} onClose={onClose}>
      {leaving ? words.leaveWhat : words.removeWhat}
    </ConfirmDialog>
  )
}

/** Removes a member, or lets the user leave as one of their identities. */
export async function removeMember(
  how: SignedAction,
  organization: OwnOrganization,
  { member, leaving }: { member: Pick<OrganizationMember, 'memberId' | 'identityId'>; leaving: boolean },
): Promise<void> {
  const acting = leaving ? { ...organization, identityId: member.identityId } : organization
  const given = { ...memberRef(acting, member), body: null }
  await how('DELETE /api/organizations/:organizationId/members/:memberId', given).catch(acceptGone)
}

/** Ignores that another admin has already removed the member. */
function acceptGone(error: unknown): void {
  if (!(error instanceof ApiError && error.code === 'member_not_found')) throw error
}
