import assert from 'node:assert/strict'
import { generateKeyPairSync, sign } from 'node:crypto'
import { test } from 'node:test'
import { checkSignature, parseMessage } from '../signing.ts'

const { publicKey, privateKey } = generateKeyPairSync('ed25519')
const raw = publicKey.export({ type: 'spki', format: 'der' }).subarray(-32).toString('base64')
const payload = 'Pay EUR 12.00'
const signature = sign(null, Buffer.from(payload), privateKey).toString('base64')
const sent = { requestId: 'r1', payload, publicKey: raw, sentAt: new Date() }
const answer = { signature, publicKey: raw, at: new Date() }

test('a signature of the user over the text passes all checks', async () => {
  assert.deepEqual(await checkSignature(sent, answer, payload), {
    signature: true,
    key: true,
    text: true,
    recent: true,
  })
})

test('DEV-62 the tour shows a changed text, another key and an old answer as failed', async () => {
  const changed = await checkSignature(sent, answer, 'Pay EUR 92.00')
  assert.deepEqual([changed.signature, changed.text], [false, false])
  const other = { ...answer, publicKey: Buffer.alloc(32, 1).toString('base64') }
  assert.equal((await checkSignature(sent, other, payload)).key, false)
  const late = { ...answer, at: new Date(Date.now() + 3600_000) }
  assert.equal((await checkSignature(sent, late, payload)).recent, false)
  assert.equal((await checkSignature(sent, { ...answer, signature: 'AA' }, payload)).signature, false)
})

test('only a message about this request counts', () => {
  const message = { type: 'countersign:signed', payload: { requestId: 'r1', signature, publicKey: raw } }
  assert.equal(parseMessage(message, 'r1')?.kind, 'signed')
  assert.deepEqual(parseMessage({ type: 'countersign:denied', payload: { requestId: 'r1' } }, 'r1'), { kind: 'denied' })
  const others = [undefined, null, 7, 'x', {}, { type: 'countersign:signed', payload: { requestId: 'r1' } }]
  for (const other of others) assert.equal(parseMessage(other, 'r1'), undefined)
  assert.equal(parseMessage(message, 'r2'), undefined)
})
