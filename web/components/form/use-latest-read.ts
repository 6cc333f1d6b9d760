import { useEffect, useState } from 'preact/hooks'
import { type ActionState, useActions } from './use-actions.ts'

type Reading<Value> = {
  /** Undefined while there is nothing to read. */
  read: (() => Promise<Value>) | undefined
  onRead: (value: Value) => void
  /** A pause after a change, in which the user may type more. */
  delayMilliseconds?: number
}

/**
 * Reads when the page is first shown, and again when one of `keys` changes or with `readAgain`. Reads do not wait for
 * each other, unlike actions: `onRead` gets only the answer of the last one. `doing` runs the actions of the page, and
 * contains the problem of the read, if any, until the next one.
 */
export function useLatestRead<Value>(
  { read, onRead, delayMilliseconds = 0 }: Reading<Value>,
  keys: readonly unknown[],
): { doing: ActionState; readAgain: () => void } {
  const doing = useActions()
  const [problem, setProblem] = useState<unknown>()
  const [attempt, setAttempt] = useState(0)
  useEffect(() => {
    let isCurrent = true
    setProblem(undefined)
    doing.forgive()
    if (!read) return
    const start = () =>
      read().then(
        (value) => isCurrent && onRead(value),
        (error: unknown) => isCurrent && setProblem(error),
      )
    const timer = delayMilliseconds > 0 ? setTimeout(() => void start(), delayMilliseconds) : void start()
    return () => {
      isCurrent = false
      clearTimeout(timer)
    }
  }, [...keys, attempt])
  return { doing: { ...doing, problem: problem ?? doing.problem }, readAgain: () => setAttempt((count) => count + 1) }
}
