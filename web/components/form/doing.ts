import { useRef, useState } from 'preact/hooks'

/** One thing that a person can do where they are. Its button, its hook for automation and its key come from here. */
export type Action = {
  name: string
  label: string
  look?: 'primary' | 'secondary' | 'quiet' | 'choice'
  identityId?: string
  organizationId?: string
  /** It can't be done yet; the page says what must come first. */
  asleep?: boolean
  do: () => unknown
}

export type Doing = {
  /** The name of the action under way. */
  current: string | undefined
  problem: unknown
  perform: (action: Pick<Action, 'name' | 'do'>) => Promise<void>
  forgive: () => void
}

/** Performs one action at a time, and keeps what went wrong with the last. */
export function useDoing(): Doing {
  const [current, setCurrent] = useState<string>()
  const [problem, setProblem] = useState<unknown>()
  const busy = useRef(false)
  const perform: Doing['perform'] = async (action) => {
    if (busy.current) return
    busy.current = true
    setCurrent(action.name)
    setProblem(undefined)
    try {
      await action.do()
    } catch (error) {
      setProblem(error)
    } finally {
      busy.current = false
      setCurrent(undefined)
    }
  }
  return { current, problem, perform, forgive: () => setProblem(undefined) }
}
