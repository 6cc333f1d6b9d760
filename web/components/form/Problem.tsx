import { useEffect } from 'preact/hooks'
import { describeProblem, isOurFault } from '../../lib/problem.ts'
import { useWords } from '../frame/Root.tsx'

/** What went wrong, said aloud too. A fault of the page's own also goes where developers look. */
export function Problem({ of }: { of: unknown }) {
  const words = useWords()
  useEffect(() => {
    if (of !== undefined && isOurFault(of)) reportError(of)
  }, [of])
  return <div role="alert">{of !== undefined && <p class="problem">{describeProblem(of, words)}</p>}</div>
}
