import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadMessages, matchLanguage } from '../messages.ts'

test('a page speaks the first language of the browser that it knows', () => {
  assert.equal(matchLanguage(null, ['fr-FR', 'de-AT', 'en']), 'de')
  assert.equal(matchLanguage(null, ['en-GB', 'de']), 'en')
  assert.equal(matchLanguage(null, ['ar-EG', 'en']), 'ar')
})

test('what a person chose here comes before what the browser says', () => {
  assert.equal(matchLanguage('de', ['en-GB']), 'de')
})

test('a page speaks English to those whose languages it does not know', () => {
  assert.equal(matchLanguage('toString', ['fr', '', 'constructor']), 'en')
})

test('each language is loaded as itself', async () => {
  assert.equal((await loadMessages('en')).frame.signOut, 'Sign out')
  assert.equal((await loadMessages('de')).frame.signOut, 'Abmelden')
  assert.equal((await loadMessages('ar')).frame.signOut, 'تسجيل الخروج')
})
