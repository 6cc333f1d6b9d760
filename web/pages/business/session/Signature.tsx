import type { ComponentChildren } from 'preact'
import { Actions } from '../../../components/form/Actions.tsx'
import { Dialog } from '../../../components/form/Dialog.tsx'
import { type Action, useActions } from '../../../components/form/use-actions.ts'
import { useMessages } from '../../../components/frame/Root.tsx'
import { useEffect, useState } from 'preact/hooks'
import { type SignatureRequest, openSigningWindow, useSignatureRequest } from './signature.ts'
import { useBusinessMessages } from '../words.ts'

type Props = { title: string; agree: Action; onClose: () => void; children: ComponentChildren }

/** Asks for confirmation, and says what ends. Members who sign the action confirm it in the signing window instead. */
export function ConfirmDialog({ title, agree, onClose, children }: Props) {
  const { frame } = useMessages()
  const doing = useActions()
  const cancel: Action = { name: 'cancel', label: frame.cancel, look: 'quiet', do: onClose }
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{children}</p>
      <Actions of={[agree, cancel]} doing={doing} />
    </Dialog>
  )
}

/** Shows the requested signature, if there is one. */
export function SignActionPrompt() {
  const request = useSignatureRequest()
  return request ? <SigningDialog key={request.message} request={request} /> : null
}

/**
 * Covers the page while the signing window is open. If the browser blocked the window because the press of the button
 * was too long ago, another press opens it.
 */
function SigningDialog({ request }: { request: SignatureRequest }) {
  const words = useBusinessMessages().signedActs
  const { frame } = useMessages()
  const doing = useActions()
  const [opened, setOpened] = useState(request.opened)
  const [blocked, setBlocked] = useState(false)
  useEffect(() => void opened?.signature.then(request.answer), [opened])
  const open: Action = {
    name: 'open-signature',
    label: words.open,
    do: () => {
      const signing = openSigningWindow(request)
      setBlocked(!signing)
      setOpened(signing)
    },
  }
  const look: Action = { name: 'show-signature', label: words.show, do: () => opened?.focus() }
  const turnBack = () => {
    opened?.close()
    request.answer(undefined)
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
