import type { Invitation } from '@countersign/protocol/organizations/invitations'
import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { ErrorMessage } from '../../../components/form/Dialog.tsx'
import { useActions } from '../../../components/form/use-actions.ts'
import { useLocale } from '../../../components/frame/Root.tsx'
import { toast } from '../../../components/frame/toast.ts'
import { Avatar, Person } from '../../../components/ui/Avatar.tsx'
import { Card, Empty } from '../../../components/ui/Card.tsx'
import { Chip } from '../../../components/ui/Chip.tsx'
import { Menu, type MenuItem } from '../../../components/ui/Menu.tsx'
import { type Column, Table } from '../../../components/ui/Table.tsx'
import { ApiError } from '../../../lib/api/call.ts'
import { dayOf, formatAgo } from '../../../lib/text/dates.ts'
import { act } from '../session/acts.ts'
import { memberContext } from '../session/membership.ts'
import { callBusiness } from '../session/session.ts'
import { useBusinessMessages, usePeopleMessages } from '../words.ts'

type Props = {
  organization: OwnOrganization
  invitations: Invitation[]
  onChange: (invitations: Invitation[]) => void
}

/** Lists the pending invitations, which can be mailed again and revoked. */
export function InvitationTable({ organization, invitations, onChange }: Props) {
  const words = useBusinessMessages()
  const people = usePeopleMessages()
  const { language } = useLocale()
  const doing = useActions()
  const now = new Date()
  const { params, querystring } = memberContext(organization)
  const givenFor = ({ invitationId }: Invitation) => ({ params: { ...params, invitationId }, querystring })
  const revoke = (invitation: Invitation) =>
    doing.perform({
      name: 'revoke',
      do: async () => {
        const given = { ...givenFor(invitation), body: null }
        await act('DELETE /api/organizations/:organizationId/invitations/:invitationId', given).catch(acceptGone)
        toast(people.revoked)
        onChange(invitations.filter((each) => each !== invitation))
      },
    })
  const mail = (invitation: Invitation) =>
    doing.perform({
      name: 'mail',
      do: async () => {
        const path = 'POST /api/organizations/:organizationId/invitations/:invitationId/mail'
        const mailed = (await callBusiness(path, givenFor(invitation))).invitation
        toast(people.mailedAgain(mailed.email ?? ''))
        onChange(invitations.map((each) => (each === invitation ? mailed : each)))
      },
    })
  const columns: Column<Invitation>[] = [
    {
      key: 'invitee',
      label: people.invitee,
      cell: (invitation) => (
        <Person avatar={<Avatar name={bareName(invitation)} size="sm" />} name={inviteeOf(invitation)} />
      ),
    },
    { key: 'role', label: words.role, cell: ({ role }) => <Chip>{words.roles[role]}</Chip> },
    { key: 'by', label: people.by, cell: ({ invitedBy }) => invitedBy?.displayName ?? '' },
    {
      key: 'mail',
      label: people.mail,
      cell: ({ email, mailedAt }) =>
        mailedAt === null ? (
          <Chip tone={email === null ? 'mute' : 'wait'}>{email === null ? people.link : people.notMailed}</Chip>
        ) : (
          <Chip tone="ok" icon="mail">
            {people.mailed(formatAgo(mailedAt, language, now))}
          </Chip>
        ),
    },
    {
      key: 'expires',
      label: people.expires,
      cell: ({ expiresAt }) => <time dateTime={expiresAt}>{dayOf(expiresAt, language, now)}</time>,
    },
    {
      key: 'actions',
      label: people.columns.actions,
      isActions: true,
      cell: (invitation) => {
        const again: MenuItem = {
          label: people.mailAgain,
          icon: 'mail',
          action: `mail-${invitation.invitationId}`,
          onChoose: () => void mail(invitation),
        }
        const end: MenuItem = {
          label: words.withdraw,
          icon: 'x',
          danger: true,
          action: `withdraw-${invitation.invitationId}`,
          onChoose: () => void revoke(invitation),
        }
        const items = invitation.email === null ? [end] : [again, end]
        return <Menu label={people.more(inviteeOf(invitation))} action="invitation-menu" items={items} />
      },
    },
  ]
  return (
    <>
      <ErrorMessage of={doing.problem} />
      <Card flush>
        {invitations.length === 0 ? (
          <Empty icon="mail" title={people.noInvitations}>
            <p>{people.noInvitationsWhat}</p>
          </Empty>
        ) : (
          <Table
            caption={people.tabs.invitations}
            columns={columns}
            rows={invitations}
            keyOf={({ invitationId }) => invitationId}
          />
        )}
      </Card>
    </>
  )
}

function inviteeOf({ handle, email }: Invitation): string {
  return handle === null ? (email ?? '') : `@${handle}`
}

function bareName({ handle, email }: Invitation): string {
  return handle ?? email ?? ''
}

/** Ignores that the invitation was already revoked or accepted. It cannot be used any more. */
function acceptGone(error: unknown): void {
  if (!(error instanceof ApiError && error.code === 'invitation_not_found')) throw error
}
