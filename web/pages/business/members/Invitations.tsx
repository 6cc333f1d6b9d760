import type { Invitation, OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { useState } from 'preact/hooks'
import { Refused } from '../../../lib/call.ts'
import { dayOf } from '../../../lib/text/dates.ts'
import { ActionButton, Actions } from '../../../components/form/Actions.tsx'
import { useDoing, type Action } from '../../../components/form/doing.ts'
import { useSpeech } from '../../../components/frame/Root.tsx'
import { act } from '../session/acts.ts'
import { Invite } from './Invite.tsx'
import { asMember } from '../session/memberships.ts'
import { useBusinessWords } from '../words.ts'

type Props = {
  organization: OwnOrganization
  invitations: Invitation[]
  onChange: (invitations: Invitation[]) => void
}

/** Who is invited and has not come yet. */
export function Invitations({ organization, invitations, onChange }: Props) {
  const words = useBusinessWords()
  const { language } = useSpeech()
  const doing = useDoing()
  const [inviting, setInviting] = useState(false)
  const withdraw = (invitation: Invitation): Action => ({
    name: `withdraw-${invitation.invitationId}`,
    label: words.withdraw,
    look: 'quiet',
    do: async () => {
      const { params, querystring } = asMember(organization)
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

/** Withdrawn already, or accepted meanwhile: nobody can use it any more. */
function acceptGone(error: unknown): void {
  if (!(error instanceof Refused && error.code === 'invitation_not_found')) throw error
}
