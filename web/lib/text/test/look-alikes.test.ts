import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limits } from '@countersign/protocol/formats/limits'
import { measureCost, objectionTo, repeated, type Shapes } from '../../../../server/testing/parser-cost.ts'
import { linesOf, findSuspiciousCharacters } from '../text-inspection.ts'

const marksOf = (text: string) => findSuspiciousCharacters(linesOf(text)).get('look-alike') ?? 0

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

test('SIG-51 a letter of Latin that passes for a digit in a number, or another letter in a word, is marked', () => {
  for (const text of ['Pay Ʒ00 EUR', 'Pay Ȝ00 EUR', 'Pay Ƨ00 EUR', 'Pay Ƽ00 EUR', 'Pay 1Ȣ EUR', 'Pay Ꝯ00 EUR'])
    assert.equal(marksOf(text), 1, text)
  for (const text of ['Pay the bıll', 'bꞁll', 'to Aƅby', 'to Bƅƅ', 'exampꞌe', 'ɑpple'])
    assert.ok(marksOf(text) > 0, text)
})

test('SIG-52 signs that pass for zeros, for a mark in a number or for a minus before it are marked', () => {
  for (const text of ['1⭕⭕ EUR', '1°° EUR', '1ºº EUR']) assert.equal(marksOf(text), 2, text)
  const marks = '˙•∙⋅‧،٬ʼ¸ʹʻˈ´'
  for (const mark of marks) assert.equal(marksOf(`1${mark}000`), 1, mark)
  for (const minus of '⁻˗⎯─➖ー') assert.equal(marksOf(`Balance ${minus}5`), 1, minus)
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
    'Kırk lira ve sarı kapı: akıllı kadın kızıl halı aldı',
    'Ödeme: 1’000 CHF, 20 °C, 5°30′, 1º andar, n.º 3, 3ª vez, d’accord, aujourd’hui, l´été',
    'Tôi đồng ý trả 1.000.000 ₫ cho Nguyễn Thị Ánh trước ngày 5 tháng 5; Đường số 3, phường Bến Nghé',
    'Zgadzam się zapłacić 1 000,50 zł za usługę — źródło, śnieg, łąka, ćma, ósmy, 5–7 dni',
    'Ich stimme zu, 1.000,00 € bis 5.–7. März zu zahlen; Größe 42½, §5, 3×4 m, „gut“, ‚so‘',
    'Je paie 1 234,56 € à 10 h 30 ; c’est l’été, où çà, œuvre, 2ᵉ étage',
    'Ευρώ 100 για την Άννα· ναι, 5–7 ημέρες; Ώρα 10:30',
    'Дом 12б, корпус 5, 1 000,50 ₽ — «да», 5–7 дней, №3',
    'スーパー5周年ー記念、データー1件、第3回・４月５日。合計：1,000円',
    '支付：1,000元（大写：壹仟元整）；第3条、第〇号。 5%',
    'Eʋegbe: ŋkɔ ɖeka, aɣe kple ʋu',
    'col·legi, paral·lel; Đà Nẵng, Żółć, Þórr, ŋ ɛ ɔ',
    'क्षेत्र 5 में हिन्दी, বাংলা ভাষা, தமிழ் மொழி, ไทย 5 บาท, ქართული, አማርኛ, ខ្មែរ',
    'שלם 100 שקלים לבוב. ادفع 100 ريال',
    'ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ',
    'ⵜⴰⵎⴰⵣⵉⵖⵜ ⴰⵡⴰⵍ',
    '10 kΩ, 10kΩ, 5μm, Δt = 3 s, 2π, 100 m², CO₂',
  ])
    assert.deepEqual([...findSuspiciousCharacters(linesOf(text))], [], text)
})

const longWords: Shapes = {
  'dotless letters': repeated('ı'),
  'dotless and other letters': repeated('ıa'),
  'letters that look like digits': repeated('ɩ'),
  'digits of another script': repeated('٣'),
  'digits of another script after others': (size) => '1'.repeat(size / 2) + '٣'.repeat(size / 2),
  'digits before letters that look Latin': (size) => '1'.repeat(size / 2) + 'а'.repeat(size / 2),
  'raised letters': repeated('ᵈ'),
  'marks of another script': repeated('a\u0e4d'),
}

for (const [what, build] of Object.entries(longWords))
  test(`a text of one long word is inspected in linear time: ${what}`, async () => {
    const parser = { sizeMax: limits.signingPayloadCharactersMax, parse: linesOf, shapes: longWords }
    assert.equal(objectionTo(await measureCost(parser, build), { ...parser, millisecondsMax: 500 }), undefined)
  })
