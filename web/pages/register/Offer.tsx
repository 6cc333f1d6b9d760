import type { AccountInvitationPreview } from '@countersign/protocol/accounts/invitations'
import { useState } from 'preact/hooks'
import { ActionForm, Actions } from '../../components/form/Actions.tsx'
import type { Action, ActionState } from '../../components/form/use-actions.ts'
import { StepHeading } from '../../components/frame/Frame.tsx'
import { useMessages, usePageMessages } from '../../components/frame/Root.tsx'
import { call } from '../../lib/api/call.ts'
import { reauthenticate } from '../../lib/keys/passkey.ts'
import { withReturnUrl } from '../../lib/navigation.ts'
import type { Session } from '../../lib/session/session.ts'
import { atHandle } from '../../lib/text/handle.ts'
import { admissionMessages as ar } from '../../locales/ar/pages/sign-in/admission.ts'
import { admissionMessages as de } from '../../locales/de/pages/sign-in/admission.ts'
import { admissionMessages as en } from '../../locales/en/pages/sign-in/admission.ts'
import { NewNames } from './NewNames.tsx'
import type { Admission, Refusal } from './admission.ts'
import type { useFlow } from './flow.ts'

/** Says for what the user registers, before the form. */
export function OfferLine({ admission, offer }: { admission: Admission; offer: AccountInvitationPreview | undefined }) {
  const words = usePageMessages({ en, de, ar })
  if (admission.setup !== undefined) return <p class="context-line">{words.setup}</p>
  if (admission.invitation === undefined) return null
  return (
    <div class="context-line">
      <p>
        {offer?.email ? words.invitedAs(offer.email) : words.invited}
        {offer?.message && <strong> {offer.message}</strong>}
      </p>
    </div>
  )
}

/** Shown to a user whose link cannot be used. */
export function Refused({ refusal, returnTo }: { refusal: Refusal; returnTo: string }) {
  const words = usePageMessages({ en, de, ar })
  const { login } = useMessages()
  const { title, lead } = words.refused[refusal]
  return (
    <section class="stack loose">
      <div class="stack tight">
        <StepHeading>{title}</StepHeading>
        <p class="lead">{lead}</p>
      </div>
      <a class="button big block" href={withReturnUrl('/login', returnTo)}>
        {login.title}
      </a>
    </section>
  )
}

type Props = { setup: string; session: Session; doing: ActionState; onSignOut: () => Promise<void> }

/** Lets a user who is signed in set up the service as one of their identities. */
export function SetUpAsOneself({ setup, session, doing, onSignOut }: Props) {
  const words = usePageMessages({ en, de, ar })
  const { createAnother } = useMessages().register
  async function become(identityId: string) {
    await reauthenticate()
    await call('POST /api/setup', { body: { setup, identityId } })
    location.assign('/admin')
  }
  const choices = session.identities.map(({ identityId, displayName, handle }, index): Action => {
    const label = words.use(displayName, atHandle(handle))
    return { name: identityId, label, ...(index > 0 && { look: 'secondary' }), do: () => become(identityId) }
  })
  return (
    <section class="stack loose">
      <StepHeading>{words.useTitle}</StepHeading>
      <Actions
        of={[...choices, { name: 'sign-out', label: createAnother, look: 'quiet', do: onSignOut }]}
        doing={doing}
      />
    </section>
  )
}

type AcceptProps = { flow: ReturnType<typeof useFlow>; session: Session; doing: ActionState }

/** Lets an invited user who is signed in add the invited identity to their account, or create another account. */
export function AcceptAsFurther({ flow, session, doing }: AcceptProps) {
  const words = usePageMessages({ en, de, ar })
  const { createAnother } = useMessages().register
  const [checked, setChecked] = useState(false)
  const [identity] = session.identities
  if (!identity) return null
  const add: Action = {
    name: 'accept-invitation',
    label: words.addIdentity,
    do: () => {
      setChecked(true)
      return flow.acceptInvitation()
    },
  }
  const signOut: Action = { name: 'sign-out', label: createAnother, look: 'quiet', do: flow.signOutFirst }
  return (
    <section class="stack loose">
      <div class="stack tight">
        <StepHeading>{words.addIdentity}</StepHeading>
        <p class="lead">{words.further(identity.displayName, atHandle(identity.handle))}</p>
      </div>
      <ActionForm submit={add} others={[signOut]} doing={doing}>
        <NewNames draft={flow.draft} checked={checked} onChange={flow.setDraft} />
      </ActionForm>
    </section>
  )
}
