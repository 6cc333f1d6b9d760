import { findLookAlikes } from './look-alikes.ts'

/** Why a piece of a text is not what it seems, or does not show at all. */
export type Oddity =
  | 'direction'
  | 'invisible'
  | 'tag'
  | 'variation'
  | 'control'
  | 'unknown'
  | 'combining'
  | 'look-alike'

/**
 * A piece of a text. A `space` is wider, narrower or more than it seems; that, and what a line ends with, is shown but
 * warns of nothing. `right to left` are letters that must not pull along what stands around them.
 */
export type Part = { is: 'plain' | 'right to left' | 'space' | 'line end' | Oddity; text: string }

/** A line with what ends it. */
export type Line = { direction: 'ltr' | 'rtl'; parts: Part[] }

/**
 * Cuts a text into lines and pieces, so that whoever looks at it sees every character that they sign, in the order in
 * which they sign them. The pieces joined are the text.
 */
export function linesOf(text: string): Line[] {
  return (text.match(/[^\n]*\n|[^\n]+$/g) ?? []).map((line) => {
    const direction = directionOf(line)
    const parts = merge(findLookAlikes(piecesOf(line), line))
    return { direction, parts: direction === 'rtl' ? parts : parts.flatMap(isolateRightToLeft) }
  })
}

/** What a text is to be warned of, and how many times. */
export function odditiesIn(lines: Line[]): Map<Oddity, number> {
  const counts = new Map<Oddity, number>()
  for (const { is, text } of lines.flatMap(({ parts }) => parts))
    if (isOdd(is)) counts.set(is, (counts.get(is) ?? 0) + (is === 'combining' ? 1 : [...text].length))
  return counts
}

export function isOdd(is: Part['is']): is is Oddity {
  return is !== 'plain' && is !== 'right to left' && is !== 'space' && is !== 'line end'
}

/** Scripts in which a joiner, or none, between two letters is a matter of spelling (RFC 5892 appendix A). */
const joining = 'Arab Syrc Nkoo Mong Deva Beng Guru Gujr Orya Taml Telu Knda Mlym Sinh Mymr Khmr'
const joiningLetter = `[[${joining.replaceAll(/(\w+) ?/g, '\\p{sc=$1}')}]&&[\\p{L}\\p{M}]]`

/** What a piece may be, in the order in which it is tried: first what is in order, though a part of it might not be. */
const kinds: [Part['is'], RegExp][] = [
  ['line end', /\r?\n/vy],
  ['space', / {2,}| +(?=\r?\n|$)|\t+|[\p{Zs}--\x20]+/vy],
  ['plain', /\p{RGI_Emoji}/vy],
  ['plain', /(?:[\x21-\x7E]| (?=[\x21-\x7E]))+(?!\uFE0F)/vy],
  ['plain', /(?<=[\p{Emoji}--\p{ASCII}])[\uFE0E\uFE0F]/vy],
  ['plain', /(?<=\p{sc=Han})[\uFE00-\uFE02\u{E0100}-\u{E01EF}]|(?<=\p{sc=Mong})[\u180B-\u180D\u180F]/vy],
  // regexp: sticky, of one character and one on either side of it
  ['plain', new RegExp(`(?<=${joiningLetter})[\\u200C\\u200D](?=${joiningLetter})`, 'vy')],
  ['direction', /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/vy],
  ['tag', /[\u{E0000}-\u{E007F}]+/vy],
  ['variation', /[\p{Variation_Selector}\u180F]/vy],
  ['control', /[\p{Cc}\p{Zl}\p{Zp}]/vy],
  // What Arabic and Kaithi write under a number is called a format character too, but is seen.
  ['plain', /[\u0600-\u0605\u06DD\u070F\u0890\u0891\u08E2\u{110BD}\u{110CD}]/vy],
  ['invisible', /[\p{Default_Ignorable_Code_Point}\p{Cf}\u2800]/vy],
  ['unknown', /[\p{Cn}\p{Co}\uFFFD]/vy],
  // Marks on what is no letter, such that strike their letter out, and more than any language piles up.
  ['combining', /(?<![\p{L}\p{M}])\p{M}+/vy],
  ['combining', /[\u0334-\u0338\u20D2\u20D3\u20D8-\u20DA\u20E5\u20E6\u20EA\u20EB]+/vy],
  ['combining', /(?<=[\p{sc=Latn}\p{sc=Grek}\p{sc=Cyrl}]\p{M}{3})\p{M}+|(?<=\p{L}\p{M}{8})\p{M}+/vy],
  ['plain', /./svy],
]

function piecesOf(line: string): Part[] {
  const pieces: Part[] = []
  for (let at = 0; at < line.length; at += pieces.at(-1)?.text.length ?? 1) pieces.push(pieceAt(line, at))
  return merge(pieces)
}

function pieceAt(line: string, at: number): Part {
  for (const [is, pattern] of kinds) {
    pattern.lastIndex = at
    const [text] = pattern.exec(line) ?? []
    if (text !== undefined) return { is, text }
  }
  throw new Error('The last kind is any character')
}

/** Makes one piece of neighbours that are read together, and of the same character again and again. */
function merge(parts: Part[]): Part[] {
  const merged: Part[] = []
  for (const part of parts) {
    const last = merged.at(-1)
    if (last?.is === part.is && areOne(last, part)) last.text += part.text
    else merged.push({ ...part })
  }
  return merged
}

function areOne(part: Part, next: Part): boolean {
  const isRead = part.is === 'plain' || part.is === 'look-alike'
  return isRead || (part.text.startsWith(next.text) && [...next.text].length === 1)
}

/** Letters that are written from right to left, by the blocks that Unicode keeps for them. */
const rightToLeft =
  '[[\\u0590-\\u08FF\\uFB1D-\\uFDFF\\uFE70-\\uFEFC\\u{10800}-\\u{10FFF}\\u{1E800}-\\u{1EFFF}]&&\\p{L}]'
const firstLetter = new RegExp(`^[^\\p{L}]*${rightToLeft}`, 'v')
/** From such a letter to the last one before a letter of another direction. */
const run = new RegExp(`(${rightToLeft}(?:(?:${rightToLeft}|\\P{L})*(?:${rightToLeft}|\\p{M}))?)`, 'v')

function directionOf(line: string): Line['direction'] {
  return firstLetter.test(line) ? 'rtl' : 'ltr'
}

/** Browsers would show the number behind a word that is written from right to left before it. */
function isolateRightToLeft(part: Part): Part[] {
  if (part.is !== 'plain') return [part]
  const pieces = part.text.split(run).map((text, index) => {
    return { is: index % 2 === 1 ? ('right to left' as const) : ('plain' as const), text }
  })
  return pieces.filter(({ text }) => text !== '')
}
