import type { Invitation, OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { useState } from 'preact/hooks'
import { ApiError } from '../../../lib/api/call.ts'
import { dayOf } from '../../../lib/text/dates.ts'
import { ActionButton, Actions } from '../../../components/form/Actions.tsx'
import { useActions, type Action } from '../../../components/form/use-actions.ts'
import { useLocale } from '../../../components/frame/Root.tsx'
import { act } from '../session/acts.ts'
import { Invite } from './Invite.tsx'
import { memberContext } from '../session/membership.ts'
import { useBusinessMessages } from '../words.ts'

type Props = {
  organization: OwnOrganization
  invitations: Invitation[]
  onChange: (invitations: Invitation[]) => void
}

/** Lists the pending invitations. */
export function Invitations({ organization, invitations, onChange }: Props) {
  const words = useBusinessMessages()
  const { language } = useLocale()
  const doing = useActions()
  const [inviting, setInviting] = useState(false)
  const withdraw = (invitation: Invitation): Action => ({
    name: `withdraw-${invitation.invitationId}`,
    label: words.withdraw,
    look: 'quiet',
    do: async () => {
      const { params, querystring } = memberContext(organization)
      const given = { params: { ...params, invitationId: invitation.invitationId }, querystring, body: null }
      await act('DELETE /api/organizations/:organizationId/invitations/:invitationId', given).catch(acceptGone)
      onChange(invitations.filter((each) => each !== invitation))
    },
  })
  return (
    <section class="apart">
      <h2>{words.invitations}</h2>
      <ul class="entries">
        {invitations.map((invitation) => (
          <li key={invitation.invitationId} class="entry">
            <div>
              <h3>{invitation.handle === null ? invitation.email : `@${invitation.handle}`}</h3>
              <p>
                {words.roles[invitation.role]} · {words.until(dayOf(invitation.expiresAt, language, new Date()))}
              </p>
            </div>
            <ActionButton action={withdraw(invitation)} doing={doing} />
          </li>
        ))}
      </ul>
      <Actions of={[]} doing={doing} />
      <p>
        <button
          type="button"
          class="button secondary"
          data-action="invite"
          aria-haspopup="dialog"
          onClick={() => setInviting(true)}
        >
          {words.invite}
        </button>
      </p>
      {inviting && (
        <Invite
          organization={organization}
          onInvited={(invitation) => onChange([invitation, ...invitations])}
          onClose={() => setInviting(false)}
        />
      )}
    </section>
  )
}

/** Ignores that the invitation was already revoked or accepted. It cannot be used any more. */
function acceptGone(error: unknown): void {
  if (!(error instanceof ApiError && error.code === 'invitation_not_found')) throw error
}
