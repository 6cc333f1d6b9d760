import { pageLimits } from '../registries/page-limits.ts'

/** Checks whether requests to a sink can have a header of this value: visible ASCII, and spaces not at its end. */
export function isSinkHeaderValue(value: string): boolean {
  return value.length <= pageLimits.sinkHeaderCharactersMax && /^[\x20-\x7e]*[\x21-\x7e]$/.test(value)
}
