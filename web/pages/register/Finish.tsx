import { Actions } from '../../components/form/Actions.tsx'
import type { Action, Doing } from '../../components/form/doing.ts'
import { useWords } from '../../components/frame/Root.tsx'
import { StepHeading } from '../../components/frame/StepHeading.tsx'
import type { Outcome } from './steps.ts'

type Props = { outcome: Outcome; doing: Doing; onFinish: () => Promise<void>; onStartOver: () => Promise<void> }

/** Only those come here whose last request failed. */
export function Finish({ outcome, doing, onFinish, onStartOver }: Props) {
  const words = useWords().register
  const startOver: Action = { name: 'start-over', label: words.startOver, do: onStartOver }
  const actions: Action[] =
    outcome === 'refused'
      ? [startOver]
      : [
          { name: 'finish', label: words.finish, do: onFinish },
          { ...startOver, look: 'quiet' },
        ]
  return (
    <section class="step">
      <StepHeading>{words.unfinished}</StepHeading>
      <Actions of={actions} doing={doing} />
    </section>
  )
}
