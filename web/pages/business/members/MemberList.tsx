import type { Identity } from '@countersign/protocol/accounts/identities'
import type { OrganizationMember, OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { dayOf } from '../../../lib/text/dates.ts'
import { useDoing, type Doing } from '../../../components/form/doing.ts'
import { Problem } from '../../../components/form/Problem.tsx'
import { useSpeech } from '../../../components/frame/Root.tsx'
import { mayChange } from '../session/rights.ts'
import { useBusinessWords } from '../words.ts'

export type MemberQuestion = { about: 'change' | 'remove' | 'leave'; member: OrganizationMember }

type Props = {
  organization: OwnOrganization
  identities: Identity[]
  members: OrganizationMember[]
  onAsk: (question: MemberQuestion) => unknown
}

export function MemberList({ organization, identities, members, onAsk }: Props) {
  const isOwn = ({ identityId }: OrganizationMember) => identities.some((each) => each.identityId === identityId)
  return (
    <ul class="entries">
      {members.map((member) => (
        <Entry
          key={member.memberId}
          of={member}
          choices={questionsAbout(member, organization, isOwn(member))}
          onAsk={onAsk}
        />
      ))}
    </ul>
  )
}

/** What one may ask to do with a member: oneself one leaves. */
function questionsAbout(member: OrganizationMember, organization: OwnOrganization, own: boolean) {
  const may = mayChange(organization, member)
  return [...(may ? (['change'] as const) : []), ...(own ? (['leave'] as const) : may ? (['remove'] as const) : [])]
}

type EntryProps = { of: OrganizationMember; choices: MemberQuestion['about'][]; onAsk: Props['onAsk'] }

function Entry({ of: member, choices, onAsk }: EntryProps) {
  const doing = useDoing()
  return (
    <li class="entry">
      <div>
        <Description of={member} />
        <Problem of={doing.problem} />
      </div>
      <Choices of={choices} member={member} onAsk={onAsk} doing={doing} />
    </li>
  )
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
    <>
      <h2 class="written-name">{member.displayName}</h2>
      <p>{facts.filter(Boolean).join(' · ')}</p>
    </>
  )
}

type ChoicesProps = Omit<EntryProps, 'of' | 'choices'> & {
  of: MemberQuestion['about'][]
  member: OrganizationMember
  doing: Doing
}

function Choices({ of, member, onAsk, doing }: ChoicesProps) {
  const words = useBusinessWords()
  const ask = (about: MemberQuestion['about']) =>
    void doing.perform({ name: about, do: () => onAsk({ about, member }) })
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
          aria-busy={doing.current === about}
          aria-disabled={doing.current !== undefined}
          onClick={() => ask(about)}
        >
          {words[about]}
        </button>
      ))}
    </div>
  )
}
