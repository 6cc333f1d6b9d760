/**
 * Input of forms that outlasts a visit to the page that signs, or to the sign-in page. It is written when this tab
 * leaves, and read once when the tab comes back. Secrets are never among it: their fields do not use this state.
 */
import { isObject } from '@countersign/protocol/formats/json'
import { useEffect, useState } from 'preact/hooks'
import { type ActOutcome, ifAllowed } from '../../../lib/acts/returning.ts'

/** Name in session storage, which belongs to this tab alone. */
const storageKey = 'input'

/** A field with its value, and the one that it started with. */
type Input = { value: unknown; start: unknown }

/** The fields that are on the page, by form and field. */
const shown = new Map<string, Input>()

/** Input from before the tab left that no field has taken yet. */
let kept: Record<string, unknown> = {}

/** Keeps the input of all forms on the page. Call it before the tab leaves, with what it leaves for. */
export function keepInput(leavesTo: 'sign' | 'authenticate'): void {
  const input = { path: location.pathname, leavesTo, fields: Object.fromEntries(shown) }
  ifAllowed(() => sessionStorage.setItem(storageKey, JSON.stringify(input)))
}

/**
 * Takes what this tab has kept for the page. After a visit to the page that signs only if nothing was signed: without
 * an outcome the change may be done, and its form must not invite to do it again.
 */
export function takeKeptInput(outcome: ActOutcome | undefined): void {
  const input: unknown = JSON.parse(ifAllowed(() => sessionStorage.getItem(storageKey)) ?? 'null')
  dropKeptInput()
  if (!isObject(input)) return
  const { path, leavesTo, fields } = input
  const isUndone = leavesTo === 'authenticate' || outcome === 'declined' || outcome === 'ended'
  if (isUndone && path === location.pathname && isObject(fields)) kept = fields
}

export function dropKeptInput(): void {
  ifAllowed(() => sessionStorage.removeItem(storageKey))
  kept = {}
}

/** Returns whether there is kept input for a form. A dialog then opens at once. */
export function hasKeptInput(form: string): boolean {
  return Object.keys(kept).some((name) => name.startsWith(`${form}.`))
}

/** Returns the rest of the name of the form whose name begins so and that there is kept input for. */
export function findKeptForm(beginning: string): string | undefined {
  const name = Object.keys(kept).find((each) => each.startsWith(beginning))
  return name?.slice(beginning.length, name.lastIndexOf('.'))
}

/**
 * The state of a field, by `form.field`. It starts with the kept input, if there is any. Not for secrets. `start` may
 * have changed since the input was kept, such as by a colleague: `rebase` applies what the user had changed to the
 * present one.
 */
export function useKeptState<T>(
  name: `${string}.${string}`,
  start: T,
  isValue: (value: unknown) => value is T,
  rebase: Rebase<T> = (value) => value,
): [T, (value: T) => void] {
  const [value, setValue] = useState<T>(() => {
    const before = kept[name]
    delete kept[name]
    if (!isObject(before) || !isValue(before['value'])) return start
    return isValue(before['start']) ? rebase(before['value'], before['start'], start) : before['value']
  })
  useEffect(() => void shown.set(name, { value, start }), [value, start])
  useEffect(() => () => void shown.delete(name), [])
  return [value, (next) => setValue(() => next)]
}

type Rebase<T> = (value: T, before: T, present: T) => T

/** Returns the value of a field if the user had changed it. */
export function rebaseValue<T extends boolean | string>(value: T, before: T, present: T): T {
  return value === before ? present : value
}

/** Returns a list with what the user had added and without what they had removed. */
export function rebaseList<T>(value: readonly T[], before: readonly T[], present: readonly T[]): T[] {
  const remaining = present.filter((each) => value.includes(each) || !before.includes(each))
  return [...remaining, ...value.filter((each) => !before.includes(each) && !present.includes(each))]
}

export function isText(value: unknown): value is string {
  return typeof value === 'string'
}

export function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(isText)
}

export function isBoolean(value: unknown): value is boolean {
  return typeof value === 'boolean'
}
