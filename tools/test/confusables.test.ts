import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeConfusables } from '../confusables.ts'

const table = [
  '# Version: 99.0.0',
  '01B7 ;\t0033 ;\tMA\t# ( Ʒ → 3 ) LATIN CAPITAL LETTER EZH → DIGIT THREE\t# ',
  '0131 ;\t0069 ;\tMA\t# ( ı → i ) LATIN SMALL LETTER DOTLESS I → LATIN SMALL LETTER I\t# ',
  '0417 ;\t0033 ;\tMA\t# ( З → 3 ) CYRILLIC CAPITAL LETTER ZE → DIGIT THREE\t# ',
  '2022 ;\t00B7 ;\tMA\t# ( • → · ) BULLET → MIDDLE DOT\t# ',
  "2019 ;\t0027 ;\tMA\t# ( ’ → ' ) RIGHT SINGLE QUOTATION MARK → APOSTROPHE\t# ",
  '0149 ;\t02BC 006E ;\tMA\t# ( ŉ → ʼn ) LATIN SMALL LETTER N PRECEDED BY APOSTROPHE → …\t# ',
].join('\n')

test('the table has its version and the look-alikes of ASCII from the Latin script and no script', () => {
  const text = describeConfusables(table)
  assert.match(text, /of Unicode 99\.0\.0\./)
  const classOf = (name: string) => new RegExp(`${name} =\\s+'(.*)'`).exec(text)?.[1]
  assert.deepEqual(['likeDigits', 'likeLetters', 'likeMarks'].map(classOf), [
    String.raw`\\u{1b7}`,
    String.raw`\\u{131}`,
    String.raw`\\u{2022}`,
  ])
})

test('a file that is no such table is rejected', () => {
  assert.throws(() => describeConfusables('01B7 ;\t0033 ;\tMA'), /contains no version/)
})
