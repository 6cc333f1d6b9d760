import type { Identity } from '@countersign/protocol/accounts/identities'
import type { InvitationPreview, OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { useEffect, useState } from 'preact/hooks'
import { ApiError } from '../../../lib/api/call.ts'
import { Actions } from '../../../components/form/Actions.tsx'
import { useActions, type Action } from '../../../components/form/use-actions.ts'
import { StepHeading } from '../../../components/frame/Frame.tsx'
import { Spinner } from '../../../components/display/Facts.tsx'
import { readSiteSettings } from '../../../lib/page-data.ts'
import { IdentitySelect } from '../NewOrganization.tsx'
import { callBusiness, withRecentAuthentication } from '../session/session.ts'
import { useBusinessMessages } from '../words.ts'

type Props = { token: string; identities: Identity[]; onJoined: (organization: OwnOrganization) => void }

/** Shows an invitation to the user who followed its link, or `over` if it is not valid any more. */
export function Invitation({ token, identities, onJoined }: Props) {
  const words = useBusinessMessages()
  const doing = useActions()
  const [invitation, setInvitation] = useState<InvitationPreview | 'over'>()
  const read = {
    name: 'retry',
    label: words.retry,
    do: async () => setInvitation(await readInvitation(token)),
  }
  useEffect(() => void doing.perform(read), [])
  if (invitation === undefined)
    return (
      <section class="step">
        {doing.problem === undefined ? <Spinner /> : <Actions of={[read]} doing={doing} />}
      </section>
    )
  if (invitation === 'over')
    return (
      <section class="step">
        <StepHeading>{words.joining.over}</StepHeading>
        <p>{words.joining.askAgain}</p>
      </section>
    )
  const own = identities.filter(({ identityId }) => invitation.identityIds.includes(identityId))
  return <Joining token={token} invitation={invitation} own={own} onJoined={onJoined} />
}

type JoiningProps = { token: string; invitation: InvitationPreview; own: Identity[]; onJoined: Props['onJoined'] }

/** `own`: the identities of the user that are invited. */
function Joining({ token, invitation, own, onJoined }: JoiningProps) {
  const { joining, roles } = useBusinessMessages()
  const doing = useActions()
  const [identityId, setIdentityId] = useState(own[0]?.identityId ?? '')
  const chosen = own.find((identity) => identity.identityId === identityId)
  const { displayName, handle } = invitation.invitedBy
  const accept: Action = {
    name: 'accept-invitation',
    label: chosen ? joining.accept(chosen.displayName) : '',
    do: async () => {
      const given = { params: { token }, body: { identityId } }
      const joined = await withRecentAuthentication(() => callBusiness('POST /api/invitations/:token/accept', given))
      onJoined(joined.organization)
    },
  }
  return (
    <section class="step">
      <StepHeading>{joining.title(invitation.organization.name)}</StepHeading>
      <p class="lead">{joining.invites(`${displayName} (@${handle})`, roles[invitation.role])}</p>
      <IdentitySelect legend={joining.as} identities={own} chosen={identityId} onChoose={setIdentityId} />
      {own.length === 0 && (
        <>
          <p>{joining.forAnother}</p>
          <p>
            <a class="button secondary" href={`${readSiteSettings().authUrl}/account/identities`}>
              {joining.names}
            </a>
          </p>
        </>
      )}
      <Actions of={chosen ? [accept] : []} doing={doing} />
    </section>
  )
}

async function readInvitation(token: string): Promise<InvitationPreview | 'over'> {
  try {
    return (await callBusiness('GET /api/invitations/:token', { params: { token } })).invitation
  } catch (error) {
    if (error instanceof ApiError && error.code === 'invitation_not_found') return 'over'
    throw error
  }
}
