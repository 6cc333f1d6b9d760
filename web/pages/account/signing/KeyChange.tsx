import { Actions } from '../../../components/form/Actions.tsx'
import { useDoing, type Action } from '../../../components/form/doing.ts'
import { EnterCode } from '../../../components/unlock/EnterCode.tsx'
import { useWords } from '../../../components/frame/Root.tsx'
import { StepHeading } from '../../../components/frame/StepHeading.tsx'
import type { useKeyChange } from './key-flow.ts'
import type { Step } from './key-steps.ts'
import type { Pending } from './pending.ts'

type Props = {
  change: ReturnType<typeof useKeyChange>
  step: Exclude<Step, { at: 'rest' }>
  pending: Pending
  userId: string
}

/** Says what a new key means, and makes it with the passkey, or with the recovery code where that opens nothing. */
export function KeyChange({ change, step, pending, userId }: Props) {
  const words = useWords()
  const doing = useDoing()
  const { subject } = step
  if (step.at === 'enter code')
    return (
      <EnterCode
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
