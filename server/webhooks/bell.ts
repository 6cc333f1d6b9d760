/** Who in this process waits for something to deliver. A process hears its own bell alone, and looks by itself too. */
const listeners = new Set<() => void>()

export function ringBell(): void {
  for (const hear of listeners) hear()
}

/** Hears the bell from now on; the answer ends that. */
export function onBell(hear: () => void): () => void {
  listeners.add(hear)
  return () => void listeners.delete(hear)
}
