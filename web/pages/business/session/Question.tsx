import type { ComponentChildren } from 'preact'
import { Actions } from '../../../components/form/Actions.tsx'
import { Dialog } from '../../../components/form/Dialog.tsx'
import { useDoing, type Action } from '../../../components/form/doing.ts'
import { useWords } from '../../../components/frame/Root.tsx'

type Props = { title: string; agree: Action; onClose: () => void; children: ComponentChildren }

/** Whether somebody means it, and what ends with it. Who signs what they do is asked where they sign, and not here. */
export function Question({ title, agree, onClose, children }: Props) {
  const { frame } = useWords()
  const doing = useDoing()
  const cancel: Action = { name: 'cancel', label: frame.cancel, look: 'quiet', do: onClose }
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{children}</p>
      <Actions of={[agree, cancel]} doing={doing} />
    </Dialog>
  )
}
