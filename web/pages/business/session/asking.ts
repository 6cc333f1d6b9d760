import { useState } from 'preact/hooks'
import { isFresh, proveAgain } from './session.ts'

/**
 * A question that nobody may answer but who has just proved that it is them. Whoever has to prove it first comes back
 * to the question, by its name in the address.
 */
export function useGuardedQuestion(name: string) {
  const [asked, setAsked] = useState(location.hash === `#${name}`)
  return {
    asked,
    ask: async () => ((await isFresh()) ? setAsked(true) : proveAgain(name)),
    close: () => {
      history.replaceState(null, '', location.pathname)
      setAsked(false)
    },
  }
}
