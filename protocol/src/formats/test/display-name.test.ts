import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cleanDisplayName, isDisplayName } from '../display-name.ts'

test('names of all scripts, with emoji and combining marks, are accepted', () => {
  for (const name of [
    'A',
    'Ada Lovelace',
    'Zoë',
    'Zoe\u0308',
    '王小明',
    'محمد',
    '👩🏽‍🚀 Mae',
    'O’Neill-Smith',
    '😀'.repeat(80),
  ])
    assert.ok(isDisplayName(name), name)
})

test('INJ-06 a name that is empty, invisible, too long, or that reverses adjacent text is rejected', () => {
  const wrong = [
    '',
    ' ',
    '\u00a0',
    '\u200b',
    '\u3164',
    '\u00ad',
    '\u2800',
    'x'.repeat(81),
    'a\u202eb',
    'a\nb',
    'a\u0000',
    '\ud800',
  ]
  for (const name of wrong) assert.ok(!isDisplayName(name), JSON.stringify(name))
})

test('NAM-01 a name with invisible characters or stacked marks is rejected', () => {
  for (const name of [
    ...['Good\u200BBank', 'Good\u00ADBank', 'Bank\u2060', '\u3164Bank', 'B\u034Fank', 'Bank\u{E0041}', 'Ba\u200Dnk'],
    ...['Bank\uFFF9x\uFFFA', 'Bank\u{1D173}', 'Bank\u17B4', 'Bank\u115F', 'Bank\uFE0F', 'Bank\u{E0101}', 'Ba\uFFFCnk'],
    ...[
      'Bank\u061C',
      'a\u180Eb',
      'Bank\u2061',
      'Bank\u206A',
      'Bank\u{13430}',
      'Ba\u2800nk',
      '\u0301Bank',
      'Bank \u0336',
    ],
    ...[`A${'\u0300'.repeat(5)}`, `A${'\u0300'.repeat(70)}`, 'B\u0336ank', 'B\u20E0\u20EBank', '👩\u200D', '\u200D👩'],
    ...['م👩\u200Dي', 'محمد\u200C', 'Ban\u200Ck', '👩\u200D\u200D👧', '🏴\u{E0067}\u{E007F}', '\uFE0F'],
  ])
    assert.ok(!isDisplayName(name), JSON.stringify(name))
})

test('NAM-02 names that require joiners, variation selectors and marks keep them', () => {
  for (const name of [
    ...['می‌خواهم', 'شرکت نمونه‌ها', 'क्‍ष', 'അവന്‍', 'ශ්‍රී ලංකාව', 'שָׁלוֹם', 'مُحَمَّد', 'ཧཱུྃ', 'Nguyễn'],
    ...['V\u0302\u0301n'],
    ...['葛\u{E0100}城', 'ᠮᠣᠩᠭᠣᠯ᠋', '👩‍👩‍👧‍👦', '🏴󠁧󠁢󠁥󠁮󠁧󠁿 Pub', '❤️ Shop'],
    ...['1️⃣ First', '🇨🇭', 'กำไร น้ำ', 'ကမ္ဘာ', '한국어'],
    ...['O’Neill & Söhne GmbH – №1', 'Œuvre «Paris»', 'Ελλάς', 'Россия', '東京タワー', 'A\u00A0B'],
  ])
    assert.ok(isDisplayName(name), JSON.stringify(name))
})

test('NAM-12 cleaning returns a valid name or undefined, and keeps valid names', () => {
  const parts = [
    'Ann',
    ' ',
    '\n',
    '\u202e',
    '\u200d',
    '\ufe0f',
    '\u0301',
    '\u0336',
    '👩',
    '\u{E0041}',
    '\ud800',
    'م',
    '\u2800',
  ]
  for (let seed = 0; seed < 20_000; seed += 1) {
    const text = Array.from({ length: 1 + (seed % 7) }, (_, at) => parts[Math.floor(seed / (at * 7 + 1)) % 13]).join('')
    const cleaned = cleanDisplayName(text)
    assert.ok(cleaned === undefined || isDisplayName(cleaned), JSON.stringify(text))
    if (text.includes('Ann')) assert.ok(cleaned?.includes('Ann'), JSON.stringify(text))
    if (isDisplayName(text)) assert.equal(cleaned, text.trim(), JSON.stringify(text))
  }
  for (const name of ['می‌خواهم', '👩‍👩‍👧‍👦', 'V\u0302\u0301n', '葛\u{E0100}城', 'O’Neill'])
    assert.equal(cleanDisplayName(name), name)
})

test('NAM-12 a name that is too long is cut between characters', () => {
  assert.equal(cleanDisplayName(`${'x'.repeat(79)}👩‍🚀`), `${'x'.repeat(79)}👩`)
  assert.equal(cleanDisplayName(`${'x'.repeat(78)}👩‍🚀`), `${'x'.repeat(78)}👩`)
  assert.equal(cleanDisplayName('x'.repeat(100_000)), 'x'.repeat(80))
})
