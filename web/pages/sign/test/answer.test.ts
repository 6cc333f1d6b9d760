import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseSigningMessage } from '../answer.ts'

const requestId = 'b0c0ffee-0000-4000-8000-000000000001'
const signed = { type: 'countersign:signed', payload: { requestId, signature: 'signature', publicKey: 'key' } }
const denied = { type: 'countersign:denied', payload: { requestId } }

test('an answer to this request is taken as it is, without what else came with it', () => {
  assert.deepEqual(parseSigningMessage(signed, requestId), signed)
  assert.deepEqual(parseSigningMessage({ ...denied, more: 1, payload: { requestId, more: 2 } }, requestId), denied)
})

test('nothing else is an answer', () => {
  const others: unknown[] = [
    ...[undefined, null, 'countersign:signed', 1, [], {}, { type: 'countersign:signed' }],
    { ...signed, payload: null },
    { ...signed, type: 'countersign:expired' },
    { ...denied, payload: { requestId: 'b0c0ffee-0000-4000-8000-000000000002' } },
    { ...signed, payload: { requestId } },
    { ...signed, payload: { requestId, signature: 1, publicKey: 'key' } },
  ]
  for (const other of others) assert.equal(parseSigningMessage(other, requestId), undefined, JSON.stringify(other))
})
