import { Actions } from '../../../components/form/Actions.tsx'
import type { Action, Doing } from '../../../components/form/doing.ts'
import { useWords } from '../../../components/frame/Root.tsx'
import { StepHeading } from '../../../components/frame/StepHeading.tsx'
import { TouchAgain } from '../../../components/unlock/TouchAgain.tsx'
import type { useAddition } from './addition-flow.ts'
import type { Made } from './addition-steps.ts'
import { EnterCode } from '../../../components/unlock/EnterCode.tsx'

type Props = { addition: ReturnType<typeof useAddition>; userId: string; doing: Doing }

/** The steps to a further passkey, in place of the list. */
export function Addition({ addition, userId, doing }: Props) {
  const { passkeys: words, register, frame } = useWords()
  const { step } = addition
  const turnBack = (label: string, made?: Made): Action => ({
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
        <EnterCode
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
        <TouchAgain
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

type QuestionProps = { title: string; why?: string; of: Action[]; doing: Doing }

function Question({ title, why, of, doing }: QuestionProps) {
  return (
    <section class="step">
      <StepHeading>{title}</StepHeading>
      {why !== undefined && <p>{why}</p>}
      <Actions of={of} doing={doing} />
    </section>
  )
}
