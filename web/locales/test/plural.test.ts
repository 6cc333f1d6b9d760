import assert from 'node:assert/strict'
import { test } from 'node:test'
import { counted } from '../ar/format.ts'
import { plural } from '../plural.ts'

const forms = { one: 'one key', other: 'more keys' }

test('a text takes its singular form for one only', () => {
  for (const language of ['en', 'de'] as const) {
    assert.equal(plural(language, 1, forms), 'one key')
    assert.equal(plural(language, 0, forms), 'more keys')
    assert.equal(plural(language, 2, forms), 'more keys')
  }
})

test('an Arabic text takes the form of its number: singular, dual, few, many', () => {
  const keys = { one: 'مفتاح', two: 'مفتاحان', few: '# مفاتيح', many: '# مفتاحًا', other: '# مفتاح' }
  const written = [0, 1, 2, 3, 10, 11, 99, 100, 103].map((count) => counted(count, keys))
  const expected = [
    '0 مفتاح',
    'مفتاح',
    'مفتاحان',
    '3 مفاتيح',
    '10 مفاتيح',
    '11 مفتاحًا',
    '99 مفتاحًا',
    '100 مفتاح',
    '103 مفاتيح',
  ]
  assert.deepEqual(written, expected)
})
