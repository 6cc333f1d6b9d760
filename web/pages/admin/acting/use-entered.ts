import { useState } from 'preact/hooks'

/** What the operator has entered into fields, and the value that each had before. */
type Entered<Values> = { [Name in keyof Values]?: { value: Values[Name]; over: Values[Name] } }

/**
 * Returns what the fields of a dialog show, and what enters a value: what was entered, except over a value that another
 * operator has changed since.
 */
export function useEntered<Values extends object>(current: Values) {
  const [entered, setEntered] = useState<Entered<Values>>({})
  const draft = { ...current }
  for (const name of namesOf(current)) {
    const own = entered[name]
    if (own?.over === current[name]) draft[name] = own.value
  }
  const enter = <Name extends keyof Values>(name: Name, value: Values[Name]) =>
    setEntered((before) => ({ ...before, [name]: { value, over: current[name] } }))
  return { draft, enter }
}

function namesOf<Values extends object>(values: Values): (keyof Values)[] {
  return Object.keys(values) as (keyof Values)[]
}
