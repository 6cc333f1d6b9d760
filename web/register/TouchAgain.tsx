import { Actions } from '../ui/Actions.tsx'
import type { Action, Doing } from '../ui/doing.ts'
import { useWords } from '../ui/Root.tsx'
import { StepHeading } from '../ui/StepHeading.tsx'

type Props = { doing: Doing; onTouch: () => Promise<void>; onGoWithout: () => Promise<void> }

export function TouchAgain({ doing, onTouch, onGoWithout }: Props) {
  const words = useWords().register
  const actions: Action[] = [
    { name: 'unlock', label: words.touchAgain, do: onTouch },
    { name: 'go-without', label: words.withoutPrf, look: 'quiet', do: onGoWithout },
  ]
  return (
    <section class="step">
      <StepHeading>{words.madeTitle}</StepHeading>
      <p>{words.touchAgainWhy}</p>
      <Actions of={actions} doing={doing} />
    </section>
  )
}
