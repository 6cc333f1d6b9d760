/** Wakes those in this process who wait for something to do. A process hears its own bell alone. */
export type Bell = {
  ring: () => void
  /** Hears the bell from now on; the answer ends that. */
  onRing: (hear: () => void) => () => void
}

export function createBell(): Bell {
  const listeners = new Set<() => void>()
  return {
    ring() {
      for (const hear of listeners) hear()
    },
    onRing(hear) {
      listeners.add(hear)
      return () => void listeners.delete(hear)
    },
  }
}
