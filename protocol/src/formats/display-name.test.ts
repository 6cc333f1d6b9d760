import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDisplayName } from './display-name.ts'

test('names of all scripts, with emoji and combining marks, are names', () => {
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

test('INJ-06 a name that is empty, invisible, too long, or that turns the text around it is none', () => {
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
