import { Actions } from '../form/Actions.tsx'
import type { Action, Doing } from '../form/doing.ts'
import { useWords } from '../frame/Root.tsx'
import { StepHeading } from '../frame/StepHeading.tsx'

type Props = { doing: Doing; onTouch: () => Promise<void>; onGoWithout: () => Promise<void> }

/** A passkey that was made without showing what it can do is asked for it. */
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
