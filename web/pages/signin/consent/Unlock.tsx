import type { SignInView } from '@countersign/protocol/pages'
import { Actions } from '../../../components/form/Actions.tsx'
import type { Action, ActionState } from '../../../components/form/use-actions.ts'
import { RecoveryCodeForm } from '../../../components/unlock/EnterCode.tsx'
import { useMessages } from '../../../components/frame/Root.tsx'
import { SignatureLine } from '../../../components/display/Monogram.tsx'
import { destination } from './delegating.ts'
import type { useFlow } from '../flow.ts'
import type { Step } from '../steps.ts'

type Props = {
  flow: ReturnType<typeof useFlow>
  step: Extract<Step, { at: 'unlock' | 'enter code' }>
  view: SignInView
  doing: ActionState
}

/** Unlocks the keys for the app key after the consent, with a passkey or the recovery code. */
export function Unlock({ flow, step, view, doing }: Props) {
  const { signin: words, sign, frame } = useMessages()
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
    { name: 'unlock', label: words.unlock, do: flow.approve },
    { name: 'use-code', label: sign.useCode, look: 'quiet', do: flow.useCode },
    { name: 'deny', label: frame.cancel, look: 'quiet', do: flow.deny },
  ]
  const change: Action = {
    name: 'change',
    label: words.change,
    look: 'quiet',
    do: () => flow.advance({ type: 'another identity wanted' }),
  }
  return (
    <>
      <p>{words.unlockWhy(view.app.name)}</p>
      <SignatureLine
        name={displayName}
        below={`@${handle} · ${words.returnTo(destination(view))}`}
        signed={doing.current === 'unlock'}
        aside={
          <button type="button" class="button quiet" onClick={() => void doing.perform(change)}>
            {change.label}
          </button>
        }
      />
      <Actions of={actions} doing={doing} />
    </>
  )
}
