import type { Identity } from '@countersign/protocol/accounts/identities'
import type { OpenInvitation, OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { useEffect, useState } from 'preact/hooks'
import { Refused } from '../../../lib/call.ts'
import { Actions } from '../../../components/form/Actions.tsx'
import { useDoing, type Action } from '../../../components/form/doing.ts'
import { StepHeading } from '../../../components/frame/StepHeading.tsx'
import { Waiting } from '../../../components/display/Waiting.tsx'
import { readSite } from '../../../lib/view.ts'
import { OwnNames } from '../OwnNames.tsx'
import { callBusiness, withFreshProof } from '../session/session.ts'
import { useBusinessWords } from '../words.ts'

type Props = { token: string; identities: Identity[]; onJoined: (organization: OwnOrganization) => void }

/** What an invitation is to, for whoever has followed its link; `over` where it holds no more. */
export function Invitation({ token, identities, onJoined }: Props) {
  const words = useBusinessWords()
  const doing = useDoing()
  const [invitation, setInvitation] = useState<OpenInvitation | 'over'>()
  const read = {
    name: 'retry',
    label: words.retry,
    do: async () => setInvitation(await readInvitation(token)),
  }
  useEffect(() => void doing.perform(read), [])
  if (invitation === undefined)
    return (
      <section class="step">
        {doing.problem === undefined ? <Waiting /> : <Actions of={[read]} doing={doing} />}
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

type JoiningProps = { token: string; invitation: OpenInvitation; own: Identity[]; onJoined: Props['onJoined'] }

/** `own` are the names that are invited, of those that the person has. */
function Joining({ token, invitation, own, onJoined }: JoiningProps) {
  const { joining, roles } = useBusinessWords()
  const doing = useDoing()
  const [identityId, setIdentityId] = useState(own[0]?.identityId ?? '')
  const chosen = own.find((identity) => identity.identityId === identityId)
  const { displayName, handle } = invitation.invitedBy
  const accept: Action = {
    name: 'accept-invitation',
    label: chosen ? joining.accept(chosen.displayName) : '',
    do: async () => {
      const given = { params: { token }, body: { identityId } }
      const joined = await withFreshProof(() => callBusiness('POST /api/invitations/:token/accept', given))
      onJoined(joined.organization)
    },
  }
  return (
    <section class="step">
      <StepHeading>{joining.title(invitation.organization.name)}</StepHeading>
      <p class="lead">{joining.invites(`${displayName} (@${handle})`, roles[invitation.role])}</p>
      <OwnNames legend={joining.as} identities={own} chosen={identityId} onChoose={setIdentityId} />
      {own.length === 0 && (
        <>
          <p>{joining.forAnother}</p>
          <p>
            <a class="button secondary" href={`${readSite().authUrl}/account/identities`}>
              {joining.names}
            </a>
          </p>
        </>
      )}
      <Actions of={chosen ? [accept] : []} doing={doing} />
    </section>
  )
}

async function readInvitation(token: string): Promise<OpenInvitation | 'over'> {
  try {
    return (await callBusiness('GET /api/invitations/:token', { params: { token } })).invitation
  } catch (error) {
    if (error instanceof Refused && error.code === 'invitation_not_found') return 'over'
    throw error
  }
}
