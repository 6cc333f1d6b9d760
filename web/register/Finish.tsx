import { Actions } from '../ui/Actions.tsx'
import type { Action, Doing } from '../ui/doing.ts'
import { useWords } from '../ui/Root.tsx'
import { StepHeading } from '../ui/StepHeading.tsx'

type Props = { doing: Doing; onFinish: () => Promise<void>; onStartOver: () => Promise<void> }

/** Only those come here whose last request failed. */
export function Finish({ doing, onFinish, onStartOver }: Props) {
  const words = useWords().register
  const actions: Action[] = [
    { name: 'finish', label: words.finish, do: onFinish },
    { name: 'start-over', label: words.startOver, look: 'quiet', do: onStartOver },
  ]
  return (
    <section class="step">
      <StepHeading>{words.madeTitle}</StepHeading>
      <p>{words.unfinishedWhy}</p>
      <Actions of={actions} doing={doing} />
    </section>
  )
}
