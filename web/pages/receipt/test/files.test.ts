import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeText, findReceipt } from '../files.ts'

const jws = 'eyJhbGciOiJFZERTQSIsInR5cCI6ImNvdW50ZXJzaWduLXJlY2VpcHQrand0In0.eyJ2ZXJzaW9uIjoxfQ.c2lnbmF0dXJl'

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

test('SIG-64 a text of three words with dots between them is not taken for the receipt', () => {
  const otherType = 'eyJhbGciOiJFZERTQSJ9.eyJ2ZXJzaW9uIjoxfQ.c2lnbmF0dXJl'
  for (const text of ['www.example.com', '1.2.3', otherType]) {
    assert.deepEqual(findReceipt([text, jws]), { receipt: jws, payload: text })
    assert.deepEqual(findReceipt([jws, text]), { receipt: jws, payload: text })
    const stored = JSON.stringify({ receipt: text })
    assert.deepEqual(findReceipt([stored, jws]), { receipt: jws, payload: stored })
  }
})

test('SIG-64 a file is decoded byte for byte, and a byte order mark is a part of the text', () => {
  const decode = (...bytes: number[]) => decodeText(Uint8Array.from(bytes).buffer)
  assert.equal(decode(0xef, 0xbb, 0xbf, 0x41), '\uFEFFA')
  assert.equal(decode(0x41), 'A')
  assert.equal(decode(0x41, 0xff), undefined)
  const stored = `\uFEFF${JSON.stringify({ receipt: jws, payload: '\uFEFFPay' })}`
  assert.deepEqual(findReceipt([stored]), { receipt: jws, payload: '\uFEFFPay' })
  assert.deepEqual(findReceipt([`\uFEFF${jws}`, '\uFEFFPay']), { receipt: jws, payload: '\uFEFFPay' })
})
