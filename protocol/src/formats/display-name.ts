import { limits } from './limits.ts'

/**
 * Characters that are not seen, or that change what stands beside them: control, surrogate, private and unassigned
 * ones, line and paragraph separators, all that Unicode lets be invisible (fillers, tags, variants, marks of
 * direction), format characters such as those of annotations, and the empty braille cell.
 */
const unseen = /[[\p{Cc}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{DI}\p{Cf}\u2800\uFFFC]--[\u0600-\u0605\u06DD\u070F\u08E2]]/v

/** What emoji are made of besides themselves: their joiner, their style, and the tags of three flags. */
const emoji = /\p{RGI_Emoji}|[\p{Emoji}--\p{ASCII}][\uFE0E\uFE0F]/gv
/** Scripts in which a joiner, or none, between two letters is a matter of spelling (RFC 5892 appendix A). */
const joining = 'Arab Syrc Nkoo Mong Deva Beng Guru Gujr Orya Taml Telu Knda Mlym Sinh Mymr Khmr'
const joined = `[[${joining.replaceAll(/(\w+) ?/g, '\\p{sc=$1}')}]&&[\\p{L}\\p{M}]]`
// regexp: of one character, and one on either side of it
const joiner = new RegExp(`(?<=${joined})[\\u200C\\u200D](?=${joined})`, 'gv')
/** In scripts of India a word may end with one, behind the mark that takes the vowel. */
const lastJoiner = /(?<=[\u094D\u09CD\u0A4D\u0ACD\u0B4D\u0BCD\u0C4D\u0CCD\u0D4D\u0DCA])[\u200C\u200D]/gv
/** Selectors of a variant that letters of Han and Mongolian have, one each. */
const variant = /(?<=\p{sc=Han})[\uFE00-\uFE02\u{E0100}-\u{E01EF}]|(?<=\p{sc=Mong})[\u180B-\u180D\u180F]/gv

/** Marks that strike a letter out, wherever they stand. */
const striking = /[\u0334-\u0338\u20D2\u20D3\u20D8-\u20DA\u20E5\u20E6\u20EA\u20EB]/gv
/** Marks that belong to no letter, strike one out, or pile up beyond what any language writes. */
const marks = /^\p{M}|\s\p{M}|[\u0334-\u0338\u20D2\u20D3\u20D8-\u20DA\u20E5\u20E6\u20EA\u20EB]|\p{M}{5}/v

/** A character that leaves a mark. */
const visible = /[^\p{Z}\p{DI}\u2800]/v

/**
 * A name that disguises neither itself nor the text beside it: 1 to 80 characters unless said otherwise, one of them
 * visible at least.
 */
export function isDisplayName(text: string, charactersMax: number = limits.displayNameCharactersMax): boolean {
  return [...text].length <= charactersMax && visible.test(text) && isShown(text)
}

/** Whether all of a text is seen, and nothing in it covers or moves what stands beside it. Line ends are not seen. */
export function isShown(text: string): boolean {
  const rest = [joiner, lastJoiner, variant].reduce((left, allowed) => left.replaceAll(allowed, ''), text)
  return !unseen.test(rest.replaceAll(emoji, ' ')) && !marks.test(text)
}

/** Of a text that is longer, the end is not looked at. */
const cleanedCharactersMax = 1000

/**
 * A name that was given elsewhere, without what a display name must not have, and cut where it is too long; undefined
 * where nothing is left that could be one.
 */
export function cleanDisplayName(
  text: string,
  charactersMax: number = limits.displayNameCharactersMax,
): string | undefined {
  const cut = [...withoutUnseen(text.slice(0, cleanedCharactersMax))].slice(0, charactersMax).join('')
  // Where it was cut, half of an emoji may be left; and without joiners and marks at all a name is still a name.
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
