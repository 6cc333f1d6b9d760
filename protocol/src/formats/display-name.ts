import { pageLimits } from './registries/page-limits.ts'

/**
 * Characters that are invisible or change adjacent text: control, surrogate, private-use and unassigned ones, line and
 * paragraph separators, all default-ignorable ones (fillers, tags, variation selectors, direction marks), format
 * characters such as annotations, and the blank braille cell.
 */
const unseen = /[[\p{Cc}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{DI}\p{Cf}\u2800\uFFFC]--[\u0600-\u0605\u06DD\u070F\u08E2]]/v

/** Components of emoji: joiner, presentation selector, and the tags of three flags. */
const emoji = /\p{RGI_Emoji}|[\p{Emoji}--\p{ASCII}][\uFE0E\uFE0F]/gv
/** Scripts in which a joiner or non-joiner between two letters is part of the spelling (RFC 5892 appendix A). */
const joining = 'Arab Syrc Nkoo Mong Deva Beng Guru Gujr Orya Taml Telu Knda Mlym Sinh Mymr Khmr'
const joined = `[[${joining.replaceAll(/(\w+) ?/g, '\\p{sc=$1}')}]&&[\\p{L}\\p{M}]]`
// regexp: of one character, and one on either side of it
const joiner = new RegExp(`(?<=${joined})[\\u200C\\u200D](?=${joined})`, 'gv')
/** In scripts of India a word may end with a joiner after the virama. */
const lastJoiner = /(?<=[\u094D\u09CD\u0A4D\u0ACD\u0B4D\u0BCD\u0C4D\u0CCD\u0D4D\u0DCA])[\u200C\u200D]/gv
/** Variation selectors that Han and Mongolian letters take, one each. */
const variant = /(?<=\p{sc=Han})[\uFE00-\uFE02\u{E0100}-\u{E01EF}]|(?<=\p{sc=Mong})[\u180B-\u180D\u180F]/gv

/** Marks that strike a letter out, in any position. */
const striking = /[\u0334-\u0338\u20D2\u20D3\u20D8-\u20DA\u20E5\u20E6\u20EA\u20EB]/gv
/** Marks without a letter, marks that strike one out, and stacks of marks beyond what any language uses. */
const marks = /^\p{M}|\s\p{M}|[\u0334-\u0338\u20D2\u20D3\u20D8-\u20DA\u20E5\u20E6\u20EA\u20EB]|\p{M}{5}/v

/** Visible character. */
const visible = /[^\p{Z}\p{DI}\u2800]/v

/**
 * Checks that a name disguises neither itself nor adjacent text: 1 to 80 characters by default, at least one of them
 * visible.
 */
export function isDisplayName(text: string, charactersMax: number = pageLimits.displayNameCharactersMax): boolean {
  return [...text].length <= charactersMax && visible.test(text) && isShown(text)
}

/**
 * Checks that all of a text is visible, and that nothing in it covers or moves adjacent text. Line ends count as
 * invisible.
 */
export function isShown(text: string): boolean {
  const rest = [joiner, lastJoiner, variant].reduce((left, allowed) => left.replaceAll(allowed, ''), text)
  return !unseen.test(rest.replaceAll(emoji, ' ')) && !marks.test(text)
}

/** Limit of the characters that are cleaned; the rest of a longer text is ignored. */
const cleanedCharactersMax = 1000

/**
 * Cleans an external name: removes what a display name must not contain and truncates it. Returns undefined if no valid
 * name remains.
 */
export function cleanDisplayName(
  text: string,
  charactersMax: number = pageLimits.displayNameCharactersMax,
): string | undefined {
  const cut = [...withoutUnseen(text.slice(0, cleanedCharactersMax))].slice(0, charactersMax).join('')
  // Truncation may leave half of an emoji; a name without any joiners and marks is still a name.
  const candidates = [withoutUnseen(cut), cut.replaceAll(/[\p{M}\p{Cf}\p{DI}]/gv, '').trim()]
  return candidates.find((name) => isDisplayName(name, charactersMax))
}

function withoutUnseen(text: string): string {
  const spaced = text.replaceAll(/[\t-\r\x85\u2028\u2029]/g, ' ')
  const allowed = new Set<number>()
  for (const pattern of [joiner, lastJoiner, variant, emoji])
    for (const { index, 0: found } of spaced.matchAll(pattern))
      for (let at = index; at < index + found.length; at += 1) allowed.add(at)
  let [kept, at] = ['', 0]
  for (const character of spaced) {
    if (allowed.has(at) || !unseen.test(character)) kept += character
    at += character.length
  }
  return kept
    .replaceAll(striking, '')
    .replaceAll(/(\p{M}{4})\p{M}+/gv, '$1')
    .replaceAll(/(^|\s)\p{M}+/gv, '$1')
    .trim()
}
