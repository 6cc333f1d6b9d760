export type Direction = 'ltr' | 'rtl'

/** What of a line is read in one direction. */
export type Run = { direction: Direction; text: string }

/**
 * The order of a line. Runs of the other direction than the line's stand apart (UAX #9, isolates), so nothing around
 * them moves. `isAmbiguous` where readers may still take the runs, or the numbers, in another order than it is signed.
 */
export type Order = { direction: Direction; runs: Run[]; isAmbiguous: boolean }

/** All that pulls its surroundings to the left: letters, numbers and signs, by the blocks of Unicode. */
const blocks = '\\u0590-\\u08FF\\uFB1D-\\uFDFF\\uFE70-\\uFEFC\\u{10800}-\\u{10FFF}\\u{1E800}-\\u{1EFFF}'
const turning = `[[${blocks}]--[\\p{M}\\u061C]]`
const fromRight = `[${turning}&&\\p{L}]`
const fromLeft = `[\\p{L}--${turning}]`
// regexp: of one character
const leftward = new RegExp(fromRight, 'gv')
const rightward = new RegExp(fromLeft, 'gv')

/** From such a character to the last one before a letter of another direction. */
// regexp: one way to match each stretch without a letter of the other direction, of which the next match begins behind
const runFromRight = new RegExp(`(${turning}(?:[${turning}\\P{L}]*${turning})?\\p{M}*)`, 'v')
/** From a letter or digit to the last one before such a character, with the signs that belong to a number. */
const read = `[[\\p{L}\\p{N}]--${turning}]`
const sign = `(?:[\\p{Sc}#%‰°+]|(?<!${turning}\\p{M}?)[\\-−])`
// regexp: the same, and three signs at most before it
const runFromLeft = new RegExp(`(${sign}{0,3}${read}(?:[^${turning}]*${read})?\\p{M}*[\\p{Sc}%‰°]*)`, 'v')

const turns = new RegExp(turning, 'v')
const isRead = new RegExp(read, 'v')

const words = /[\p{L}\p{M}]+/gv
/** Letters from right to left that pass for a bar, or for an O. */
const bars = /[\u05D5\u05DF\u05E1\u0627\u0647\u06BE\u06C1\u06D5\u07CA\uFE8D\uFE8E\uFEE9-\uFEEC\u{1EE00}\u{1EE24}]/v

/** A word that is read from right to left, and passes for nothing else. */
function isFromRight(word: string): boolean {
  const letters = word.match(leftward) ?? []
  return letters.length > 1 && letters.some((letter) => !bars.test(letter))
}

function isFromLeft(word: string): boolean {
  return word.search(rightward) !== -1
}

/** Finds in which direction a line is read, and what in it is read in the other one. */
export function orderOf(line: string): Order {
  const direction = directionOf(line)
  const [own, other] = direction === 'rtl' ? [direction, 'ltr' as const] : [direction, 'rtl' as const]
  const runs = line
    .split(direction === 'rtl' ? runFromLeft : runFromRight)
    .map((text, index) => ({ direction: index % 2 === 1 ? other : own, text }))
    .filter(({ text }) => text !== '')
  return { direction, runs, isAmbiguous: direction === 'rtl' ? isDoubtfulFromRight(runs) : isDoubtfulFromLeft(runs) }
}

/** The direction of the first word that is not a stray letter or a bar between others. */
function directionOf(line: string): Direction {
  const first = (line.match(words) ?? []).find((word) => isFromLeft(word) || isFromRight(word))
  if (first !== undefined) return isFromRight(first) ? 'rtl' : 'ltr'
  return turns.test(line) && !isRead.test(line) ? 'rtl' : 'ltr'
}

/** Two numbers with no letter between them that are not one, as `1,000.50` and `12:30` are. */
const numbersInARow = /\p{Nd}(?:[^\p{L}\p{Nd}]{2,}|[^\p{L}\p{Nd}.,:\/\u060C\u066B\u066C])\p{Nd}/v
const isoDate = /\b\d{4}-\d\d-\d\d\b/g
const numbers = /\p{Nd}(?:[\p{Nd}.,:\/\u060C\u066B\u066C]*\p{Nd})?/gv

/**
 * In a line from left to right everything has its place but what is within a run: numbers in it are read from right to
 * left. And where more of the line is from right to left, its readers may begin at the other end.
 */
function isDoubtfulFromLeft(runs: Run[]): boolean {
  const others = runs.filter(({ direction }) => direction === 'rtl')
  if (others.some(({ text }) => (text.match(numbers)?.length ?? 0) > 1)) return true
  return others.length > 1 && count(runs, rightward) < count(runs, leftward)
}

/**
 * In a line from right to left, who reads from left to right takes the runs in reverse order. That does no harm where
 * it is plain that the line is Hebrew or Arabic: where its words stand between them, and are most of it.
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

/** Whether nothing but bars and signs is between two runs, of which one at least has letters. */
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
 * Where in a line there are letters from right to left that pass for a bar, a digit or an O: single ones, and words of
 * such letters alone, which no word of their script stands next to.
 */
export function findBars(line: string): Set<number> {
  const found = [...line.matchAll(wordsAndNumbers)].map(({ 0: text, index }) => ({ text, index }))
  const isStray = found.map(
    ({ text }) =>
      /^[\p{L}\p{M}]+$/v.test(text) && text.search(leftward) !== -1 && !isFromLeft(text) && !isFromRight(text),
  )
  // A bar between bars is as stray as the first of them: what counts is the next that is none.
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

/** Next to a word from left to right, or as a bar to a number; and next to no word of its own direction. */
function isAmongOthers(stray: string, around: string[]): boolean {
  if (around.some(isFromRight)) return false
  return around.some((word) => isFromLeft(word) || (/\p{N}/v.test(word) && bars.test(stray)))
}
