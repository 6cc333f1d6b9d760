export type Direction = 'ltr' | 'rtl'

/** A part of a line that is read in one direction. */
export type Run = { direction: Direction; text: string }

/**
 * The reading order of a line. Runs of the other direction than the line's are isolated (UAX #9), so nothing around
 * them moves. `isAmbiguous` is set if readers may still read the runs, or the numbers, in another order than the signed
 * one.
 */
export type Order = { direction: Direction; runs: Run[]; isAmbiguous: boolean }

/** All characters that are written from right to left: letters, numbers and signs, by the blocks of Unicode. */
const blocks = '\\u0590-\\u08FF\\uFB1D-\\uFDFF\\uFE70-\\uFEFC\\u{10800}-\\u{10FFF}\\u{1E800}-\\u{1EFFF}'
const turning = `[[${blocks}]--[\\p{M}\\u061C]]`
const fromRight = `[${turning}&&\\p{L}]`
const fromLeft = `[\\p{L}--${turning}]`
// regexp: of one character
const leftward = new RegExp(fromRight, 'gv')
const rightward = new RegExp(fromLeft, 'gv')

/** Matches from such a character to the last one before a letter of another direction. */
// regexp: one way to match each stretch without a letter of the other direction. The next match begins after it.
const runFromRight = new RegExp(`(${turning}(?:[${turning}\\P{L}]*${turning})?\\p{M}*)`, 'v')
/** Matches from a letter or digit to the last one before such a character, with the signs that belong to a number. */
const read = `[[\\p{L}\\p{N}]--${turning}]`
const sign = `(?:[\\p{Sc}#%‰°+]|(?<!${turning}\\p{M}?)[\\-−])`
// regexp: the same, and three signs at most before it
const runFromLeft = new RegExp(`(${sign}{0,3}${read}(?:[^${turning}]*${read})?\\p{M}*[\\p{Sc}%‰°]*)`, 'v')

const turns = new RegExp(turning, 'v')
const isRead = new RegExp(read, 'v')

const words = /[\p{L}\p{M}]+/gv
/** Right-to-left letters that look like a bar or an O. */
const bars = /[\u05D5\u05DF\u05E1\u0627\u0647\u06BE\u06C1\u06D5\u07CA\uFE8D\uFE8E\uFEE9-\uFEEC\u{1EE00}\u{1EE24}]/v

/** Returns whether a word is read from right to left, and does not look like anything else. */
function isFromRight(word: string): boolean {
  const letters = word.match(leftward) ?? []
  return letters.length > 1 && letters.some((letter) => !bars.test(letter))
}

function isFromLeft(word: string): boolean {
  return word.search(rightward) !== -1
}

/** Finds the direction of a line, and the parts that are read in the other direction. */
export function orderOf(line: string): Order {
  const direction = directionOf(line)
  const [own, other] = direction === 'rtl' ? [direction, 'ltr' as const] : [direction, 'rtl' as const]
  const runs = line
    .split(direction === 'rtl' ? runFromLeft : runFromRight)
    .map((text, index) => ({ direction: index % 2 === 1 ? other : own, text }))
    .filter(({ text }) => text !== '')
  return { direction, runs, isAmbiguous: direction === 'rtl' ? isDoubtfulFromRight(runs) : isDoubtfulFromLeft(runs) }
}

/** Returns the direction of the first word that is not a stray letter or a bar between others. */
function directionOf(line: string): Direction {
  const first = (line.match(words) ?? []).find((word) => isFromLeft(word) || isFromRight(word))
  if (first !== undefined) return isFromRight(first) ? 'rtl' : 'ltr'
  return turns.test(line) && !isRead.test(line) ? 'rtl' : 'ltr'
}

/** Two numbers without a letter between them that are not one number, unlike `1,000.50` and `12:30`. */
const numbersInARow = /\p{Nd}(?:[^\p{L}\p{Nd}]{2,}|[^\p{L}\p{Nd}.,:\/\u060C\u066B\u066C])\p{Nd}/v
const isoDate = /\b\d{4}-\d\d-\d\d\b/g
const numbers = /\p{Nd}(?:[\p{Nd}.,:\/\u060C\u066B\u066C]*\p{Nd})?/gv

/**
 * In a line from left to right, only the numbers within a run are ambiguous, because they are read from right to left.
 * If most of the line is from right to left, readers may also begin at the other end.
 */
function isDoubtfulFromLeft(runs: Run[]): boolean {
  const others = runs.filter(({ direction }) => direction === 'rtl')
  if (others.some(({ text }) => (text.match(numbers)?.length ?? 0) > 1)) return true
  return others.length > 1 && count(runs, rightward) < count(runs, leftward)
}

/**
 * In a line from right to left, readers of left-to-right scripts read the runs in reverse order. That is harmless if
 * the line is plainly Hebrew or Arabic: its words stand between the runs, and are most of the line.
 */
function isDoubtfulFromRight(runs: Run[]): boolean {
  const others = runs.filter(({ direction }) => direction === 'ltr')
  const withLetters = others.filter(({ text }) => isFromLeft(text)).length
  const apart = runs.map(({ direction, text }) => (direction === 'ltr' && isFromLeft(text) ? 'a' : text)).join('')
  if (numbersInARow.test(apart.replaceAll(isoDate, '0'))) return true
  if (runs.some((_, index) => isBarredOff(runs.slice(index, index + 3)))) return true
  const share = withLetters > 1 ? 1.5 : 0.5
  return others.length > 1 && withLetters > 0 && count(runs, leftward) < share * count(runs, rightward)
}

/** Returns whether only bars and signs are between two runs, at least one of which has letters. */
function isBarredOff([one, between, another]: Run[]): boolean {
  if (one?.direction !== 'ltr' || !between || !another) return false
  const hasLetters = isFromLeft(one.text) || isFromLeft(another.text)
  return hasLetters && !(between.text.match(words) ?? []).some(isFromRight)
}

function count(runs: Run[], letters: RegExp): number {
  return runs.reduce((sum, { text }) => sum + (text.match(letters)?.length ?? 0), 0)
}

const wordsAndNumbers = /[\p{L}\p{M}\p{N}]+/gv

/**
 * Finds the right-to-left letters in a line that look like a bar, a digit or an O: single ones, and words of only such
 * letters that are not next to a word of their script.
 */
export function findBars(line: string): Set<number> {
  const found = [...line.matchAll(wordsAndNumbers)].map(({ 0: text, index }) => ({ text, index }))
  const isStray = found.map(
    ({ text }) =>
      /^[\p{L}\p{M}]+$/v.test(text) && text.search(leftward) !== -1 && !isFromLeft(text) && !isFromRight(text),
  )
  // A bar next to a bar is as stray as the first one. The next character that is not a bar decides.
  const before = found.map(({ text }) => text)
  const behind = [...before]
  for (const index of found.keys()) if (isStray[index]) before[index] = before[index - 1] ?? ''
  for (const index of [...found.keys()].toReversed()) if (isStray[index]) behind[index] = behind[index + 1] ?? ''
  const places = new Set<number>()
  for (const [at, { text, index }] of found.entries()) {
    const around = [before[at - 1] ?? '', behind[at + 1] ?? '']
    if (isStray[at] && isAmongOthers(text, around)) for (let i = 0; i < text.length; i++) places.add(index + i)
  }
  return places
}

/**
 * Returns whether a stray letter is next to a left-to-right word, or as a bar next to a number, and not next to a word
 * of its own direction.
 */
function isAmongOthers(stray: string, around: string[]): boolean {
  if (around.some(isFromRight)) return false
  return around.some((word) => isFromLeft(word) || (/\p{N}/v.test(word) && bars.test(stray)))
}
