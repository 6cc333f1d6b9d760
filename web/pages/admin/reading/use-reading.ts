import { useEffect, useRef, useState } from 'preact/hooks'

export type Read<Value> = {
  value: Value | undefined
  problem: unknown
  again: () => void
  /** Replaces the value by what an act has made of it. */
  set: (value: Value) => void
  /** Changes the value that was read, unless it is being read again, or for other keys. */
  update: (change: (value: Value) => Value) => void
}

/** Reads a value when it is first shown, and again when one of `keys` changes. A late answer is not shown. */
export function useReading<Value>(
  read: () => Promise<Value>,
  keys: readonly unknown[],
  delayMilliseconds = 0,
): Read<Value> {
  const [value, setValue] = useState<Value>()
  const [problem, setProblem] = useState<unknown>()
  const [attempt, setAttempt] = useState(0)
  const shownAttempt = useRef(0)
  const readings = useRef(0)
  const shown = readings.current
  useEffect(() => {
    let isCurrent = true
    readings.current += 1
    // After an act, the former value stays until the new one is there.
    if (shownAttempt.current === attempt) setValue(undefined)
    shownAttempt.current = attempt
    setProblem(undefined)
    const start = () =>
      read().then(
        (found) => isCurrent && setValue(() => found),
        (error: unknown) => isCurrent && setProblem(error),
      )
    const timer = setTimeout(() => void start(), delayMilliseconds)
    return () => {
      isCurrent = false
      clearTimeout(timer)
    }
  }, [...keys, attempt])
  return {
    value,
    problem,
    again: () => setAttempt(attempt + 1),
    set: (changed) => setValue(() => changed),
    update: (change) => shown === readings.current && setValue((now) => (now === undefined ? now : change(now))),
  }
}
