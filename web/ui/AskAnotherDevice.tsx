import type { MasterKey } from '@countersign/keys/master-key'
import { Actions } from './Actions.tsx'
import { useAsking, type Asking } from './asking.ts'
import { useDoing, type Action } from './doing.ts'
import { useWords } from './Root.tsx'
import { StepHeading } from './StepHeading.tsx'

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
        <Actions of={again} doing={doing} />
      </div>
      <Actions of={[turnBack]} doing={leaving} />
    </section>
  )
}

const half = 3

function Standing({ of: asking }: { of: Asking }) {
  const words = useWords().devices
  switch (asking.at) {
    case 'answer':
      return <p class="hint">{words.waiting}</p>
    case 'digits':
      return (
        <>
          <p>{words.typeThere}</p>
          <figure class="code" aria-label={words.code}>
            <output name="deviceCode">
              <span>{asking.digits.slice(0, half)}</span> <span>{asking.digits.slice(half)}</span>
            </output>
          </figure>
        </>
      )
    case 'end':
      return <p class="problem">{words.askEnds[asking.end]}</p>
  }
}
