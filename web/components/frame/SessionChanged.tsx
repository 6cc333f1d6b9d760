import { useEffect, useRef } from 'preact/hooks'
import { changedMessages as en } from '../../locales/en/pages/session-changed.ts'
import { LateTexts, lateTexts } from '../../locales/late-texts.ts'
import { matchLanguage } from '../../locales/messages.ts'
import { renderInto, useMessages, usePageMessages } from './Root.tsx'

const de = lateTexts('de', async () => (await import('../../locales/de/pages/session-changed.ts')).changedMessages)
const ar = lateTexts('ar', async () => (await import('../../locales/ar/pages/session-changed.ts')).changedMessages)
const catalogue = { en, de, ar }

let wasShown = false

/**
 * Says over the page that another user has signed in. Once closed, it stays closed, so that the user can copy what they
 * have typed. Returns a sentence that says the same where the page shows an error.
 */
export async function showSessionChanged(): Promise<string> {
  if (!wasShown) {
    wasShown = true
    await show()
  }
  const texts = catalogue[matchLanguage(document.documentElement.lang, [])]
  return (texts instanceof LateTexts ? (texts.texts ?? en) : texts).refused
}

async function show(): Promise<void> {
  const place = document.body.appendChild(document.createElement('div'))
  const clear = await renderInto(place, () => <SessionChanged onClose={close} />)
  function close() {
    clear()
    place.remove()
  }
}

function SessionChanged({ onClose }: { onClose: () => void }) {
  const { frame } = useMessages()
  const words = usePageMessages(catalogue)
  const dialog = useRef<HTMLDialogElement>(null)
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    const before = document.activeElement
    dialog.current?.showModal()
    // A user who is typing must not press a button that clears it.
    heading.current?.focus()
    return () => before instanceof HTMLElement && before.focus()
  }, [])
  // Names of elements that `useId` makes are those of the page, too.
  return (
    <dialog ref={dialog} class="dialog" aria-labelledby="session-changed" onClose={onClose}>
      <div class="dialog-head">
        <h2 id="session-changed" ref={heading} tabIndex={-1}>
          {words.title}
        </h2>
      </div>
      <div class="dialog-body">
        <p>{words.what}</p>
        <p>{words.typed}</p>
        <div class="actions">
          <button type="button" class="button primary" data-action="reload" onClick={() => location.reload()}>
            {words.reload}
          </button>
          <button type="button" class="button ghost" data-action="keep-page" onClick={() => dialog.current?.close()}>
            {frame.close}
          </button>
        </div>
      </div>
    </dialog>
  )
}
