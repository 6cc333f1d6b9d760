import type { ComponentChildren } from 'preact'
import { Actions } from '../../../components/form/Actions.tsx'
import { Dialog } from '../../../components/form/Dialog.tsx'
import { type Action, useActions } from '../../../components/form/use-actions.ts'
import { useMessages } from '../../../components/frame/Root.tsx'

type Props = { title: string; agree: Action; onClose: () => void; children: ComponentChildren }

/** Asks for confirmation, and says what ends. Members who sign the action confirm it on the signing page instead. */
export function ConfirmDialog({ title, agree, onClose, children }: Props) {
  const { frame } = useMessages()
  const doing = useActions()
  const cancel: Action = { name: 'cancel', label: frame.cancel, look: 'secondary', do: onClose }
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{children}</p>
      <Actions of={[agree, cancel]} doing={doing} />
    </Dialog>
  )
}
