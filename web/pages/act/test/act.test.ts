import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rotationMessage, signedActionMessage } from '@countersign/protocol/formats/messages/messages'
import { parseSignActionRequest } from '../action.ts'

const details = { organizationId: 'o', memberId: 'm' }
const message = signedActionMessage('organization.member.removed', details)
const parseWith = (changes: object = {}) =>
  parseSignActionRequest({ type: 'countersign:act', identityId: 'i', message, ...changes })

test('an act in an organization is read as it will be signed', () => {
  assert.deepEqual(parseWith(), { identityId: 'i', action: 'organization.member.removed', details, message })
  const connection = signedActionMessage('sso.connection.created', { name: 'Acme' })
  assert.equal(parseWith({ message: connection })?.action, 'sso.connection.created')
})

test('nothing else is signed as one: no text, no change of a key, no act in another form', () => {
  const rotation = rotationMessage({ identityId: 'i', publicKey: 'p', encryptedPrivateKey: 'e' })
  for (const other of [
    'Pay 10 €',
    rotation,
    ` ${message}`,
    JSON.stringify({ version: 2, action: 'organization.deleted', details }),
    JSON.stringify({ version: 1, action: 'organization.deleted', details, more: 1 }),
    JSON.stringify({ version: 1, action: 'organization.deleted', details: 'all' }),
    JSON.stringify({ version: 1, action: 'ORGANIZATION', details }),
    '{"version":1,"action":"organization.deleted","action":"organization.updated","details":{}}',
    undefined,
  ])
    assert.equal(parseWith({ message: other }), undefined, String(other))
  for (const wrong of [{ type: 'countersign:signed' }, { identityId: 1 }]) assert.equal(parseWith(wrong), undefined)
  for (const data of [null, 'text', []]) assert.equal(parseSignActionRequest(data), undefined)
})
