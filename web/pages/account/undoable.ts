import { toast, watchToasts } from '../../components/frame/toast.ts'

/**
 * Says what has been done, and does it once the message is gone, so that the user can take it back until then. It is
 * also done when the user leaves the page. Errors are passed to `onFailed`.
 */
export function doUnlessUndone(text: string, work: () => Promise<unknown>, onUndone: () => void): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>()
  let isSettled = false
  const settle = (outcome: () => unknown) => {
    if (isSettled) return
    isSettled = true
    stopWatching()
    removeEventListener('pagehide', commit)
    outcome()
  }
  const commit = () => settle(() => void work().then(resolve, reject))
  const undo = () =>
    settle(() => {
      onUndone()
      resolve(undefined)
    })
  toast(text, undo)
  // The button of the message clears it before it calls `undo`, in the same task.
  const stopWatching = watchToasts((message) => {
    if (message?.undo !== undo) queueMicrotask(commit)
  })
  addEventListener('pagehide', commit)
  return promise
}
