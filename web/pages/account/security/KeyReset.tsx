import { ActionButton, Actions } from '../../../components/form/Actions.tsx'
import { ErrorMessage } from '../../../components/form/Dialog.tsx'
import { useActions, type Action, type ActionState } from '../../../components/form/use-actions.ts'
import { StepHeading } from '../../../components/frame/Frame.tsx'
import { LocaleProvider } from '../../../components/frame/Root.tsx'
import { Card } from '../../../components/ui/Card.tsx'
import { RecoveryCode } from '../../../components/unlock/RecoveryCode.tsx'
import type { AccountData } from '../account-data.ts'
import { useAccountWords, useMessages } from '../words.ts'
import type { Step, useKeyReset } from './key-reset-flow.ts'

type Reset = ReturnType<typeof useKeyReset>
type CardProps = {
  reset: Reset
  doing: ActionState
  /** Unlocks the keys with the recovery code. */ onUnlock: () => unknown
}

/** Says that a recovery has left the keys locked, and offers both ways on. */
export function LockedKeys({ reset, doing, onUnlock }: CardProps) {
  const words = useAccountWords().keyReset
  const unlock: Action = { name: 'unlock-keys', label: words.unlock, do: onUnlock }
  const start: Action = { name: 'ask-reset-keys', label: words.ask, look: 'ghost', do: reset.explain }
  return (
    <Card accent title={words.locked} about={words.lockedWhat}>
      <ErrorMessage of={doing.problem} />
      <div class="row">
        <ActionButton action={unlock} doing={doing} />
        <ActionButton action={start} doing={doing} />
      </div>
    </Card>
  )
}

type Props = { data: AccountData; reset: Reset; step: Exclude<Step, { at: 'rest' }> }

/** The steps of starting with new keys: what is lost, and the new recovery code. */
export function KeyReset(props: Props) {
  return (
    <LocaleProvider refused={useAccountWords().keyReset.refused}>
      <CurrentStep {...props} />
    </LocaleProvider>
  )
}

function CurrentStep({ data, reset, step }: Props) {
  const words = useAccountWords().keyReset
  const { frame, signing } = useMessages()
  const doing = useActions()
  const { identities } = data.session
  if (step.at === 'save code')
    return (
      <RecoveryCode
        code={step.recoveryCode}
        handle={identities[0]?.handle ?? ''}
        opensKeys
        doing={doing}
        lead={words.thenPasskey}
        confirm={words.confirm}
        onSaved={reset.confirm}
        onCancel={reset.cancel}
      />
    )
  const waiting = data.pending.identities.reduce((sum, { count }) => sum + count, 0)
  const proceed: Action = { name: 'reset-keys', label: words.proceed, look: 'danger', do: reset.generate }
  const cancel: Action = { name: 'cancel', label: frame.cancel, look: 'ghost', do: reset.cancel }
  return (
    <section class="step">
      <StepHeading>{words.title}</StepHeading>
      <ul class="stack tight">
        {words.losses.map((loss) => (
          <li key={loss}>{loss}</li>
        ))}
      </ul>
      {waiting > 0 && <p class="problem">{signing.expiring(waiting)}</p>}
      <Actions of={[proceed, cancel]} doing={doing} />
    </section>
  )
}
