import { isolate } from '@countersign/protocol/formats/registries/languages'

/**
 * Joins names to a list. From right to left, each keeps its own direction: names in Latin letters would else run from
 * left to right together, around their commas.
 */
export function joinNames(names: readonly string[]): string {
  return joinValues(isRightToLeft() ? names.map(isolate) : names)
}

/** Joins values with the comma of the language of the page. Adds no invisible characters. */
export function joinValues(values: readonly string[]): string {
  return values.join(isRightToLeft() ? '، ' : ', ')
}

function isRightToLeft(): boolean {
  return globalThis.document?.documentElement.dir === 'rtl'
}
