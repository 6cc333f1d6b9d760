import type { Identity } from '@countersign/protocol/accounts/identities'
import { Actions } from '../../../components/form/Actions.tsx'
import type { Action, ActionState } from '../../../components/form/use-actions.ts'
import { StepHeading } from '../../../components/frame/Frame.tsx'
import { usePageMessages } from '../../../components/frame/Root.tsx'
import { noAccessMessages as en } from '../../../locales/en/pages/sign-in/no-access.ts'
import { lateTexts } from '../../../locales/late-texts.ts'

const de = lateTexts(
  'de',
  async () => (await import('../../../locales/de/pages/sign-in/no-access.ts')).noAccessMessages,
)
const ar = lateTexts(
  'ar',
  async () => (await import('../../../locales/ar/pages/sign-in/no-access.ts')).noAccessMessages,
)

export type NoAccessProps = {
  identity: Identity
  contact: string | null
  app: string
  doing: ActionState
  onChange: () => Promise<void>
  leave: Action
}

/** Shown if the identity may not use the app. It names the contact, and not what the identity lacks. */
export function NoAccess({ identity, contact, app, doing, onChange, leave }: NoAccessProps) {
  const words = usePageMessages({ en, de, ar })
  const change: Action = { name: 'change', label: words.otherIdentity, do: onChange }
  return (
    <section class="stack loose">
      <div class="stack tight">
        <StepHeading level={2}>{words.noAccess(identity.handle, app)}</StepHeading>
        <p class="lead">{contact === null ? words.askOperator : words.askContact(contact)}</p>
      </div>
      <Actions of={[change, leave]} doing={doing} />
    </section>
  )
}
