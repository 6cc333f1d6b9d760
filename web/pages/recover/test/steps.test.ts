import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type UserId, asId } from '@countersign/protocol/ids'
import { nextStep, type Event, type Step } from '../steps.ts'

const code = { recoveryCode: 'CODE', replacement: { recoveryAuth: 'auth', ciphertext: 'sealed' }, isFirst: false }
const owner = { user: { userId: asId<UserId>('user') }, identities: [] }
const opened: Event = { type: 'keys opened', owner, code, opensKeys: true }
const walk = (events: Event[]) => events.reduce<Step>(nextStep, { at: 'identify' })

test('whoever is back in gets a new code, and leaves when they have it', () => {
  assert.equal(walk([opened]).at, 'save code')
  assert.deepEqual(walk([opened, { type: 'code in force' }]), { at: 'leave' })
})

test('a code that is on show is not replaced by another', () => {
  const shown = walk([opened])
  assert.equal(nextStep(shown, { ...opened, code: { ...code, recoveryCode: 'OTHER' } }), shown)
  assert.equal(nextStep(shown, { type: 'refused' }), shown)
})

test('a refusal leads back to the beginning', () => {
  assert.deepEqual(walk([{ type: 'refused' }]), { at: 'identify' })
})

test('an account without keys has no code to make, and keys that stay shut are spoken of', () => {
  assert.deepEqual(walk([{ type: 'no keys' }]), { at: 'leave' })
  assert.deepEqual(walk([{ type: 'keys did not open' }]), { at: 'unopened' })
})
