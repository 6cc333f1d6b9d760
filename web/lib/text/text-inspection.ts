import { findBars, orderOf, type Direction, type Run } from './directions.ts'
import { findConfusables } from './look-alikes.ts'

/** The reason why a part of a text is misleading or invisible. */
export type SuspiciousCharacterKind =
  | 'order'
  | 'direction'
  | 'invisible'
  | 'tag'
  | 'variation'
  | 'control'
  | 'unknown'
  | 'combining'
  | 'look-alike'

/**
 * A part of a text. A `space` is wider, narrower or longer than it seems. Spaces and line ends are shown without a
 * warning.
 */
export type Part = { is: 'plain' | 'space' | 'line end' | Exclude<SuspiciousCharacterKind, 'order'>; text: string }

/**
 * A line with its line end, in runs of one direction each. A run of another direction than the line's must be isolated,
 * so that it does not move its surroundings.
 */
export type Line = { direction: Direction; isAmbiguous: boolean; runs: { direction: Direction; parts: Part[] }[] }

/**
 * Splits a text into lines, runs and parts, so that users see every character that they sign, in the signed order. If
 * readers may read another order, the line is `isAmbiguous`. The joined parts equal the text.
 */
export function linesOf(text: string): Line[] {
  return (text.match(/[^\n]*\n|[^\n]+$/g) ?? []).map((line) => {
    const { direction, runs, isAmbiguous } = orderOf(line)
    const parts = merge(findConfusables(piecesOf(line), line, findBars(line)))
    return { direction, isAmbiguous, runs: divide(parts, runs) }
  })
}

/** Assigns each part to its run, and splits parts that reach into the next run. */
function divide(parts: Part[], runs: Run[]): Line['runs'] {
  const left = parts.toReversed()
  return runs.map(({ direction, text }) => {
    const within: Part[] = []
    for (let length = text.length; length > 0; length -= within.at(-1)?.text.length ?? 0) {
      const part = left.pop()
      if (!part) throw new Error('The pieces are less than the runs')
      within.push({ ...part, text: part.text.slice(0, length) })
      if (part.text.length > length) left.push({ ...part, text: part.text.slice(length) })
    }
    return { direction, parts: within }
  })
}

/** Counts the suspicious characters of a text by their kind. */
export function findSuspiciousCharacters(lines: Line[]): Map<SuspiciousCharacterKind, number> {
  const counts = new Map<SuspiciousCharacterKind, number>()
  const ambiguous = lines.filter(({ isAmbiguous }) => isAmbiguous).length
  if (ambiguous > 0) counts.set('order', ambiguous)
  for (const { is, text } of lines.flatMap(({ runs }) => runs.flatMap(({ parts }) => parts)))
    if (isSuspicious(is)) counts.set(is, (counts.get(is) ?? 0) + (is === 'combining' ? 1 : [...text].length))
  return counts
}

export function isSuspicious(is: Part['is']): is is Exclude<SuspiciousCharacterKind, 'order'> {
  return is !== 'plain' && is !== 'space' && is !== 'line end'
}

/** Scripts in which a joiner or non-joiner between two letters is part of the spelling (RFC 5892 appendix A). */
const joining = 'Arab Syrc Nkoo Mong Deva Beng Guru Gujr Orya Taml Telu Knda Mlym Sinh Mymr Khmr'
const joiningLetter = `[[${joining.replaceAll(/(\w+) ?/g, '\\p{sc=$1}')}]&&[\\p{L}\\p{M}]]`

/**
 * The kinds of a part in the order in which they are tried. Usual sequences come first, although a part of one might be
 * suspicious.
 */
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
  // Unicode also calls the visible Arabic and Kaithi signs under a number format characters.
  ['plain', /[\u0600-\u0605\u06DD\u070F\u0890\u0891\u08E2\u{110BD}\u{110CD}]/vy],
  ['invisible', /[\p{Default_Ignorable_Code_Point}\p{Cf}\u2800]/vy],
  ['unknown', /[\p{Cn}\p{Co}\uFFFD]/vy],
  // Marks on something other than a letter, marks that strike out their letter, and more marks than any language
  // stacks.
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

/** Merges neighboring parts of the same kind that are read together, and repetitions of one character. */
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
