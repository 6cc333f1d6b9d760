import assert from 'node:assert/strict'
import { test } from 'node:test'
import { linesOf, odditiesIn } from './exact-text.ts'

const marksOf = (text: string) => odditiesIn(linesOf(text)).get('look-alike') ?? 0

const strange = 'ഠღⵔᑭ𐐄𐓂ꘙ໐ዐסه০߀𐌏𐊒ᥒ𑣕ꓳᏎᴏǃʀɪǀᑕᗷꮯ𐔖о'

test('SIG-34 a letter of any other script in a word or a number is marked', () => {
  for (const letter of strange) {
    assert.ok(marksOf(`Pay 1${letter}00 EUR`) > 0, `${letter} in a number`)
    if (/\p{L}/u.test(letter)) assert.ok(marksOf(`Pay to p${letter}st`) > 0, `${letter} in a word`)
  }
  for (const text of ['p\u0E4Dst', 'Pay 1○○ EUR', 'Pay 1◯0', 'Pay ⵔⵔ EUR', 'Pay ᗷᗩ to Bob', 'Pay 1ഠഠ EUR'])
    assert.ok(marksOf(text) > 0, text)
})

test('SIG-35 signs that pass for the point, the comma or the minus of a number are marked', () => {
  for (const text of ['1·000', '1ˌ000', '1ꞏ000', '1ˑ000', 'Balance –100', 'Balance ‒100', '1│000', '1∣0'])
    assert.equal(marksOf(text), 1, text)
})

test('SIG-36 ordinary text of many languages has no look-alike', () => {
  for (const text of [
    'Überweise 1.000,50 € an Bäcker Groß – Rechnung 12–14, «dringend», 20 % Rabatt, Straße 5a',
    'L’œuvre coûte 1 000 € ; payé le 1er mai, n° 5 — voilà. Ça, où, dès, naïf',
    'Συμφωνώ να πληρώσω 100 € στην Α.Ε. έως 5 Μαΐου. Η α και η β.',
    'Я согласен заплатить 1000 ₽ за 3-й месяц; это «о» и «а». COVID-19, 10 кг',
    'Согласен на 100 USD для Paper Shop',
    '我同意在2026年5月5日支付100元给A公司，卡拉OK，T恤，第2章',
    '東京タワーでＡ４サイズを3枚、Tシャツとカラオケ。ー〜・「引用」',
    '한국어 3개, LG전자와 SK하이닉스에 1,000원',
    'İstanbul’da ışık, ağır bir yük; 5 lira',
    'col·legi, paral·lel; Đà Nẵng, Żółć, Þórr, ŋ ɛ ɔ',
    'क्षेत्र 5 में हिन्दी, বাংলা ভাষা, தமிழ் மொழி, ไทย 5 บาท, ქართული, አማርኛ, ខ្មែរ',
    'שלם 100 שקלים לבוב. ادفع 100 ريال',
    'ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ',
    'ⵜⴰⵎⴰⵣⵉⵖⵜ ⴰⵡⴰⵍ',
    '10 kΩ, 10kΩ, 5μm, Δt = 3 s, 2π, 100 m², CO₂',
  ])
    assert.deepEqual([...odditiesIn(linesOf(text))], [], text)
})
