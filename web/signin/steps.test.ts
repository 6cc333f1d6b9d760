import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Identity } from '@countersign/protocol/identities'
import { isSettled, nextStep, type Event, type Step, type Wish } from './steps.ts'

const ada = identityOf('ada')
const countess = identityOf('countess')
const grant = { exists: true, missing: [] }

test('a stranger signs in first', () => {
  assert.deepEqual(walk([{ type: 'nobody signed in' }]), { at: 'authenticate' })
})

test('a person with one identity does not choose', () => {
  const step = walk([{ type: 'signed in', identities: [ada] }])
  assert.deepEqual(step, { at: 'read grant', identities: [ada], identity: ada })
})

test('a person with several identities chooses, and only the chosen one goes on', () => {
  const identities = [ada, countess]
  const step = walk([{ type: 'signed in', identities }])
  assert.deepEqual(step, { at: 'choose identity', identities, mismatch: false })
  const chosen = nextStep(step, { type: 'identity chosen', identity: countess }, {})
  assert.deepEqual(chosen, { at: 'read grant', identities, identity: countess })
})

for (const [what, wish] of Object.entries<Wish>({
  'by its id': { identityId: countess.identityId },
  'by its handle': { loginHint: 'countess' },
  'by its handle in capitals': { loginHint: 'COUNTESS' },
})) {
  test(`the identity that the app asks for ${what} is taken without a choice`, () => {
    const step = walk([{ type: 'signed in', identities: [ada, countess] }], wish)
    assert.equal(step.at === 'read grant' && step.identity, countess)
  })
}

for (const [what, wish] of Object.entries<Wish>({
  'an id': { identityId: '00000000-0000-4000-8000-000000000000' },
  'a handle': { loginHint: 'someone-else' },
  'an id that is missing beside a handle that is there': { identityId: 'unknown', loginHint: 'ada' },
})) {
  test(`a person who lacks the identity the app asks for by ${what} decides, also with only one`, () => {
    const step = walk([{ type: 'signed in', identities: [ada] }], wish)
    assert.deepEqual(step, { at: 'choose identity', identities: [ada], mismatch: true })
  })
}

test('consent shows what is missing, and approval leads away', () => {
  const asked = { exists: true, missing: ['email'] }
  const step = walk([
    { type: 'signed in', identities: [ada] },
    { type: 'grant read', grant: asked },
  ])
  assert.deepEqual(step, { at: 'consent', identities: [ada], identity: ada, grant: asked })
  assert.deepEqual(nextStep(step, { type: 'approved' }, {}), { at: 'leave', identity: ada })
  assert.deepEqual(nextStep(step, { type: 'denied' }, {}), { at: 'leave', identity: undefined })
})

test('only a grant that exists and lacks nothing is settled', () => {
  assert.equal(isSettled({ exists: true, missing: [] }), true)
  assert.equal(isSettled({ exists: true, missing: ['profile'] }), false)
  assert.equal(isSettled({ exists: false, missing: [] }), false)
})

test('a person may think again about the identity, and is shown all of them', () => {
  const step = walk([
    { type: 'signed in', identities: [ada] },
    { type: 'grant read', grant },
    { type: 'another identity wanted' },
  ])
  assert.deepEqual(step, { at: 'choose identity', identities: [ada], mismatch: false })
})

test('a session that ends on the way leads back to signing in, from every step but the last', () => {
  const consent = walk([
    { type: 'signed in', identities: [ada] },
    { type: 'grant read', grant },
  ])
  assert.deepEqual(nextStep(consent, { type: 'nobody signed in' }, {}), { at: 'authenticate' })
  const left: Step = { at: 'leave', identity: ada }
  assert.equal(nextStep(left, { type: 'nobody signed in' }, {}), left)
})

test('late and repeated answers change nothing', () => {
  const start: Step = { at: 'look' }
  const events: Event[] = [{ type: 'approved' }, { type: 'denied' }, { type: 'grant read', grant }]
  for (const event of events) assert.equal(nextStep(start, event, {}), start)
  const choosing = walk([{ type: 'signed in', identities: [ada, countess] }])
  assert.equal(nextStep(choosing, { type: 'grant read', grant }, {}), choosing)
  assert.equal(nextStep(choosing, { type: 'signed in', identities: [ada] }, {}), choosing)
})

function walk(events: Event[], wish: Wish = {}): Step {
  return events.reduce<Step>((step, event) => nextStep(step, event, wish), { at: 'look' })
}

function identityOf(handle: string): Identity {
  const unshared = { avatarUrl: null, email: null, emailVerified: false, createdAt: '2026-01-01T00:00:00.000Z' }
  return { identityId: `id-of-${handle}`, handle, displayName: handle.toUpperCase(), ...unshared }
}
