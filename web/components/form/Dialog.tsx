import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'

type Props = { title: string; onClose: () => void; children: ComponentChildren }

/** A question that stands before everything else; Escape takes it back. Whoever leaves it is where they were before. */
export function Dialog({ title, onClose, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const before = document.activeElement
    dialog.current?.showModal()
    // A browser gives the focus back where a dialog is closed, but not where it is taken out of the page.
    return () => before instanceof HTMLElement && before.focus()
  }, [])
  return (
    <dialog ref={dialog} class="dialog" aria-labelledby={id} onClose={onClose}>
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  )
}
