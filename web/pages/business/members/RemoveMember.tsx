import type { OrganizationMember, OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { Question } from '../session/Question.tsx'
import { useBusinessWords } from '../words.ts'

type Props = {
  organization: OwnOrganization
  member: OrganizationMember
  /** Whether it is the person's own membership. */
  leaving: boolean
  onAgreed: () => Promise<void>
  onClose: () => void
}

/** Says what a member loses, or the person themselves who leaves. */
export function RemoveMember({ organization, member, leaving, onAgreed, onClose }: Props) {
  const words = useBusinessWords()
  const agree = leaving
    ? { name: 'leave-organization', label: words.leaveNow, do: onAgreed }
    : { name: 'remove-member', label: words.removeNow, do: onAgreed }
  const title = leaving ? words.leaveTitle(organization.name) : words.removeTitle(member.displayName)
  return (
    <Question title={title} agree={agree} onClose={onClose}>
      {leaving ? words.leaveWhat : words.removeWhat}
    </Question>
  )
}
