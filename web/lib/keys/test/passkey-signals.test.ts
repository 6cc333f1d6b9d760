import assert from 'node:assert/strict'
import { test } from 'node:test'
import { userHandleOf } from '../passkey-signals.ts'

test('the user handle is the sixteen bytes of the id, as passkeys keep it', () => {
  const userId = '019e4a31-00ff-7abc-8def-0123456789ab'
  const bytes = Buffer.from(userId.replaceAll('-', ''), 'hex')
  assert.equal(userHandleOf(userId), bytes.toString('base64url'))
})
