import { useState } from 'preact/hooks'
import { Actions } from '../ui/Actions.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { useDoing, type Action } from '../ui/doing.ts'
import { useWords } from '../ui/Root.tsx'
import { signInWindow, useAskedSignature, type AskedSignature } from './signature.ts'
import { useBusinessWords } from './words.ts'

/** Whatever an organization wants signed before it is done. */
export function Signature() {
  const asked = useAskedSignature()
  return asked ? <Question asked={asked} /> : null
}

/** Leads to the window where the key opens: a browser lets one open only for who has just pressed a button. */
function Question({ asked }: { asked: AskedSignature }) {
  const words = useBusinessWords().signedActs
  const { frame } = useWords()
  const doing = useDoing()
  const [blocked, setBlocked] = useState(false)
  const open: Action = {
    name: 'open-signature',
    label: words.open,
    do: () => {
      const signing = signInWindow(asked)
      setBlocked(!signing)
      // It is not waited for: whoever has closed the window may open it again, or turn back.
      void signing?.then((signature) => signature !== undefined && asked.answer(signature))
    },
  }
  const turnBack = () => asked.answer(undefined)
  const cancel: Action = { name: 'cancel-signature', label: frame.cancel, look: 'quiet', do: turnBack }
  return (
    <Dialog title={words.ask} onClose={turnBack}>
      <p>{words.why}</p>
      <div role="alert">{blocked && <p class="problem">{words.blocked}</p>}</div>
      <Actions of={[open, cancel]} doing={doing} />
    </Dialog>
  )
}
