import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Catalogue, languageTags, languages, isolate, matchLanguageTags, textsIn } from '../languages.ts'

test('a catalogue gives the texts of the language, and English ones where it borrows', () => {
  const full: Catalogue<{ yes: string }> = { en: { yes: 'Yes' }, de: { yes: 'Ja' }, ar: { yes: 'نعم' } }
  assert.deepEqual([textsIn(full, 'en').yes, textsIn(full, 'de').yes, textsIn(full, 'ar').yes], ['Yes', 'Ja', 'نعم'])
  const borrowing: Catalogue<{ yes: string }> = { en: { yes: 'Yes' }, de: { borrowed: 'en' }, ar: { yes: 'نعم' } }
  assert.equal(textsIn(borrowing, 'de').yes, 'Yes')
})

test('a tag of any region and case matches its language, and an unknown one none', () => {
  assert.equal(matchLanguageTags(['fr', 'DE-at', 'en']), 'de')
  assert.equal(matchLanguageTags(['', 'toString', 'den']), undefined)
})

test('each language has a locale of its own, which formats dates', () => {
  for (const tag of languageTags) {
    const [locale] = Intl.DateTimeFormat.supportedLocalesOf([languages[tag].locale])
    assert.equal(locale?.split('-')[0], tag)
  }
})

test('an isolated value keeps its order between words of the other direction', () => {
  assert.equal(`مرحبًا ${isolate('@ada.')}!`, 'مرحبًا \u2068@ada.\u2069!')
})
