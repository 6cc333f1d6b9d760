import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nextStep, type Event, type Step } from '../renewal-steps.ts'

const used = { credentialId: 'id', prfOutput: undefined }
const rest: Step = { at: 'rest', renewed: false }
const opened: Event = {
  type: 'opened',
  recoveryCode: 'CODE',
  replacement: { recoveryAuth: 'auth', ciphertext: 'sealed' },
}

test('a passkey that opens the keys leads to the new code', () => {
  assert.equal(walk([opened]).at, 'save code')
})

test('a passkey that opens nothing leads to the present code, and from there to the new one', () => {
  const step = walk([{ type: 'passkey opens nothing', keyWraps: [], used }])
  assert.deepEqual(step, { at: 'enter code', keyWraps: [], used })
  assert.equal(nextStep(step, opened).at, 'save code')
})

test('a new code is in force only once it was shown', () => {
  assert.equal(nextStep(rest, { type: 'in force' }), rest)
  assert.deepEqual(walk([opened, { type: 'in force' }]), { at: 'rest', renewed: true })
})

test('whoever turns back keeps the old code and is not told otherwise', () => {
  assert.deepEqual(walk([opened, { type: 'cancelled' }]), { at: 'rest', renewed: false })
})

test('a code that is on show is not replaced by another', () => {
  const shown = walk([opened])
  assert.equal(nextStep(shown, { ...opened, recoveryCode: 'OTHER' }), shown)
})

function walk(events: Event[]): Step {
  return events.reduce<Step>(nextStep, rest)
}
