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

/** Marks that belong to no letter, strike one out, or pile up beyond what any language writes. */
const marks = /^\p{M}|\s\p{M}|[\u0334-\u0338\u20D2\u20D3\u20D8-\u20DA\u20E5\u20E6\u20EA\u20EB]|\p{M}{5}/v

/** A character that leaves a mark. */
const visible = /[^\p{Z}\p{DI}\u2800]/v

/** A name that disguises neither itself nor the text beside it: 1 to 80 characters, one of them visible at least. */
export function isDisplayName(text: string): boolean {
  return [...text].length <= limits.displayNameCharactersMax && visible.test(text) && isShown(text)
}

/** Whether all of a text is seen, and nothing in it covers or moves what stands beside it. Line ends are not seen. */
export function isShown(text: string): boolean {
  const rest = [joiner, lastJoiner, variant].reduce((left, allowed) => left.replaceAll(allowed, ''), text)
  return !unseen.test(rest.replaceAll(emoji, ' ')) && !marks.test(text)
}
