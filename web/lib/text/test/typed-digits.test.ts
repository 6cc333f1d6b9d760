import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseDigits } from '../dates.ts'

test('digits may be grouped, and nothing else is a code', () => {
  for (const text of ['012345', '012 345', ' 01-23-45 ']) assert.equal(parseDigits(text, 6), '012345')
  for (const text of ['', '12345', '0123456', '01234a', '０１２３４５']) assert.equal(parseDigits(text, 6), undefined)
})
