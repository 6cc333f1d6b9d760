import { Actions } from '../../../components/form/Actions.tsx'
import { useActions, type Action } from '../../../components/form/use-actions.ts'
import { RecoveryCodeForm } from '../../../components/unlock/EnterCode.tsx'
import { useMessages } from '../words.ts'
import { StepHeading } from '../../../components/frame/Frame.tsx'
import type { useReplaceSigningKey } from './key-flow.ts'
import type { Step } from './key-steps.ts'
import type { Pending } from './pending.ts'

type Props = {
  change: ReturnType<typeof useReplaceSigningKey>
  step: Exclude<Step, { at: 'rest' }>
  pending: Pending
  userId: string
}

/** Explains what a new signing key means, and creates it. The passkey unlocks the keys, or else the recovery code. */
export function ReplaceSigningKey({ change, step, pending, userId }: Props) {
  const words = useMessages()
  const doing = useActions()
  const { subject } = step
  if (step.at === 'enter code')
    return (
      <RecoveryCodeForm
        keyWraps={step.keyWraps}
        userId={userId}
        doing={doing}
        why={words.passkeys.codeWhy}
        onOpened={(masterKey) => change.change(subject, masterKey)}
        onCancel={change.cancel}
      />
    )
  const { replaceTitle, replaceWhat, replaceNow, makeTitle, makeWhat, makeNow, expiring } = words.signing
  const expired = pending.identities.find(({ identityId }) => identityId === subject.identityId)?.count ?? 0
  const unlock: Action = {
    name: 'unlock',
    label: subject.key ? replaceNow : makeNow,
    do: () => change.openWithPasskey(subject),
  }
  const cancel: Action = { name: 'cancel', label: words.frame.cancel, look: 'quiet', do: change.cancel }
  return (
    <section class="step">
      <StepHeading>{subject.key ? replaceTitle(subject.handle) : makeTitle(subject.handle)}</StepHeading>
      <p>{subject.key ? replaceWhat : makeWhat}</p>
      {subject.key && expired > 0 && <p class="problem">{expiring(expired)}</p>}
      <Actions of={[unlock, cancel]} doing={doing} />
    </section>
  )
}
