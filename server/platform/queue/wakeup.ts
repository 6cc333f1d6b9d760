/** Wakes the senders of this process when a delivery is queued. It does not reach other processes. */
export type Wakeup = {
  notify: () => void
  /** Adds a listener. Returns a function that removes it. */
  onNotified: (listener: () => void) => () => void
}

export function createWakeup(): Wakeup {
  const listeners = new Set<() => void>()
  return {
    notify() {
      for (const listener of listeners) listener()
    },
    onNotified(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
