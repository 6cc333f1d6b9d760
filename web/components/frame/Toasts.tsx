import { useEffect, useLayoutEffect, useState } from 'preact/hooks'
import { useMessages } from './Root.tsx'
import { Icon } from '../ui/Icon.tsx'
import { clearToast, type ToastMessage, watchToasts } from './toast.ts'

const shownMilliseconds = 5000

/** The place of toasts on a page. A message stays as long as the pointer or the focus is on it. */
export function Toasts() {
  const words = useMessages().frame
  const [message, setMessage] = useState<ToastMessage>()
  const [isHeld, setHeld] = useState(false)
  useLayoutEffect(() => watchToasts(setMessage), [])
  useEffect(() => {
    if (!message || isHeld) return
    const timer = setTimeout(clearToast, shownMilliseconds)
    return () => clearTimeout(timer)
  }, [message, isHeld])
  const undo = () => {
    const work = message?.undo
    setHeld(false)
    clearToast()
    if (work) void Promise.resolve(work()).catch(reportError)
  }
  return (
    <div class="toasts" role="status">
      {message && (
        <div
          class="toast"
          onPointerEnter={() => setHeld(true)}
          onPointerLeave={() => setHeld(false)}
          onFocusIn={() => setHeld(true)}
          onFocusOut={() => setHeld(false)}
        >
          <Icon name="circle-check" />
          <span>{message.text}</span>
          {message.undo && (
            <button type="button" data-action="undo" onClick={undo}>
              {words.undo}
            </button>
          )}
        </div>
      )}
    </div>
  )
}
