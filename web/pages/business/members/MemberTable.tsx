/* oxlint-disable react/no-unstable-nested-components -- Cells are functions that the table calls, no components. */
import type { Identity } from '@countersign/protocol/accounts/identities'
import type { OrganizationMember, OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { useLocale } from '../../../components/frame/Root.tsx'
import { Avatar, Person } from '../../../components/ui/Avatar.tsx'
import { Chip } from '../../../components/ui/Chip.tsx'
import type { IconName } from '../../../components/ui/Icon.tsx'
import { Menu } from '../../../components/ui/Menu.tsx'
import { type Column, Table } from '../../../components/ui/Table.tsx'
import { formatDayAlone } from '../../../lib/text/dates.ts'
import { canUpdate } from '../session/membership.ts'
import { useBusinessMessages, usePeopleMessages } from '../words.ts'
import { atHandle } from '../../../lib/text/handle.ts'

export type MemberDialog = { about: 'change' | 'remove' | 'leave'; member: OrganizationMember }

type Props = {
  organization: OwnOrganization
  identities: Identity[]
  members: OrganizationMember[]
  onSelect: (question: MemberDialog) => void
}

export function MemberTable({ organization, identities, members, onSelect }: Props) {
  const words = useBusinessMessages()
  const people = usePeopleMessages()
  const { language } = useLocale()
  const isOwn = ({ identityId }: OrganizationMember) => identities.some((each) => each.identityId === identityId)
  const columns: Column<OrganizationMember>[] = [
    {
      key: 'name',
      label: people.columns.name,
      cell: (member) => (
        <Person
          avatar={<Avatar name={member.displayName} picture={member.avatarUrl} toneOf={member.handle} size="sm" />}
          name={
            <>
              {member.displayName} {isOwn(member) && <Chip>{people.you}</Chip>}
            </>
          }
          detail={member.email ? `${atHandle(member.handle)} · ${member.email}` : atHandle(member.handle)}
        />
      ),
    },
    {
      key: 'role',
      label: people.columns.role,
      cell: ({ role }) => <Chip tone={role === 'owner' ? 'pen' : 'mute'}>{words.roles[role]}</Chip>,
    },
    {
      key: 'signs',
      label: people.columns.signs,
      cell: ({ signingAuthority }) =>
        signingAuthority ? (
          <Chip tone="ok" icon="signature">
            {people.signs}
          </Chip>
        ) : (
          <span class="soft">{people.signsNot}</span>
        ),
    },
    {
      key: 'joined',
      label: people.columns.joined,
      cell: ({ joinedAt }) => <time dateTime={joinedAt}>{formatDayAlone(joinedAt, language, new Date())}</time>,
    },
    {
      key: 'actions',
      label: people.columns.actions,
      isActions: true,
      cell: (member) => {
        const dialogs = dialogsFor(member, organization, isOwn(member))
        if (dialogs.length === 0) return null
        return (
          <Menu
            label={people.more(member.displayName)}
            action="member-menu"
            items={dialogs.map((about) => ({
              label: words[about],
              icon: icons[about],
              danger: about !== 'change',
              action: `${about}-of-member`,
              onChoose: () => onSelect({ about, member }),
            }))}
          />
        )
      },
    },
  ]
  return <Table caption={words.sections.members} columns={columns} rows={members} keyOf={({ memberId }) => memberId} />
}

const icons: Record<MemberDialog['about'], IconName> = { change: 'pencil', remove: 'user-x', leave: 'log-out' }

/** Returns the dialogs that a member's row offers. Users leave their own membership. */
function dialogsFor(member: OrganizationMember, organization: OwnOrganization, own: boolean) {
  const may = canUpdate(organization, member)
  return [...(may ? (['change'] as const) : []), ...(own ? (['leave'] as const) : may ? (['remove'] as const) : [])]
}
