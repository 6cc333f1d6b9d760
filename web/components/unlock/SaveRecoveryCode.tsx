import type { Session } from '../../lib/session/session.ts'
import { Actions } from '../form/Actions.tsx'
import { type Action, useActions } from '../form/use-actions.ts'
import { StepHeading } from '../frame/Frame.tsx'
import { useMessages } from '../frame/Root.tsx'
import { Icon } from '../ui/Icon.tsx'
import { RecoveryCodeForm } from './EnterCode.tsx'
import { RecoveryCode } from './RecoveryCode.tsx'
import { type Step, useSaveRecoveryCode } from './save-recovery-code.ts'
import './unlock.css'

type Props = {
  session: Pick<Session, 'user' | 'identities'>
  /** True if a code is in effect, and the user replaces it. */
  replaces?: boolean
  /** Step to begin with: a page that has unlocked the keys shows their new code at once. */
  begin?: Step
  /** What the user reads above the code, unless it is that they should save it. */
  title?: string
  lead?: string
  /** Label of the button that confirms. */
  confirm?: string
  /** 2 if the page has a heading of its own. */
  level?: 1 | 2
  /** Called when the code is in effect. */
  onSaved: () => unknown
  /** Ends without a new code. Undefined if the page has no other content. */
  onCancel?: () => void
}

/**
 * Creates a recovery code in the browser, shows it, and stores it once the user confirms that they have saved it. It
 * never leaves the browser.
 */
export function SaveRecoveryCode({ session, replaces = false, begin, level = 1, onSaved, onCancel, ...texts }: Props) {
  const words = useMessages()
  const doing = useActions()
  const { user, identities } = session
  const identity = identities.at(0)
  const { userId } = user
  const saving = useSaveRecoveryCode({ userId, identityId: identity?.identityId ?? '', replaces, onSaved }, begin)
  const { step } = saving
  const back = onCancel ?? saving.rest
  switch (step.at) {
    case 'rest': {
      const create: Action = {
        name: 'unlock',
        label: replaces ? words.passkeys.renew : words.recovery.create,
        icon: 'fingerprint-pattern',
        do: saving.openWithPasskey,
      }
      const later: Action[] = onCancel
        ? [{ name: 'cancel', label: words.recovery.later, look: 'ghost', do: onCancel }]
        : []
      return (
        <section class="stack loose">
          <div class="stack tight">
            <StepHeading level={level}>{replaces ? words.recovery.title : words.recovery.missingTitle}</StepHeading>
            <p class="lead">{replaces ? words.passkeys.recoveryWhy : words.recovery.missing}</p>
          </div>
          <Actions of={[create, ...later]} doing={doing} />
        </section>
      )
    }
    case 'enter code':
      return (
        <RecoveryCodeForm
          keyWraps={step.keyWraps}
          userId={user.userId}
          doing={doing}
          why={words.passkeys.codeWhy}
          onOpened={(masterKey) => saving.opened(step.used, masterKey)}
          onCancel={back}
        />
      )
    case 'save code':
      return (
        <RecoveryCode
          {...texts}
          code={step.code.recoveryCode}
          handle={identity?.handle ?? ''}
          opensKeys={step.opensKeys}
          doing={doing}
          level={level}
          onSaved={saving.confirm}
          onCancel={onCancel}
        />
      )
    case 'exists':
      return <Ended title={words.recovery.exists} lead={words.recovery.existsWhy} level={level} onSaved={onSaved} />
    case 'keys gone':
      return <Ended title={words.recovery.keysGone} lead={words.recovery.keysGoneWhy} level={level} />
  }
}

type EndedProps = { title: string; lead: string; level: 1 | 2; onSaved?: () => unknown }

/** Says why the code that was shown does not count. */
function Ended({ title, lead, level, onSaved }: EndedProps) {
  const words = useMessages().recovery
  const doing = useActions()
  const actions: Action[] = onSaved ? [{ name: 'continue', label: words.continue, do: onSaved }] : []
  return (
    <section class="stack loose">
      <span class={onSaved ? 'glyph ok' : 'glyph bad'}>
        <Icon name={onSaved ? 'circle-check' : 'triangle-alert'} />
      </span>
      <div class="stack tight">
        <StepHeading level={level}>{title}</StepHeading>
        <p class="lead">{lead}</p>
      </div>
      <Actions of={actions} doing={doing} />
    </section>
  )
}
