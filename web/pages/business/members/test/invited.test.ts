import assert from 'node:assert/strict'
import { test } from 'node:test'
import { invitedBy } from '../invited.ts'

test('somebody is invited by username, as it is shown or without its sign, or by address', () => {
  assert.deepEqual(invitedBy(' @ada '), { handle: 'ada' })
  assert.deepEqual(invitedBy('ada.lovelace'), { handle: 'ada.lovelace' })
  assert.deepEqual(invitedBy('ada@engine.example '), { email: 'ada@engine.example' })
})

test('what is neither invites nobody', () => {
  for (const text of ['', '@', 'a', 'ada lovelace', 'ada@', '@@ada', 'ada@engine'])
    assert.equal(invitedBy(text), undefined)
})
