import { Actions } from '../../../components/form/Actions.tsx'
import type { Action, ActionState } from '../../../components/form/use-actions.ts'
import { useMessages } from '../words.ts'
import { StepHeading } from '../../../components/frame/Frame.tsx'
import { ConfirmPasskeyAgain } from '../../../components/unlock/RecoveryCode.tsx'
import type { useAddPasskey } from './addition-flow.ts'
import type { CreatedPasskey } from './addition-steps.ts'
import { RecoveryCodeForm } from '../../../components/unlock/EnterCode.tsx'

type Props = { addition: ReturnType<typeof useAddPasskey>; userId: string; doing: ActionState }

/** The steps that add a passkey, shown in place of the list. */
export function AddPasskey({ addition, userId, doing }: Props) {
  const { passkeys: words, register, frame } = useMessages()
  const { step } = addition
  const turnBack = (label: string, made?: CreatedPasskey): Action => ({
    name: 'cancel',
    label,
    look: 'quiet',
    do: () => addition.turnBack(made),
  })
  switch (step.at) {
    case 'rest':
      return null
    case 'enter code':
      return (
        <RecoveryCodeForm
          keyWraps={step.keyWraps}
          userId={userId}
          doing={doing}
          why={words.codeForNew}
          others={[goWithout(words.addWithout, () => addition.readyToMake(undefined))]}
          onOpened={addition.readyToMake}
          onCancel={() => void addition.turnBack()}
        />
      )
    case 'make': {
      const make: Action = { name: 'make-passkey', label: words.make, do: addition.make }
      return <Question title={words.makeTitle} why={words.makeWhy} of={[make, turnBack(frame.cancel)]} doing={doing} />
    }
    case 'touch again':
      return (
        <ConfirmPasskeyAgain
          doing={doing}
          onTouch={() => addition.touchAgain(step.made)}
          onGoWithout={() => addition.finish(step.made, undefined)}
        />
      )
    case 'signs in only': {
      const { made } = step
      const of = [goWithout(words.addAnyway, () => addition.finish(made, undefined)), turnBack(words.dontAdd, made)]
      return <Question title={words.signsInOnlyTitle} why={words.signsInOnlyWhy} of={of} doing={doing} />
    }
    case 'finish': {
      const { made, keyWrap } = step
      const finish: Action = { name: 'finish', label: register.finish, do: () => addition.finish(made, keyWrap) }
      return <Question title={register.unfinished} of={[finish, turnBack(frame.cancel)]} doing={doing} />
    }
  }
}

function goWithout(label: string, go: () => unknown): Action {
  return { name: 'go-without', label, look: 'secondary', do: go }
}

type QuestionProps = { title: string; why?: string; of: Action[]; doing: ActionState }

function Question({ title, why, of, doing }: QuestionProps) {
  return (
    <section class="step">
      <StepHeading>{title}</StepHeading>
      {why !== undefined && <p>{why}</p>}
      <Actions of={of} doing={doing} />
    </section>
  )
}
