/** A short message about what has just been done. */
export type ToastMessage = { text: string; undo?: () => unknown }

let current: ToastMessage | undefined
const listeners = new Set<(message: ToastMessage | undefined) => void>()

/**
 * Shows what has been done, for some seconds, at the edge of the page. With `undo`, the user can take it back as long
 * as the message is visible.
 */
export function toast(text: string, undo?: () => unknown): void {
  setToast(undo ? { text, undo } : { text })
}

export function clearToast(): void {
  setToast(undefined)
}

/** Calls `onChange` with each message from now on, and with undefined when it ends. Returns what stops that. */
export function watchToasts(onChange: (message: ToastMessage | undefined) => void): () => void {
  listeners.add(onChange)
  if (current) onChange(current)
  return () => void listeners.delete(onChange)
}

function setToast(message: ToastMessage | undefined): void {
  current = message
  for (const listener of listeners) listener(message)
}
