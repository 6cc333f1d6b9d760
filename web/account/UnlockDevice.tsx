import { useEffect, useState } from 'preact/hooks'
import { ActionForm, Actions } from '../ui/Actions.tsx'
import { useDoing, type Action } from '../ui/doing.ts'
import { Field } from '../ui/Field.tsx'
import { useWords } from '../ui/Root.tsx'
import { StepHeading } from '../ui/StepHeading.tsx'
import { nameOf } from './device-name.ts'
import type { useUnlocking } from './unlocking-flow.ts'
import { readDigits, type Step } from './unlocking-steps.ts'

type Unlocking = ReturnType<typeof useUnlocking>
type Props = { unlocking: Unlocking; step: Exclude<Step, { at: 'rest' }> }

/** Unlocks another device of the person, once they have typed here what it shows. */
export function UnlockDevice({ unlocking, step }: Props) {
  const words = useWords()
  const doing = useDoing()
  const done: Action = { name: 'done', label: words.devices.done, look: 'secondary', do: unlocking.leave }
  return (
    <section class="step">
      <StepHeading>{words.devices.unlockTitle(nameOf(step.device, words))}</StepHeading>
      {step.at !== 'end' && <Compare unlocking={unlocking} step={step} onCancel={unlocking.leave} />}
      {step.at === 'end' && (
        <>
          <p role="status" class={step.end === 'unlocked' ? undefined : 'problem'}>
            {words.devices.ends[step.end]}
          </p>
          <Actions of={[done]} doing={doing} />
        </>
      )}
    </section>
  )
}

type CompareProps = {
  unlocking: Unlocking
  step: Extract<Step, { at: 'agree' | 'compare' }>
  onCancel: () => Promise<void>
}

/** The button sleeps until the other device has something to show. */
function Compare({ unlocking, step, onCancel }: CompareProps) {
  const { devices: words, frame } = useWords()
  const doing = useDoing()
  // Apart from what is under way, which it puts an end to.
  const leaving = useDoing()
  const [typed, setTyped] = useState('')
  const [problem, setProblem] = useState<string>()
  useEffect(() => void doing.perform({ name: 'agree', do: () => unlocking.agree(step.device) }), [])
  const unlock: Action = {
    name: 'unlock',
    label: words.unlock,
    asleep: step.at === 'agree',
    do: async () => {
      if (step.at === 'agree') return
      const digits = readDigits(typed)
      if (digits === undefined) return setProblem(words.malformed)
      const flaw = await unlocking.compare(step, digits)
      if (flaw === 'wrong') setProblem(words.wrong(step.triesLeft - 1))
      if (flaw === 'opens nothing') setProblem(words.opensNothing)
    },
  }
  const cancel: Action = { name: 'cancel', label: frame.cancel, look: 'quiet', do: onCancel }
  const write = (text: string) => {
    setTyped(text)
    setProblem(undefined)
  }
  return (
    <>
      <ActionForm submit={unlock} doing={doing}>
        <Field
          name="deviceCode"
          label={words.typed}
          value={typed}
          onInput={write}
          problem={problem}
          keys="numeric"
          exact
          takesFocus
        />
      </ActionForm>
      <Actions of={[cancel]} doing={leaving} />
    </>
  )
}
