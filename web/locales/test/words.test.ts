import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadWords, preferredLanguage } from '../words.ts'

test('a page speaks the first language of the browser that it knows', () => {
  assert.equal(preferredLanguage(null, ['fr-FR', 'de-AT', 'en']), 'de')
  assert.equal(preferredLanguage(null, ['en-GB', 'de']), 'en')
})

test('what a person chose here comes before what the browser says', () => {
  assert.equal(preferredLanguage('de', ['en-GB']), 'de')
})

test('a page speaks English to those whose languages it does not know', () => {
  assert.equal(preferredLanguage('toString', ['fr', '', 'constructor']), 'en')
})

test('each language is loaded as itself', async () => {
  assert.equal((await loadWords('en')).account.signOut, 'Sign out')
  assert.equal((await loadWords('de')).account.signOut, 'Abmelden')
})
