import type { ComponentChildren } from 'preact'
import { ActionForm } from '../../../components/form/Actions.tsx'
import { Dialog } from '../../../components/form/Dialog.tsx'
import { type Action, useActions } from '../../../components/form/use-actions.ts'
import { useMessages } from '../../../components/frame/Root.tsx'
import { CommandLine } from './CommandLine.tsx'

type Props = {
  title: string
  act: Action
  onClose: () => void
  /** Words of the command that does the same. */
  command?: string[]
  children?: ComponentChildren
}

/** Asks for what an act needs, and for confirmation. Closes when it is done. */
export function Ask({ title, act, onClose, command, children }: Props) {
  const { frame } = useMessages()
  const doing = useActions()
  const cancel: Action = { name: 'cancel', label: frame.cancel, look: 'secondary', do: onClose }
  return (
    <Dialog title={title} onClose={onClose}>
      <ActionForm submit={act} others={[cancel]} doing={doing}>
        {children}
        {command && <CommandLine words={command} />}
      </ActionForm>
    </Dialog>
  )
}
