import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KeyEncryptionKey } from '@countersign/keys/prf'
import { nextStep, type Event, type Step } from '../unlocking-steps.ts'

const now = '2030-01-01T12:00:00.000Z'
const device = { approvalId: '0199', commitment: 'A', userAgent: null, createdAt: now, expiresAt: now }
const agreement = {
  digits: '012345',
  confirmation: '42',
  wrappingKey: await KeyEncryptionKey.derive(new Uint8Array(32), 'a test'),
}
const walk = (...events: Event[]) => events.reduce(nextStep, { at: 'rest' } satisfies Step as Step)
const approved: Event = { type: 'approved', device }
const agreed: Event = { type: 'agreed', agreement }
const wrong: Event = { type: 'wrong digits' }

test('a device is unlocked once its digits were typed', () => {
  assert.deepEqual(walk(approved), { at: 'agree', device })
  assert.equal(walk(approved, agreed).at, 'compare')
  assert.deepEqual(walk(approved, agreed, { type: 'sent' }), { at: 'sent', device, confirmation: '42' })
})

test('DEV-13 after three wrong codes it is over, and no late answer changes that', () => {
  assert.equal(walk(approved, agreed, wrong, wrong).at, 'compare')
  const over = { at: 'end', device, end: 'wrong digits' } as const
  assert.deepEqual(walk(approved, agreed, wrong, wrong, wrong), over)
  assert.deepEqual(walk(approved, agreed, wrong, wrong, wrong, agreed), over)
  assert.deepEqual(walk(approved, agreed, wrong, wrong, wrong, { type: 'sent' }), over)
})

test('what comes after the person has left changes nothing', () => {
  assert.deepEqual(walk(approved, { type: 'left' }, agreed), { at: 'rest' })
  assert.deepEqual(walk(approved, agreed, { type: 'left' }, wrong), { at: 'rest' })
})
