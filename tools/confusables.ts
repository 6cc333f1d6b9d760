/**
 * Writes `web/lib/text/confusables.ts` from Unicode's table (UTS #39): the characters of the Latin script and of no
 * script that resemble an ASCII digit, letter or mark. Usage: `node tools/confusables.ts <confusables.txt>`, with a
 * file from https://www.unicode.org/Public/security/. Customary characters such as the apostrophe in `1’000` are
 * omitted, and so are the mathematical alphabets, which are recognized by their range.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const header = '// Written by `node tools/confusables.ts` from confusables.txt of Unicode'

/** The table maps zero to the letter O, and one to the letter l. */
const digit = /^[0-9Ol]$/
const letter = /^[A-Za-z]$/
/** The table lists the full stop and the comma under a middle dot and an Arabic comma. */
const mark = /^[.,:;/%'\u00B7\u060C]$/
const customary = /[\u00B7\u2018\u2019\u2032\u2035\u2044\u2215]/

/** Returns the text of `confusables.ts` for a table of Unicode. */
export function describeConfusables(table: string): string {
  const version = /^# Version: (.+)$/m.exec(table)?.[1]
  if (version === undefined) throw new Error('The file is not confusables.txt: it contains no version')
  const rows = [...table.matchAll(/^([0-9A-F]{4,6}) ;\t([0-9A-F]{4,6}) ;\tMA/gm)].map(([, from = '', to = '']) => ({
    from: characterOf(from),
    to: characterOf(to),
  }))
  const found = rows.filter(({ from }) => !/[\0-\x7F\u{1D400}-\u{1D7FF}]/v.test(from) && !customary.test(from))
  const latin = found.filter(({ from }) => /\p{L}/v.test(from) && /[\p{sc=Latn}\p{sc=Zyyy}]/v.test(from))
  const signs = found.filter(({ from }) => /[\p{P}\p{S}\p{Lm}]/v.test(from))
  const common = signs.filter(({ from }) => /[\p{scx=Zyyy}\p{scx=Arab}]/v.test(from))
  return `${header} ${version}. Do not edit.

/** Letters that pass for a digit: in the table of Unicode zero is the letter O, and one the letter l. */
export const likeDigits =
${classOf(latin, digit)}

/** Letters that pass for another letter, of those in ASCII. */
export const likeLetters =
${classOf(latin, letter)}

/** Signs that pass for a mark in a number. */
export const likeMarks =
${classOf(common, mark)}
`
}

function characterOf(hex: string): string {
  return String.fromCodePoint(Number.parseInt(hex, 16))
}

/** Returns the characters that resemble one of these, as the content of a character class. */
function classOf(rows: { from: string; to: string }[], target: RegExp): string {
  const points = rows.filter(({ to }) => target.test(to)).map(({ from }) => from.codePointAt(0) ?? 0)
  const kept = points.filter((point) => !/^[\x21-\x7E]$/.test(String.fromCodePoint(point).normalize('NFKC')))
  const written = kept.toSorted((one, other) => one - other).map((point) => String.raw`\\u{${point.toString(16)}}`)
  const lines = Array.from({ length: Math.ceil(written.length / 12) }, (_, nth) =>
    written.slice(nth * 12, nth * 12 + 12),
  )
  return lines.map((line) => `  '${line.join('')}'`).join(' +\n')
}

if (import.meta.main) {
  const path = process.argv[2]
  if (path === undefined) throw new Error('Pass the path of confusables.txt')
  writeFileSync(
    join(import.meta.dirname, '../web/lib/text/confusables.ts'),
    describeConfusables(readFileSync(path, 'utf8')),
  )
}
