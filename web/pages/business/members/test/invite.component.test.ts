import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseInvitee, parseInvitees } from '../invitees.ts'

test('somebody is invited by username, as it is shown or without its sign, or by address', () => {
  assert.deepEqual(parseInvitee(' @ada '), { handle: 'ada' })
  assert.deepEqual(parseInvitee('ada.lovelace'), { handle: 'ada.lovelace' })
  assert.deepEqual(parseInvitee('ada@engine.example '), { email: 'ada@engine.example' })
})

test('what is neither invites nobody', () => {
  for (const text of ['', '@', 'a', 'ada lovelace', 'ada@', '@@ada', 'ada@engine'])
    assert.equal(parseInvitee(text), undefined)
})

test('several are invited at once, each once, and none if one is invalid', () => {
  assert.deepEqual(parseInvitees('ada@engine.example, @grace\nada@engine.example; alan'), [
    { email: 'ada@engine.example' },
    { handle: 'grace' },
    { handle: 'alan' },
  ])
  for (const text of ['', ' ,', 'ada@engine.example, ada@']) assert.equal(parseInvitees(text), undefined)
})
