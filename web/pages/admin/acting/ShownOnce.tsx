import type { ComponentChildren } from 'preact'
import { CopyButton } from '../../../components/display/Copies.tsx'
import { Dialog } from '../../../components/form/Dialog.tsx'
import { Note } from '../../../components/ui/Chip.tsx'

type Props = {
  title: string
  /** What it is, such as `admin-token`: names the text, and the actions that copy it and close the dialog. */
  name: string
  text: string
  words: { what: string; once: string; saved: string }
  onClose: () => void
  /** What belongs to it, and can be shown again. */
  children?: ComponentChildren
}

/** Shows a secret, or a link with one. It cannot be shown again, so Escape does not close it. */
export function ShownOnce({ title, name, text, words, onClose, children }: Props) {
  return (
    <Dialog title={title}>
      {children}
      <Note tone="wait">{words.once}</Note>
      <div class="copyable" dir="ltr">
        <code data-name={name}>{text}</code>
        <CopyButton text={text} action={`copy-${name}`} what={words.what} />
      </div>
      <div class="actions">
        <button type="button" class="button primary" data-action={`${name}-saved`} onClick={onClose}>
          {words.saved}
        </button>
      </div>
    </Dialog>
  )
}
