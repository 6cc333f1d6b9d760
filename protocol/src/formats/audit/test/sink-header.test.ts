import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isSinkHeaderValue } from '../sink-header.ts'

test('the value of a header of a sink is visible ASCII text on one line', () => {
  for (const value of ['a', 'Splunk secret', '~', 'a'.repeat(2000)]) assert.equal(isSinkHeaderValue(value), true, value)
  for (const value of ['', ' ', 'a ', 'a\n', 'a\r\nhost: b', 'a\tb', 'é', '“a”', '\x7f', 'a'.repeat(2001)])
    assert.equal(isSinkHeaderValue(value), false, value)
})
