import type { Identity } from '@countersign/protocol/identities'
import type { OrganizationMember, OwnOrganization } from '@countersign/protocol/organizations'
import { dayOf } from '../dates.ts'
import { useSpeech } from '../ui/Root.tsx'
import { mayChange } from './rights.ts'
import { useBusinessWords } from './words.ts'

export type MemberQuestion = { about: 'change' | 'remove' | 'leave'; member: OrganizationMember }

type Props = {
  organization: OwnOrganization
  identities: Identity[]
  members: OrganizationMember[]
  onAsk: (question: MemberQuestion) => void
}

export function MemberList({ organization, identities, members, onAsk }: Props) {
  const isOwn = ({ identityId }: OrganizationMember) => identities.some((each) => each.identityId === identityId)
  return (
    <ul class="entries">
      {members.map((member) => (
        <li key={member.memberId} class="entry">
          <Description of={member} />
          <Choices of={questionsAbout(member, organization, isOwn(member))} member={member} onAsk={onAsk} />
        </li>
      ))}
    </ul>
  )
}

/** What one may ask to do with a member: oneself one leaves. */
function questionsAbout(member: OrganizationMember, organization: OwnOrganization, own: boolean) {
  const may = mayChange(organization, member)
  return [...(may ? (['change'] as const) : []), ...(own ? (['leave'] as const) : may ? (['remove'] as const) : [])]
}

function Description({ of: member }: { of: OrganizationMember }) {
  const words = useBusinessWords()
  const { language } = useSpeech()
  const facts = [
    `@${member.handle}`,
    words.roles[member.role],
    member.signingAuthority && words.hasAuthority,
    words.since(dayOf(member.joinedAt, language, new Date())),
  ]
  return (
    <div>
      <h2 class="written-name">{member.displayName}</h2>
      <p>{facts.filter(Boolean).join(' · ')}</p>
    </div>
  )
}

type ChoicesProps = { of: MemberQuestion['about'][]; member: OrganizationMember; onAsk: Props['onAsk'] }

function Choices({ of, member, onAsk }: ChoicesProps) {
  const words = useBusinessWords()
  return (
    <div class="choices">
      {of.map((about) => (
        <button
          key={about}
          type="button"
          class="button quiet"
          aria-label={words.ask[about](member.handle)}
          aria-haspopup="dialog"
          data-action={`${about}-of-member`}
          data-identity-id={member.identityId}
          onClick={() => onAsk({ about, member })}
        >
          {words[about]}
        </button>
      ))}
    </div>
  )
}
