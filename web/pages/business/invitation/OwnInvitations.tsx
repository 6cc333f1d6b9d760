import type { OwnInvitation } from '@countersign/protocol/organizations/invitations'
import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { ActionButton } from '../../../components/form/Actions.tsx'
import { ErrorMessage } from '../../../components/form/Dialog.tsx'
import { type Action, useActions } from '../../../components/form/use-actions.ts'
import { useLocale } from '../../../components/frame/Root.tsx'
import { toast } from '../../../components/frame/toast.ts'
import { Avatar } from '../../../components/ui/Avatar.tsx'
import { Card } from '../../../components/ui/Card.tsx'
import { dayOf } from '../../../lib/text/dates.ts'
import { callBusiness, withRecentAuthentication } from '../session/session.ts'
import { useBusinessMessages, usePeopleMessages } from '../words.ts'
import { atHandle } from '../../../lib/text/handle.ts'

type Props = {
  invitations: OwnInvitation[]
  onJoined: (organization: OwnOrganization) => void
  onDeclined: (invitation: OwnInvitation) => void
}

/** The open invitations to usernames and addresses of the user. */
export function OwnInvitations({ invitations, ...answers }: Props) {
  const words = usePeopleMessages().own
  return (
    <Card title={words.title} accent flush>
      <ul class="list">
        {invitations.map((invitation) => (
          <Entry key={invitation.invitationId} of={invitation} {...answers} />
        ))}
      </ul>
    </Card>
  )
}

function Entry({ of: invitation, onJoined, onDeclined }: Omit<Props, 'invitations'> & { of: OwnInvitation }) {
  const words = usePeopleMessages().own
  const { roles } = useBusinessMessages()
  const { language } = useLocale()
  const doing = useActions()
  const { organization, invitedBy, role, email, expiresAt, canJoin } = invitation
  const { organizationId, invitationId, identityIds } = invitation
  const [identityId = ''] = identityIds
  const given = { params: { organizationId, invitationId }, body: { identityId } }
  const path = '/api/organizations/:organizationId/invitations/:invitationId'
  const join: Action = {
    name: `join-${invitationId}`,
    label: words.join,
    do: async () => {
      const joined = await withRecentAuthentication(() => callBusiness(`POST ${path}/accept`, given))
      onJoined(joined.organization)
    },
  }
  const decline: Action = {
    name: `decline-${invitationId}`,
    label: words.decline,
    look: 'secondary',
    do: async () => {
      await callBusiness(`POST ${path}/decline`, given)
      toast(words.declined(organization.name))
      onDeclined(invitation)
    },
  }
  return (
    <li>
      <Avatar kind="organization" name={organization.name} picture={organization.logoUrl} toneOf={organizationId} />
      <div class="body">
        <strong>{words.as(roles[role], organization.name)}</strong>
        <small>
          {words.from(
            `${invitedBy.displayName} (${atHandle(invitedBy.handle)})`,
            dayOf(expiresAt, language, new Date()),
          )}
        </small>
        {!canJoin && <small>{words.needsLink(email ?? '')}</small>}
      </div>
      {canJoin && (
        <div class="acts">
          <ErrorMessage of={doing.problem} />
          <ActionButton action={join} doing={doing} />
          <ActionButton action={decline} doing={doing} />
        </div>
      )}
    </li>
  )
}
