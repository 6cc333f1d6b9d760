import { isDeepStrictEqual } from 'node:util'

/** Whether other processes may learn a moment later that a setting has changed in this way. */
export type MayLag<Value> = (after: Value, before: Value) => boolean

/** Of every setting; what still knows those of before would give what is not to be had any more. */
export type Lagging<Settings> = { [Name in keyof Settings]: MayLag<Settings[Name]> }

export const never = () => false
/** Words that are shown, and nothing else. */
export const always = () => true
export const whereOn: MayLag<boolean> = (after) => after
export const whereNoLess: MayLag<number> = (after, before) => after >= before
export const whereNoneIsGone: MayLag<string[]> = (after, before) => before.every((each) => after.includes(each))

/** Whether a change of settings must hold in every process before it is acknowledged. */
export function mustHoldEverywhere<Settings extends object>(
  lagging: Lagging<Settings>,
  after: Settings,
  before: Settings,
): boolean {
  for (const name in lagging)
    if (!isDeepStrictEqual(after[name], before[name]) && !lagging[name](after[name], before[name])) return true
  return false
}
