import { limits } from './limits.ts'

/** Control, format, surrogate, private and unassigned characters; among them the bidirectional overrides. */
const unshowable = /[\p{Cc}\p{Cs}\p{Co}\p{Cn}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/u

/** A character that leaves a mark: no space, none that Unicode lets be invisible, not the empty braille cell. */
const visible = /[^\p{Z}\p{DI}\u2800]/u

/** A name that disguises neither itself nor the text beside it: 1 to 80 characters, one of them visible at least. */
export function isDisplayName(text: string): boolean {
  const length = [...text].length
  return length <= limits.displayNameCharactersMax && visible.test(text) && !unshowable.test(text)
}
