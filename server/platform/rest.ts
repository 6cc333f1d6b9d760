/** Resolves after so long, or as soon as the signal comes. */
export function rest(milliseconds: number, stopped: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (stopped.aborted) return resolve()
    const timer = setTimeout(done, milliseconds)
    function done() {
      clearTimeout(timer)
      stopped.removeEventListener('abort', done)
      resolve()
    }
    stopped.addEventListener('abort', done)
  })
}
