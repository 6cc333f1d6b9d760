import type { Identity } from '@countersign/protocol/accounts/identities'
import type { OrganizationMember, OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { dayOf } from '../../../lib/text/dates.ts'
import { useActions, type ActionState } from '../../../components/form/use-actions.ts'
import { ErrorMessage } from '../../../components/form/Dialog.tsx'
import { useLocale } from '../../../components/frame/Root.tsx'
import { canUpdate } from '../session/membership.ts'
import { useBusinessMessages } from '../words.ts'

export type MemberDialog = { about: 'change' | 'remove' | 'leave'; member: OrganizationMember }

type Props = {
  organization: OwnOrganization
  identities: Identity[]
  members: OrganizationMember[]
  onSelect: (question: MemberDialog) => unknown
}

export function MemberList({ organization, identities, members, onSelect }: Props) {
  const isOwn = ({ identityId }: OrganizationMember) => identities.some((each) => each.identityId === identityId)
  return (
    <ul class="entries">
      {members.map((member) => (
        <Entry
          key={member.memberId}
          of={member}
          choices={dialogsFor(member, organization, isOwn(member))}
          onSelect={onSelect}
        />
      ))}
    </ul>
  )
}

/** Returns the dialogs that a member's entry offers. Users leave their own membership. */
function dialogsFor(member: OrganizationMember, organization: OwnOrganization, own: boolean) {
  const may = canUpdate(organization, member)
  return [...(may ? (['change'] as const) : []), ...(own ? (['leave'] as const) : may ? (['remove'] as const) : [])]
}

type EntryProps = { of: OrganizationMember; choices: MemberDialog['about'][]; onSelect: Props['onSelect'] }

function Entry({ of: member, choices, onSelect }: EntryProps) {
  const doing = useActions()
  return (
    <li class="entry">
      <div>
        <Description of={member} />
        <ErrorMessage of={doing.problem} />
      </div>
      <Choices of={choices} member={member} onSelect={onSelect} doing={doing} />
    </li>
  )
}

function Description({ of: member }: { of: OrganizationMember }) {
  const words = useBusinessMessages()
  const { language } = useLocale()
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
  of: MemberDialog['about'][]
  member: OrganizationMember
  doing: ActionState
}

function Choices({ of, member, onSelect, doing }: ChoicesProps) {
  const words = useBusinessMessages()
  const select = (about: MemberDialog['about']) =>
    void doing.perform({ name: about, do: () => onSelect({ about, member }) })
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
          onClick={() => select(about)}
        >
          {words[about]}
        </button>
      ))}
    </div>
  )
}
