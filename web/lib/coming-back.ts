/** Calls back whenever the person comes back to this tab from another. */
export function whenSeenAgain(work: () => Promise<void>): () => void {
  const seen = () => void work().catch(reportError)
  addEventListener('focus', seen)
  return () => removeEventListener('focus', seen)
}
