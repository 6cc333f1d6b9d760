import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { ApiError } from '../../lib/api/call.ts'
import { errorMessage, reportUnexpected } from '../../lib/api/error-message.ts'
import { focusAgain } from '../../lib/focus.ts'
import { useMessages } from '../frame/Root.tsx'
import { Icon } from '../ui/Icon.tsx'

type Props = {
  title: string
  /** What closes the dialog. Without it, only a button in it does, because what it shows cannot be shown again. */
  onClose?: () => void
  children: ComponentChildren
}

/** A note about what has happened before, which screen readers begin with. */
const note = '.dialog-body > .note[tabindex]'

/** The fields that users type into. Without one, the button that closes the dialog gets the focus. */
const typedInto = '.dialog-body :is(textarea, input:not([type="radio"], [type="checkbox"], [type="file"]))'

/**
 * A modal dialog, which Escape closes. Its note or first field takes the focus, which returns to what had it before.
 */
export function Dialog({ title, onClose, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  const words = useMessages().frame
  useEffect(() => {
    const before = document.activeElement
    dialog.current?.showModal()
    const first = dialog.current?.querySelector<HTMLElement>(note) ?? dialog.current?.querySelector(typedInto)
    if (first instanceof HTMLElement) first.focus()
    // Browsers restore the focus when a dialog is closed, but not when it is removed from the page.
    return () => queueMicrotask(() => focusAgain(before))
  }, [])
  // A browser closes a dialog in spite of that when Escape is pressed again.
  const stay = onClose ? undefined : (event: Event) => event.preventDefault()
  return (
    <dialog
      ref={dialog}
      class="dialog"
      aria-labelledby={id}
      onCancel={stay}
      onClose={onClose ?? (() => dialog.current?.showModal())}
    >
      <div class="dialog-head">
        <h2 id={id}>{title}</h2>
        {onClose && (
          <button
            type="button"
            class="button square ghost"
            aria-label={words.close}
            onClick={() => dialog.current?.close()}
          >
            <Icon name="x" />
          </button>
        )}
      </div>
      <div class="dialog-body">{children}</div>
    </dialog>
  )
}

/**
 * Shows an error and announces it to screen readers. Also reports bugs of the page to the console. Users who are signed
 * out can sign in beside the page, which may hold what they typed: a page that is opened without a session offers that.
 */
export function ErrorMessage({ of }: { of: unknown }) {
  const words = useMessages()
  useEffect(() => {
    if (of !== undefined) reportUnexpected(of)
  }, [of])
  return (
    <div role="alert">
      {of !== undefined && (
        <p class="problem">
          {errorMessage(of, words)}
          {of instanceof ApiError && of.code === 'unauthorized' && (
            <>
              {' '}
              <a class="link" href={location.href} target="_blank">
                {words.login.title}
              </a>
            </>
          )}
        </p>
      )}
    </div>
  )
}
