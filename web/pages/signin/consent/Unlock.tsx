import type { SignInView } from '@countersign/protocol/pages'
import { Actions } from '../../../components/form/Actions.tsx'
import type { Action, ActionState } from '../../../components/form/use-actions.ts'
import { RecoveryCodeForm } from '../../../components/unlock/EnterCode.tsx'
import { Icon } from '../../../components/ui/Icon.tsx'
import { useConsentMessages } from '../../../components/form/consent-words.ts'
import { Signature } from '../../../components/signature/Signature.tsx'
import { SignatureBelow } from './Consent.tsx'
import { destination } from './delegating.ts'
import type { useFlow } from '../flow.ts'
import type { Step } from '../steps.ts'
import { atHandle } from '../../../lib/text/handle.ts'

type Props = {
  flow: ReturnType<typeof useFlow>
  step: Extract<Step, { at: 'unlock' | 'enter code' }>
  view: SignInView
  doing: ActionState
  leave: Action
}

/** Unlocks the keys for the app key after the consent, with a passkey or the recovery code. */
export function Unlock({ flow, step, view, doing, leave }: Props) {
  const { signin: words, devices } = useConsentMessages()
  if (step.at === 'enter code')
    return (
      <RecoveryCodeForm
        keyWraps={step.keyWraps}
        userId={flow.owner.current?.userId ?? ''}
        doing={doing}
        why={words.codeWhy}
        label={words.unlock}
        onOpened={flow.approveWith}
        onCancel={() => void flow.advance({ type: 'turned back' })}
      />
    )
  const { displayName, handle } = step.identity
  const actions: Action[] = [
    { name: 'unlock', label: words.unlock, icon: 'fingerprint-pattern', do: flow.approve },
    { name: 'use-code', label: devices.otherWay, look: 'secondary', do: flow.useCode },
    leave,
  ]
  const change: Action = {
    name: 'change',
    label: words.change,
    look: 'quiet',
    do: () => flow.advance({ type: 'another identity wanted' }),
  }
  return (
    <section class="stack loose">
      <p>{words.unlockWhy(view.app.name)}</p>
      <Signature
        name={displayName}
        below={<SignatureBelow parts={[atHandle(handle), words.returnTo(destination(view))]} />}
        isSigned={doing.current === 'unlock'}
        aside={
          <button type="button" class="link" onClick={() => void doing.perform(change)}>
            <Icon name="chevrons-up-down" size="sm" />
            {change.label}
          </button>
        }
      />
      <Actions of={actions} doing={doing} />
    </section>
  )
}
