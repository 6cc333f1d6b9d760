import type { MasterKey } from '@countersign/keys/master-key'
import { limits } from '@countersign/protocol/formats/limits'
import { useState } from 'preact/hooks'
import { readDigits } from '../../lib/text/typed-digits.ts'
import { ActionForm, Actions } from '../form/Actions.tsx'
import { useAsking, type Asking } from './asking.ts'
import { DeviceCode } from './DeviceCode.tsx'
import { useDoing, type Action } from '../form/doing.ts'
import { Field } from '../form/Field.tsx'
import { useWords } from '../frame/Root.tsx'
import { StepHeading } from '../frame/StepHeading.tsx'

type Props = {
  userId: string
  level: 1 | 2
  onOpened: (masterKey: MasterKey) => unknown
  onTurnBack: () => void
}

/** Opens the keys by the help of another device, where the person is signed in and their passkey opens them. */
export function AskAnotherDevice({ userId, level, onOpened, onTurnBack }: Props) {
  const words = useWords().devices
  const { asking, doing, ask } = useAsking(userId, onOpened)
  const over = asking.at === 'end' || doing.problem !== undefined
  const again: Action[] = over ? [{ ...ask, label: words.again }] : []
  // Apart from what is under way, which it puts an end to.
  const leaving = useDoing()
  const turnBack: Action = { name: 'use-code', label: words.useCode, look: 'quiet', do: onTurnBack }
  return (
    <section class="step">
      <StepHeading level={level}>{words.askTitle}</StepHeading>
      <p>{words.askWhere(`${location.host}/account`)}</p>
      <div class="asking">
        <div role="status">{doing.problem === undefined && <Standing of={asking} />}</div>
        {asking.at === 'confirmation' && doing.problem === undefined && <Confirm asking={asking} />}
        <Actions of={again} doing={doing} />
      </div>
      <Actions of={[turnBack]} doing={leaving} />
    </section>
  )
}

function Standing({ of: asking }: { of: Asking }) {
  const words = useWords().devices
  switch (asking.at) {
    case 'answer':
      return <p class="hint">{words.waiting}</p>
    case 'digits':
      return (
        <>
          <p>{words.typeThere}</p>
          <DeviceCode digits={asking.digits} />
        </>
      )
    case 'confirmation':
      return null
    case 'end':
      return <p class="problem">{words.askEnds[asking.end]}</p>
  }
}

function Confirm({ asking }: { asking: Extract<Asking, { at: 'confirmation' }> }) {
  const words = useWords().devices
  const doing = useDoing()
  const [typed, setTyped] = useState('')
  const [problem, setProblem] = useState<string>()
  const [triesLeft, setTriesLeft] = useState<number>(limits.deviceApprovalTriesMax)
  const unlock: Action = {
    name: 'unlock',
    label: words.unlockThis,
    do: () => {
      const digits = readDigits(typed, limits.deviceConfirmationDigits)
      if (digits === undefined) return setProblem(words.malformedConfirmation)
      if (digits === asking.expected) return asking.confirm()
      if (triesLeft === 1) return asking.giveUp()
      setTriesLeft(triesLeft - 1)
      setProblem(words.wrong(triesLeft - 1))
    },
  }
  const write = (text: string) => {
    setTyped(text)
    setProblem(undefined)
  }
  return (
    <ActionForm submit={unlock} doing={doing}>
      <Field
        name="confirmation"
        label={words.typedConfirmation}
        value={typed}
        onInput={write}
        problem={problem}
        keys="numeric"
        exact
        takesFocus
      />
    </ActionForm>
  )
}
