import { limits } from './limits.ts'

/** Control, format, surrogate, private and unassigned characters; among them the bidirectional overrides. */
const unshowable = /[\p{Cc}\p{Cs}\p{Co}\p{Cn}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/u

/** A name that may be shown beside others without disguising itself or them: 1 to 80 characters, not only spaces. */
export function isDisplayName(text: string): boolean {
  const length = [...text].length
  return length <= limits.displayNameCharactersMax && text.trim() !== '' && !unshowable.test(text)
}
