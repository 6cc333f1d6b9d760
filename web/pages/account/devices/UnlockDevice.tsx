import { pageLimits } from '@countersign/protocol/formats/registries/page-limits'
import { useEffect, useState } from 'preact/hooks'
import { parseDigits } from '../../../lib/text/dates.ts'
import { ActionForm, Actions } from '../../../components/form/Actions.tsx'
import { useActions, type Action } from '../../../components/form/use-actions.ts'
import { Field } from '../../../components/form/Field.tsx'
import { DeviceCode } from '../../../components/unlock/RequestDeviceUnlock.tsx'
import { useMessages } from '../words.ts'
import { StepHeading } from '../../../components/frame/Frame.tsx'
import { nameOf } from './device.ts'
import type { useDeviceApproval } from './unlocking-flow.ts'
import type { Step } from './unlocking-steps.ts'

type Unlocking = ReturnType<typeof useDeviceApproval>
type Props = { unlocking: Unlocking; step: Exclude<Step, { at: 'rest' }> }

/** Unlocks another device of the user after they have typed here the digits that it shows. */
export function UnlockDevice({ unlocking, step }: Props) {
  const words = useMessages()
  const doing = useActions()
  const isTyping = step.at === 'agree' || step.at === 'compare'
  const done: Action = { name: 'done', label: words.devices.done, look: 'secondary', do: unlocking.leave }
  return (
    <section class="step">
      {/* New when the form is gone, so that it takes the focus. */}
      <StepHeading key={isTyping}>{words.devices.unlockTitle(nameOf(step.device, words))}</StepHeading>
      {isTyping && <Compare unlocking={unlocking} step={step} onCancel={unlocking.leave} />}
      {/* Screen readers announce only what appears in a region that was there before. */}
      <div role="status" class="stack">
        {step.at === 'sent' && (
          <>
            <p>{words.devices.typeConfirmation}</p>
            <DeviceCode digits={step.confirmation} />
          </>
        )}
        {step.at === 'end' && <p class="problem">{words.devices.ends[step.end]}</p>}
      </div>
      {!isTyping && <Actions of={[done]} doing={doing} />}
    </section>
  )
}

type CompareProps = {
  unlocking: Unlocking
  step: Extract<Step, { at: 'agree' | 'compare' }>
  onCancel: () => Promise<void>
}

/** Asks for the digits. The button is disabled until the other device has digits to show. */
function Compare({ unlocking, step, onCancel }: CompareProps) {
  const { devices: words, frame } = useMessages()
  const doing = useActions()
  // Independent of the running action, which it cancels.
  const leaving = useActions()
  const [typed, setTyped] = useState('')
  const [problem, setProblem] = useState<string>()
  useEffect(() => void doing.perform({ name: 'agree', do: () => unlocking.agree(step.device) }), [])
  const unlock: Action = {
    name: 'unlock',
    label: words.unlock,
    asleep: step.at === 'agree',
    do: async () => {
      if (step.at === 'agree') return
      const digits = parseDigits(typed, pageLimits.deviceApprovalDigits)
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
