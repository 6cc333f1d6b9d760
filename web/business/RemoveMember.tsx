import type { OrganizationMember, OwnOrganization } from '@countersign/protocol/organizations'
import { Refused } from '../call.ts'
import { Actions } from '../ui/Actions.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { useDoing, type Action } from '../ui/doing.ts'
import { useWords } from '../ui/Root.tsx'
import { aboutMember } from './memberships.ts'
import { callBusiness, withFreshProof } from './session.ts'
import { useBusinessWords } from './words.ts'

type Props = {
  organization: OwnOrganization
  member: OrganizationMember
  /** Whether it is the person's own membership. */
  leaving: boolean
  onRemoved: () => void
  onClose: () => void
}

/** Says what a member loses, and removes them; or lets the person themselves leave. */
export function RemoveMember({ organization, member, leaving, onRemoved, onClose }: Props) {
  const words = useBusinessWords()
  const { frame } = useWords()
  const doing = useDoing()
  const remove: Action = {
    name: leaving ? 'leave-organization' : 'remove-member',
    label: leaving ? words.leaveNow : words.removeNow,
    do: async () => {
      // Whoever leaves does so as the name that leaves.
      const acting = leaving ? { ...organization, identityId: member.identityId } : organization
      const given = { ...aboutMember(acting, member), body: null }
      const gone = () => callBusiness('DELETE /api/organizations/:organizationId/members/:memberId', given)
      await withFreshProof(gone).catch(acceptGone)
      onRemoved()
    },
  }
  const cancel: Action = { name: 'cancel', label: frame.cancel, look: 'quiet', do: onClose }
  const title = leaving ? words.leaveTitle(organization.name) : words.removeTitle(member.displayName)
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{leaving ? words.leaveWhat : words.removeWhat}</p>
      <Actions of={[remove, cancel]} doing={doing} />
    </Dialog>
  )
}

/** Removed already, by another administrator: what the person wants is so. */
function acceptGone(error: unknown): void {
  if (!(error instanceof Refused && error.code === 'member_not_found')) throw error
}
