import { isDeepStrictEqual } from 'node:util'

/** Decides whether other processes may apply a change of a setting some seconds later. */
export type MayLag<Value> = (after: Value, before: Value) => boolean

/** Such a decision for every setting. A process with the old settings must not grant what is no longer allowed. */
export type Lagging<Settings> = { [Name in keyof Settings]: MayLag<Settings[Name]> }

export const never = () => false
/** For display text. */
export const always = () => true
export const whereOn: MayLag<boolean> = (after) => after
export const whereNoLess: MayLag<number> = (after, before) => after >= before
export const whereNoneIsGone: MayLag<string[]> = (after, before) => before.every((each) => after.includes(each))

/** Checks whether a change of settings must apply in all processes before the response. */
export function mustHoldEverywhere<Settings extends object>(
  lagging: Lagging<Settings>,
  after: Settings,
  before: Settings,
): boolean {
  for (const name in lagging)
    if (!isDeepStrictEqual(after[name], before[name]) && !lagging[name](after[name], before[name])) return true
  return false
}
