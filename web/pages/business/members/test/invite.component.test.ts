import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseInvitee } from '../Invite.tsx'

test('somebody is invited by username, as it is shown or without its sign, or by address', () => {
  assert.deepEqual(parseInvitee(' @ada '), { handle: 'ada' })
  assert.deepEqual(parseInvitee('ada.lovelace'), { handle: 'ada.lovelace' })
  assert.deepEqual(parseInvitee('ada@engine.example '), { email: 'ada@engine.example' })
})

test('what is neither invites nobody', () => {
  for (const text of ['', '@', 'a', 'ada lovelace', 'ada@', '@@ada', 'ada@engine'])
    assert.equal(parseInvitee(text), undefined)
})
