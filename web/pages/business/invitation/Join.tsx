import type { Identity } from '@countersign/protocol/accounts/identities'
import type { InvitationPreview } from '@countersign/protocol/organizations/invitations'
import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { useEffect, useState } from 'preact/hooks'
import { Actions } from '../../../components/form/Actions.tsx'
import { RadioGroup } from '../../../components/form/Choice.tsx'
import { type Action, useActions } from '../../../components/form/use-actions.ts'
import { Note } from '../../../components/ui/Chip.tsx'
import { explainedBy } from '../../../lib/api/explained.ts'
import { readSiteSettings } from '../../../lib/page-data.ts'
import { callBusiness, withRecentAuthentication } from '../session/session.ts'
import { type JoinChoice, joinChoices, onlyChoice } from './choices.ts'
import { noteIntent, takeIntent } from './intent.ts'
import { useInvitationMessages } from './words.ts'
import { atHandle } from '../../../lib/text/handle.ts'

type Props = {
  token: string
  invitation: InvitationPreview
  identities: Identity[]
  onJoined: (organization: OwnOrganization) => void
}

/**
 * Lets a signed-in user join. If they chose to on this page, and left it only to sign in, they join at once, unless
 * several of their identities can.
 */
export function Join({ token, invitation, identities, onJoined }: Props) {
  const words = useInvitationMessages()
  const doing = useActions()
  const choices = joinChoices(invitation, identities)
  const [identityId, setIdentityId] = useState(choices[0]?.identity.identityId ?? '')
  const chosen = choices.find(({ identity }) => identity.identityId === identityId)
  const accept = (choice: JoinChoice): Action => ({
    name: 'accept-invitation',
    label: words.join(choice.identity.displayName),
    do: async () => {
      const { verifyEmail } = choice
      const body = { identityId: choice.identity.identityId, ...(verifyEmail && { verifyEmail }) }
      noteIntent({ token, ...body })
      const given = { params: { token }, body }
      const accepted = withRecentAuthentication(() => callBusiness('POST /api/invitations/:token/accept', given))
      // What the user chose stays noted only while they are away to authenticate.
      const joined = await accepted
        .finally(() => takeIntent(token))
        .catch(explainedBy({ email_domain_required: words.domainRequired }))
      onJoined(joined.organization)
    },
  })
  useEffect(() => {
    const intent = takeIntent(token)
    if (!intent) return
    const noted = choices.find(
      ({ identity, verifyEmail }) =>
        identity.identityId === intent.identityId && verifyEmail === (intent.verifyEmail ?? false),
    )
    const choice = intent.identityId === undefined ? onlyChoice(choices) : noted
    if (choice) void doing.perform(accept(choice))
  }, [])
  if (!chosen) return <NotInvited invitation={invitation} identities={identities} />
  return (
    <>
      {choices.length > 1 && (
        <RadioGroup
          name="identityId"
          legend={words.as}
          of={choices.map(({ identity }) => ({
            value: identity.identityId,
            label: identity.displayName,
            about: atHandle(identity.handle),
          }))}
          chosen={[identityId]}
          onChoose={setIdentityId}
        />
      )}
      {chosen.verifyEmail && invitation.email !== null && <Proof email={invitation.email} of={chosen.identity} />}
      <Actions of={[accept(chosen)]} doing={doing} />
    </>
  )
}

/** Says which address the identity gets, and which it loses. */
function Proof({ email, of: { handle, email: before } }: { email: string; of: Identity }) {
  const words = useInvitationMessages()
  return (
    <Note tone={before === null ? 'pen' : 'wait'} icon="mail">
      <p>{words.addsEmail(email, handle)}</p>
      {before !== null && <p>{words.replacesEmail(email, before)}</p>}
    </Note>
  )
}

function NotInvited({ invitation: { email, handle }, identities }: Pick<Props, 'invitation' | 'identities'>) {
  const words = useInvitationMessages()
  const { authUrl } = readSiteSettings()
  const back = encodeURIComponent(location.href)
  return (
    <>
      <Note tone="wait">
        <p>{email === null ? words.needsHandle(handle ?? '') : words.needsEmail(email)}</p>
        <p>{words.signedInAs(identities[0]?.handle ?? '')}</p>
      </Note>
      <div class="stack">
        {email !== null && (
          <a class="button primary block" href={`${authUrl}/account/identities`}>
            {words.identities}
          </a>
        )}
        <a class="button block" href={`${authUrl}/login?return=${back}&other`}>
          {words.otherAccount}
        </a>
      </div>
    </>
  )
}
