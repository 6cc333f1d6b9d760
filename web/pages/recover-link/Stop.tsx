import { useState } from 'preact/hooks'
import { call } from '../../lib/api/call.ts'
import { Actions } from '../../components/form/Actions.tsx'
import { useActions } from '../../components/form/use-actions.ts'
import { StepHeading } from '../../components/frame/Frame.tsx'
import type { Outcome } from './RecoverLink.tsx'
import { problemOf } from './problem.ts'
import { usePageWords } from './words.ts'

type Props = { secret: string; onDone: (outcome: Outcome) => void }

/** Stops a recovery, or undoes it. It asks first, because scanners of mail open links. */
export function Stop({ secret, onDone }: Props) {
  const { stop: words, problems } = usePageWords()
  const doing = useActions()
  const [problem, setProblem] = useState<string>()
  const stop = async () => {
    try {
      await call('POST /api/recovery-links/stop', { body: { stop: secret } })
    } catch (error) {
      const known = problemOf(error)
      if (known === undefined) throw error
      return setProblem(problems[known])
    }
    onDone({ icon: 'circle-check', title: words.done, texts: [words.doneWhat] })
  }
  return (
    <section class="stack loose">
      <div class="stack tight">
        <StepHeading key={problem}>{problem ?? words.title}</StepHeading>
        {problem === undefined && <p class="lead">{words.lead}</p>}
      </div>
      {problem === undefined && (
        <Actions of={[{ name: 'stop-recovery', label: words.stop, look: 'danger', do: stop }]} doing={doing} />
      )}
    </section>
  )
}
