import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { fingerprintOf } from '../fingerprint.ts'

test('a fingerprint is the beginning of the SHA-256 of the key, in groups', async () => {
  const key = Buffer.alloc(32, 7)
  const hash = createHash('sha256').update(key).digest('hex')
  const fingerprint = await fingerprintOf(key.toString('base64'))
  assert.match(fingerprint, /^([0-9a-f]{4} ){7}[0-9a-f]{4}$/)
  assert.equal(fingerprint.replaceAll(' ', ''), hash.slice(0, 32))
})
