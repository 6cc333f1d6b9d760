import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nextStep, type Event, type Step, type SigningKeyOwner } from '../key-steps.ts'

const subject: SigningKeyOwner = { identityId: '0199', handle: 'ada', key: undefined }
const walk = (...events: Event[]) => events.reduce(nextStep, { at: 'rest' } satisfies Step as Step)

test('a key is replaced once that was confirmed', () => {
  assert.deepEqual(walk({ type: 'asked', subject }), { at: 'confirm', subject })
  assert.deepEqual(walk({ type: 'asked', subject }, { type: 'in force', subject }), { at: 'rest', done: subject })
})

test('whose passkey opens nothing enters the code', () => {
  const shut: Event = { type: 'passkey opens nothing', subject, keyWraps: [] }
  assert.equal(walk({ type: 'asked', subject }, shut).at, 'enter code')
  assert.equal(walk({ type: 'asked', subject }, shut, { type: 'in force', subject }).at, 'rest')
})

test('whoever turns back keeps the key, and what comes late changes nothing', () => {
  assert.deepEqual(walk({ type: 'asked', subject }, { type: 'cancelled' }), { at: 'rest' })
  assert.deepEqual(walk({ type: 'in force', subject }), { at: 'rest' })
})
