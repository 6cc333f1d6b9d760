import { useEffect, useState } from 'preact/hooks'
import { saveReceipt } from '../../lib/receipt.ts'
import { Actions } from '../../components/form/Actions.tsx'
import type { Action, Doing } from '../../components/form/doing.ts'
import { useWords } from '../../components/frame/Root.tsx'
import { StepHeading } from '../../components/frame/StepHeading.tsx'
import { readView } from '../../lib/view.ts'
import type { End } from './steps.ts'

/** Long enough to see what happened. */
const closesAfterMilliseconds = 1500

type Props = { end: End; signedIn: boolean; doing: Doing }

/** What became of the request. A window that an app opened closes by itself once the app knows. */
export function Ended({ end, signedIn, doing }: Props) {
  const words = useWords().sign
  const [held, setHeld] = useState(false)
  const closes = opener !== null && end !== 'expired' && !held && doing.current === undefined
  useEffect(() => {
    if (!closes) return
    const timer = setTimeout(() => close(), closesAfterMilliseconds)
    return () => clearTimeout(timer)
  }, [closes])
  return (
    <section class={`step ended ${end}`}>
      <StepHeading>{words.ends[end]}</StepHeading>
      <p>{words.endsWhat[end]}</p>
      {parent === self && <p class="lead">{words.closeThis}</p>}
      {end === 'signed' && signedIn && <Receipt doing={doing} onHold={setHeld} />}
    </section>
  )
}

/** Saving the receipt. While somebody reaches for it the window does not close. */
function Receipt({ doing, onHold }: { doing: Doing; onHold: (held: boolean) => void }) {
  const words = useWords().sign
  const { requestId } = readView('sign')
  const save: Action = {
    name: 'save-receipt',
    label: words.saveReceipt,
    look: 'quiet',
    async do() {
      await saveReceipt(requestId)
      onHold(false)
    },
  }
  return (
    <div
      onPointerMove={() => onHold(true)}
      onPointerLeave={() => onHold(false)}
      onFocusIn={() => onHold(true)}
      onFocusOut={() => onHold(false)}
    >
      <Actions of={[save]} doing={doing} />
    </div>
  )
}
