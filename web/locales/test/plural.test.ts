import assert from 'node:assert/strict'
import { test } from 'node:test'
import { plural } from '../plural.ts'

const forms = { one: 'one key', other: 'more keys' }

test('a text takes its singular form for one only', () => {
  for (const language of ['en', 'de'] as const) {
    assert.equal(plural(language, 1, forms), 'one key')
    assert.equal(plural(language, 0, forms), 'more keys')
    assert.equal(plural(language, 2, forms), 'more keys')
  }
})
