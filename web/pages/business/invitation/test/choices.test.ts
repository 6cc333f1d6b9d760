import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Identity } from '@countersign/protocol/accounts/identities'
import { asId, type IdentityId } from '@countersign/protocol/ids'
import { joinChoices, onlyChoice } from '../choices.ts'

function identity(name: string, email: string | null): Identity {
  const identityId = asId<IdentityId>(name)
  return {
    identityId,
    handle: name,
    displayName: name,
    avatarUrl: null,
    email,
    emailVerified: email !== null,
    createdAt: '',
  }
}

const ada = identity('ada', 'ada@example.com')
const grace = identity('grace', null)
const mailed = { email: 'mina@example.com', provesEmail: true, identityIds: [] }

test('with the link of the mail each identity can join, those without an address first', () => {
  const choices = joinChoices(mailed, [ada, grace])
  assert.deepEqual(
    choices.map(({ identity: { handle }, verifyEmail }) => [handle, verifyEmail]),
    [
      ['grace', true],
      ['ada', true],
    ],
  )
})

test('an identity that is invited joins as it is, and no other one can', () => {
  const choices = joinChoices({ ...mailed, identityIds: [ada.identityId] }, [ada, grace])
  assert.deepEqual(choices, [{ identity: ada, verifyEmail: false }])
})

test('INV-69 the link that an inviting member sees offers no identity that is not invited', () => {
  assert.deepEqual(joinChoices({ ...mailed, provesEmail: false }, [ada, grace]), [])
})

test('INV-69 no page joins by itself where that would replace an address, or several identities could', () => {
  assert.equal(onlyChoice(joinChoices(mailed, [ada])), undefined)
  assert.equal(onlyChoice(joinChoices(mailed, [ada, grace])), undefined)
  assert.equal(onlyChoice(joinChoices(mailed, [grace]))?.identity, grace)
})
