import type { ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'
import type { IconName } from '../ui/Icon.tsx'

/** `quiet` is an old name of `ghost`. */
export type ButtonLook = 'primary' | 'secondary' | 'ghost' | 'quiet' | 'danger' | 'danger-quiet'

/** One thing that a user can do on a page. Its button, its automation hook and its key derive from this value. */
export type Action = {
  name: string
  label: ComponentChildren
  look?: ButtonLook | 'choice'
  icon?: IconName
  identityId?: string
  organizationId?: string
  /** Set while the action is not available yet. The page says what is missing. */
  asleep?: boolean
  do: () => unknown
}

export type ActionState = {
  /** The name of the running action. */
  current: string | undefined
  problem: unknown
  perform: (action: Pick<Action, 'name' | 'do'>) => Promise<void>
  forgive: () => void
}

/** Runs one action at a time and stores the error of the last one. */
export function useActions(): ActionState {
  const [current, setCurrent] = useState<string>()
  const [problem, setProblem] = useState<unknown>()
  const busy = useRef(false)
  const perform: ActionState['perform'] = async (action) => {
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
