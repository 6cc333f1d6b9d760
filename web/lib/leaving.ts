/**
 * Lets the browser ask whoever is about to leave, for as long as it is not taken back: nobody can show a recovery code
 * again, and without it keys that no passkey opens are lost.
 */
export function askBeforeLeaving(): () => void {
  const ask = (event: BeforeUnloadEvent) => event.preventDefault()
  addEventListener('beforeunload', ask)
  return () => removeEventListener('beforeunload', ask)
}
