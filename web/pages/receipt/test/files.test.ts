import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findReceipt } from '../files.ts'

const jws = 'eyJhbGciOiJFZERTQSJ9.eyJ2ZXJzaW9uIjoxfQ.c2lnbmF0dXJl'

test('a receipt and a text are told apart by their content, in any order', () => {
  const expected = { receipt: jws, payload: 'Pay 10 €\r\n' }
  assert.deepEqual(findReceipt([`${jws}\n`, 'Pay 10 €\r\n']), expected)
  assert.deepEqual(findReceipt(['Pay 10 €\r\n', jws]), expected)
})

test('the JSON that apps store contains both', () => {
  assert.deepEqual(findReceipt([JSON.stringify({ receipt: jws, payload: 'Pay' })]), { receipt: jws, payload: 'Pay' })
  assert.deepEqual(findReceipt([JSON.stringify({ receipt: jws })]), { receipt: jws, payload: undefined })
})

test('JSON without a receipt is a text, which people sign too', () => {
  const text = '{"action":"transfer","amount":100}'
  assert.deepEqual(findReceipt([text, jws]), { receipt: jws, payload: text })
  assert.deepEqual(findReceipt(['{not JSON']), { receipt: undefined, payload: '{not JSON' })
  assert.deepEqual(findReceipt([]), { receipt: undefined, payload: undefined })
})
