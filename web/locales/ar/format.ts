import { isolate } from '@countersign/protocol/formats/registries/languages'
import { localeOf } from '../locale.ts'
import { plural } from '../plural.ts'

type CountedForms = Parameters<typeof plural<'ar'>>[2]

/** Returns the username of an identity as it stands in a sentence: @ and the name, left to right. */
export function handleOf(handle: string): string {
  return isolate(`@${handle}`)
}

/** Writes a number in the digits of the user's region: Egypt and Dubai write them differently. */
export function numberOf(value: number): string {
  return new Intl.NumberFormat(localeOf('ar')).format(value)
}

/** Picks the form that goes with a number. `#` stands for the number. */
export function counted(count: number, forms: CountedForms): string {
  return plural('ar', count, forms).replaceAll('#', () => numberOf(count))
}

/** Joins names to a list. */
export function listOf(names: readonly string[]): string {
  return new Intl.ListFormat('ar').format(names.map(isolate))
}
