import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decryptNote, encryptNote } from '../encryption/note-cipher.ts'

const newKey = () => crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt'])

test('a note is read with its key only, and not after a change', async () => {
  const [key, other] = [await newKey(), await newKey()]
  const ciphertext = await encryptNote(key, 'Tea at five')
  assert.equal(await decryptNote(key, ciphertext), 'Tea at five')
  assert.equal(await decryptNote(other, ciphertext), undefined)
  const [header, , nonce, content = '', tag] = ciphertext.split('.')
  const altered = (content.startsWith('A') ? 'B' : 'A') + content.slice(1)
  const changed = [header, '', nonce, altered, tag].join('.')
  for (const stored of [changed, '', 'a note']) assert.equal(await decryptNote(key, stored), undefined)
})
