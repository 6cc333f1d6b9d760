import { useEffect, useState } from 'preact/hooks'
import { Actions } from '../../../components/form/Actions.tsx'
import { Dialog } from '../../../components/form/Dialog.tsx'
import { useDoing, type Action } from '../../../components/form/doing.ts'
import { useWords } from '../../../components/frame/Root.tsx'
import { signInWindow, useAskedSignature, type AskedSignature } from './signature.ts'
import { useBusinessWords } from '../words.ts'

/** What is to be signed before it is done. */
export function Signature() {
  const asked = useAskedSignature()
  return asked ? <Question key={asked.message} asked={asked} /> : null
}

/**
 * Stands before the page for as long as the window is open in which the key opens. Where the press that began it no
 * longer counts, a browser lets one open only for another.
 */
function Question({ asked }: { asked: AskedSignature }) {
  const words = useBusinessWords().signedActs
  const { frame } = useWords()
  const doing = useDoing()
  const [opened, setOpened] = useState(asked.opened)
  const [blocked, setBlocked] = useState(false)
  useEffect(() => void opened?.signature.then(asked.answer), [opened])
  const open: Action = {
    name: 'open-signature',
    label: words.open,
    do: () => {
      const signing = signInWindow(asked)
      setBlocked(!signing)
      setOpened(signing)
    },
  }
  const look: Action = { name: 'show-signature', label: words.show, do: () => opened?.focus() }
  const turnBack = () => {
    opened?.close()
    asked.answer(undefined)
  }
  const cancel: Action = { name: 'cancel-signature', label: frame.cancel, look: 'quiet', do: turnBack }
  return (
    <Dialog title={words.ask} onClose={turnBack}>
      <p>{opened ? words.opened : words.why}</p>
      <div role="alert">{blocked && <p class="problem">{words.blocked}</p>}</div>
      <Actions of={[opened ? look : open, cancel]} doing={doing} />
    </Dialog>
  )
}
