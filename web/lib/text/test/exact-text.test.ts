import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { linesOf, findSuspiciousCharacters, type Line } from '../text-inspection.ts'

const partsIn = (lines: Line[]) => lines.flatMap(({ runs }) => runs.flatMap(({ parts }) => parts))
const partsOf = (text: string) => partsIn(linesOf(text))
const joined = (lines: Line[]) =>
  partsIn(lines)
    .map(({ text }) => text)
    .join('')
/** Returns the marked parts of a text, each with its reason. */
const marksIn = (text: string) =>
  partsOf(text)
    .filter(({ is }) => is !== 'plain')
    .map(({ is, text: marked }) => [is, marked])

const hostile = fc.constantFrom(
  ...['\u202E', '\u2066', '\u200B', '\u200D', '\uFE0F', '\u0301', '\u0338', '\r\n', '\n', '\r', '\t', ' ', '\u00A0'],
  ...[
    '\u{E0041}',
    '\u{E0100}',
    '\uFFFD',
    '\uE000',
    '\x1B',
    '👩‍👧',
    '🏴󠁧󠁢󠁥󠁮󠁧󠁿',
    '1️⃣',
    'а',
    'ο',
    'a',
    'ש',
    'ا',
    '漢',
    '٣',
    '𝐏',
    '‚',
  ],
)
const texts = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.string({ unit: 'grapheme', maxLength: 300 }),
  fc.array(hostile, { maxLength: 200 }).map((characters) => characters.join('')),
)

test('SIG-19 what is shown, joined back, is the exact text, whatever is in it', () => {
  fc.assert(
    fc.property(texts, (text) => joined(linesOf(text)) === text),
    { numRuns: 2000 },
  )
})

test('SIG-19 each character that has no look of its own, within a word, is marked', () => {
  const seen = /[\u0600-\u0605\u06DD\u070F\u0890\u0891\u08E2\u{110BD}\u{110CD}]/v
  const unseen = /[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]--[\t\n]]/v
  let count = 0
  for (let code = 0; code <= 0x10_ff_ff; code += 1) {
    const character = String.fromCodePoint(code)
    if (!unseen.test(character) || seen.test(character)) continue
    count += 1
    const marks = marksIn(`a${character}b`)
    assert.deepEqual([marks.length, marks[0]?.[1]], [1, character], `U+${code.toString(16)}`)
  }
  assert.ok(count > 4000)
})

test('SIG-19 no character that a reader can’t see is ever plain', () => {
  const unseen = /[\p{Cc}\p{Zl}\p{Zp}\p{Co}\p{Cn}\u200B\u200E\u200F\u202A-\u202E\u2060-\u2064\u2066-\u2069\uFEFF]/v
  fc.assert(
    fc.property(texts, (text) => !partsOf(text).some(({ is, text: part }) => is === 'plain' && unseen.test(part))),
    { numRuns: 2000 },
  )
})

test('ordinary text of many languages warns of nothing', () => {
  const ordinary = [
    'Pay 100.00 € to Paper Shop (invoice 2026/118) — by Friday, please.',
    'Größe, naïve façade, œuvre, Đà Nẵng, Żółć, İstanbul, Þórr’s “quotes” and ‚deutsche‘ ones; 5 − 3 ≠ 1½',
    'Оплатить 100 рублей, о чём и расписался. Слово «сор» и буква «а».',
    'Πληρωμή και παραλαβή, Αθήνα',
    'ادفع ١٠٠ ريال، می‌خواهم',
    'שלם 100 שקלים',
    '同意支付100元。東京タワーでＡ４サイズ、ひらがな',
    '한국어 텍스트 LG전자',
    '三〇〇円、①から③まで、㎡と20℃、第２章',
    '100 m², 3 m³, CO₂ and H₂O, Ca²⁺, 1½ and ¾, nº 5, 1ª, 20 ℃, ① first ② second, 10–20 — all',
    'क्‍ष हिन्दी में १०० रुपये',
    'ภาษาไทย น้ำ',
    '👍🏽 👩‍👩‍👧‍👦 🏴󠁧󠁢󠁥󠁮󠁧󠁿 ❤️ ☎︎ 1️⃣ 🇨🇭 10 kΩ, 5 μm',
    '{"amount": 12.5, "to": ["ada", null]}',
  ]
  for (const text of ordinary) assert.deepEqual([...findSuspiciousCharacters(linesOf(text))], [], text)
})

const hostileTexts: Record<string, [string, [string, string][]]> = {
  'an override of the direction': [
    'Pay \u202E001\u202C',
    [
      ['direction', '\u202E'],
      ['direction', '\u202C'],
    ],
  ],
  'isolates and marks of direction': [
    '\u2066a\u2069\u200E',
    [
      ['direction', '\u2066'],
      ['direction', '\u2069'],
      ['direction', '\u200E'],
    ],
  ],
  'characters of no width': [
    'a\u200B\u200Bb\u2060\uFEFF\u00AD',
    [
      ['invisible', '\u200B\u200B'],
      ['invisible', '\u2060'],
      ['invisible', '\uFEFF'],
      ['invisible', '\u00AD'],
    ],
  ],
  'a joiner where there is nothing to join': ['a\u200Db', [['invisible', '\u200D']]],
  'a blank that is none': [
    'a\u3164b\u2800',
    [
      ['invisible', '\u3164'],
      ['invisible', '\u2800'],
    ],
  ],
  'a message in tags': ['ok\u{E0068}\u{E0069}', [['tag', '\u{E0068}\u{E0069}']]],
  'selectors that select nothing': [
    'a\uFE0F1\uFE0E\u{E0101}',
    [
      ['variation', '\uFE0F'],
      ['variation', '\uFE0E'],
      ['variation', '\u{E0101}'],
    ],
  ],
  'commands to a terminal': [
    '\x1B[31mred\x07',
    [
      ['control', '\x1B'],
      ['control', '\x07'],
    ],
  ],
  'separators that break no line here': [
    'a\u2028b\rc',
    [
      ['control', '\u2028'],
      ['control', '\r'],
    ],
  ],
  'bytes that were no text': [
    'a\uFFFDb\uE000',
    [
      ['unknown', '\uFFFD'],
      ['unknown', '\uE000'],
    ],
  ],
  'a number that is struck out': [
    '1\u03360\u0336',
    [
      ['combining', '\u0336'],
      ['combining', '\u0336'],
    ],
  ],
  'a letter that is struck out': ['n\u0338ot', [['combining', '\u0338']]],
  'a flood of marks': [`z${'\u0301'.repeat(40)}`, [['combining', '\u0301'.repeat(37)]]],
  'a Cyrillic letter in a Latin word': ['Pаypal', [['look-alike', 'а']]],
  'a Latin letter in a Cyrillic word': ['Cбербанк', [['look-alike', 'C']]],
  'a word that is Cyrillic altogether': ['Pay to аррӏе now', [['look-alike', 'аррӏе']]],
  'a Greek letter in a Latin word': ['Gοοgle', [['look-alike', 'οο']]],
  'letters in a costume': ['Pay 𝟏𝟎𝟎', [['look-alike', '𝟏𝟎𝟎']]],
  'wide digits in a Latin line': ['Pay １00', [['look-alike', '１']]],
  'digits of another script': ['Pay ৪', [['look-alike', '৪']]],
  'a point that is none': ['Pay 1․000', [['look-alike', '․']]],
  'a power that passes for a digit': ['Pay 10² €', [['look-alike', '²']]],
  'a number of circles': ['Pay ①⓪⓪ €', [['look-alike', '①⓪⓪']]],
  'a number of digits with points': ['Pay ⒈⒉ €', [['look-alike', '⒈⒉']]],
  'a circle behind a digit': ['Pay 1⓪ €', [['look-alike', '⓪']]],
  'a zero of China': ['Pay 1〇0 €', [['look-alike', '〇']]],
  'a Roman numeral in a word': ['PAYPAⅬ', [['look-alike', 'Ⅼ']]],
  'a letter of a script hand': ['Pay ℬank', [['look-alike', 'ℬ']]],
  'a minus for a hyphen': ['Invoice 12−34', [['look-alike', '−']]],
  'a minus at the front': ['Balance −100', [['look-alike', '−']]],
  'a hyphen that does not break': ['Paper‑Shop', [['look-alike', '‑']]],
  'a small dollar': ['Pay ﹩100', [['look-alike', '﹩']]],
}
for (const [what, [text, marks]] of Object.entries(hostileTexts))
  test(`SIG-19 ${what}: is marked`, () => assert.deepEqual(marksIn(text), marks))

test('spaces and line ends are shown, and warn of nothing', () => {
  assert.deepEqual(marksIn('a\r\nb \n  c\td\u00A0e'), [
    ['line end', '\r\n'],
    ['space', ' '],
    ['line end', '\n'],
    ['space', '  '],
    ['space', '\t'],
    ['space', '\u00A0'],
  ])
  assert.equal(findSuspiciousCharacters(linesOf('a\r\n\u00A0b\t\n')).size, 0)
})

test('the longest text is cut in no time', () => {
  for (const unit of [
    'a',
    '\u0301',
    '\u200B',
    'а',
    '👩‍👧',
    'a\u200B',
    'z\u0301',
    ' ',
    '\n',
    'ש 1',
    '漢\u{E0100}',
    '1․',
    '1²',
    '①',
    '−1',
    'א ',
    'א1',
    'א$',
    '٣ ',
    'ו a',
    '-\u05B0',
  ].flatMap((repeated) => ['', 'א', 'שלום a'].map((first) => [first, repeated] as const))) {
    const [first, repeated] = unit
    const text = (first + repeated.repeat(10_000)).slice(0, 10_000)
    const began = process.cpuUsage()
    assert.equal(joined(linesOf(text)), text)
    const { user, system } = process.cpuUsage(began)
    const milliseconds = (user + system) / 1000
    assert.ok(milliseconds < 1000, `${JSON.stringify(unit)} took ${milliseconds} ms`)
  }
})
