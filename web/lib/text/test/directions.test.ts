import assert from 'node:assert/strict'
import { test } from 'node:test'
import { linesOf, findSuspiciousCharacters } from '../text-inspection.ts'

const warningsOf = (text: string) => Object.fromEntries(findSuspiciousCharacters(linesOf(text)))
/** Returns the runs of a text that are isolated from their line. */
const apart = (text: string) =>
  linesOf(text).flatMap(({ direction, runs }) =>
    runs.filter((run) => run.direction !== direction).map(({ parts }) => parts.map((part) => part.text).join('')),
  )

test('SIG-29 a letter that passes for a bar does not turn a line, and is marked', () => {
  for (const [text, times] of [
    ['ו Bob ו owes ו Alice', 3],
    ['ا Bob ا pays ا Alice ا 900 EUR', 4],
    ['א Bob pays Alice', 1],
    ['וו Bob וו owes וו Alice', 6],
    ['Order: 5 ا 3 = 2', 1],
    ['ا 100 ا 900', 2],
    ['ו ו Bob ו ו owes Alice', 4],
  ] as const) {
    assert.deepEqual(warningsOf(text), { 'look-alike': times }, text)
    assert.equal(linesOf(text)[0]?.direction, 'ltr', text)
  }
})

test('SIG-30 a line whose words could be taken in another order warns of it', () => {
  for (const text of [
    'שלום Bob שלום owes שלום Alice',
    'שלום Bob ׀ owes ׀ Alice שלום שלום שלום שלום שלום שלום',
    'שלום ו Bob ו owes ו Alice שלום שלום שלום שלום שלום',
    'Pay אבג 100 דהו 900 זחט now',
    'Pay ٣ - ٤ EUR',
    'ادفع 5-10 ريال',
    'ادفع ٥ ٣ ريال',
    'A: שלום עולם 100 Bob שלום עולם',
  ])
    assert.equal(warningsOf(text)['order'], 1, text)
})

test('SIG-31 honest Hebrew and Arabic, with numbers and a Latin name, warns of nothing', () => {
  for (const text of [
    'שלם 100 שקלים לחברת Paper Shop עד 2026-03-05.',
    'אני מאשר העברה של 1,000.50 ₪ מחשבון 12 לחשבון 34',
    'סעיף א: יוסי ישלם ל-Bob, והוא יאשר ב-12:30',
    'أوافق على دفع 900 EUR إلى شركة Paper Shop في 5/3/2026',
    'حوّل 100 ريال من حساب أحمد إلى حساب Bob قبل نهاية الشهر',
    'بين 100 و 200 ريال، أو ١٬٠٠٠٫٥٠ درهم (٪5)',
    'شماره ۱۲۳۴ را می‌خواهم',
    'Pay 100 EUR to אבג דהו (Tel Aviv), invoice 12',
    'The word שלום means peace, and سلام does too.',
    'Pay אבג 100 דה now',
  ])
    assert.deepEqual(warningsOf(text), {}, text)
})

test('SIG-29 what is read in the other direction stands apart, as one', () => {
  assert.deepEqual(apart('Pay אבג 100 now'), ['אבג'])
  assert.deepEqual(apart('Pay אבג 100 דה now'), ['אבג 100 דה'])
  assert.deepEqual(apart('Pay אבג\u00A0 דה now'), ['אבג\u00A0 דה'])
  assert.deepEqual(apart('Pay ٣ EUR'), ['٣'])
  assert.deepEqual(apart('שלם -100% או 5$ ל-Paper\u00A0 Shop (Ltd).'), ['-100%', '5$', 'Paper\u00A0 Shop (Ltd'])
  assert.deepEqual(
    linesOf('Pay אבג\nאבג Pay').map(({ direction }) => direction),
    ['ltr', 'rtl'],
  )
})
