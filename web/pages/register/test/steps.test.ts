import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type IdentityId, type UserId, asId } from '@countersign/protocol/ids'
import type { NewPasskey } from '../../../lib/keys/passkey.ts'
import { ApiError, NetworkError } from '../../../lib/api/call.ts'
import type { Session } from '../../../lib/session/session.ts'
import { needsPrfAssertion } from '../../../lib/keys/passkey.ts'
import { nextStep, passkeyFailureOf, type Event, type Made, type Owner, type Prepared, type Step } from '../steps.ts'

const passkey: NewPasskey = {
  credential: {
    id: 'id',
    rawId: 'id',
    type: 'public-key',
    response: { clientDataJSON: 'e30', attestationObject: 'oA' },
    clientExtensionResults: {},
  },
  prfEnabled: true,
  prfOutput: undefined,
}
const made: Made = {
  started: {
    flowId: 'flow',
    userId: asId<UserId>('user'),
    identityId: asId<IdentityId>('identity'),
    options: {
      rp: { id: 'localhost', name: 'Countersign' },
      user: { id: 'dXNlcg', name: 'ada', displayName: 'Ada' },
      challenge: 'AA',
      pubKeyCredParams: [],
      timeout: 1,
      excludeCredentials: [],
      authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
      attestation: 'none',
      extensions: { credProps: true, prf: { eval: { first: 'AA' } } },
    },
  },
  passkey,
}
const code = {
  recoveryCode: 'CODE',
  replacement: { recoveryAuth: 'auth', ciphertext: 'a.b.c.d.e' },
  isFirst: false,
}
const prepared: Prepared = { finish: { flowId: 'flow', credential: passkey.credential }, code, opensKeys: true }
const owner: Owner = { user: { userId: asId<UserId>('user') }, identities: [] }
const accountMade: Event = { type: 'account made', owner, prepared }

test('an account whose passkey opens keys at once goes straight to the recovery code', () => {
  assert.deepEqual(walk([accountMade]), { at: 'save code', owner, code: { code, opensKeys: true } })
})

test('a reload before the recovery code is saved offers a new one, and a saved one asks nothing', () => {
  const session: Session = {
    ...owner,
    authTime: '2030-01-01T12:00:00.000Z',
    secondsSinceAuthTime: 1,
    authMethod: 'passkey',
    expiresAt: '2030-02-01T12:00:00.000Z',
  }
  const lacking = { ...session, recoveryCode: { confirmedAt: null } }
  assert.deepEqual(walk([{ type: 'session found', session: lacking }]), { at: 'save code', owner: lacking })
  const saved = { ...session, recoveryCode: { confirmedAt: '2030-01-01T12:00:00.000Z' } }
  const step = walk([{ type: 'session found', session: saved }])
  assert.deepEqual(step, { at: 'signed in', session: saved })
  assert.deepEqual(nextStep(step, { type: 'signed out' }), { at: 'describe' })
})

test('a passkey that is due a second touch is kept until it was touched', () => {
  const step = walk([{ type: 'second touch due', made }])
  assert.deepEqual(step, { at: 'touch again', made })
  assert.equal(nextStep(step, accountMade).at, 'save code')
})

test('a last request that fails keeps the passkey and the keys for another try', () => {
  const step = walk([
    { type: 'second touch due', made },
    { type: 'finish failed', made, prepared, outcome: 'unknown' },
  ])
  assert.deepEqual(step, { at: 'finish', made, prepared, outcome: 'unknown' })
  assert.deepEqual(nextStep(step, { type: 'finish failed', made, prepared, outcome: 'unknown' }), step)
  assert.equal(nextStep(step, accountMade).at, 'save code')
  assert.deepEqual(nextStep(step, { type: 'started over' }), { at: 'describe' })
})

test('an address is proved before the username, and again if its proof is of no use any more', () => {
  const sent = { verificationId: 'one', email: 'ada@example.com' }
  const first: Step = { at: 'address' }
  const entering = nextStep(first, { type: 'code sent', sent })
  assert.deepEqual(entering, { at: 'code', sent })
  assert.deepEqual(nextStep(entering, { type: 'address changed' }), { at: 'address', email: 'ada@example.com' })
  const describing = nextStep(entering, { type: 'address settled' })
  assert.deepEqual(describing, { at: 'describe' })
  assert.deepEqual(nextStep(describing, { type: 'proof refused' }), { at: 'address' })
  for (const step of [first, entering]) assert.equal(nextStep(step, { type: 'second touch due', made }), step)
  const failed: Step = { at: 'finish', made, prepared, outcome: 'refused' }
  assert.deepEqual(nextStep(failed, { type: 'started over', needsEmail: true }), { at: 'address' })
})

test('nobody gets past the recovery code but by saying that it is saved', () => {
  const step = walk([accountMade])
  const others: Event[] = [{ type: 'started over' }, { type: 'second touch due', made }, accountMade]
  for (const event of others) assert.equal(nextStep(step, event), step)
  assert.deepEqual(nextStep(step, { type: 'code saved' }), { at: 'leave' })
})

test('only a refusal settles that no account was made', () => {
  assert.equal(passkeyFailureOf(new ApiError(400, 'invalid_credential', '')), 'refused')
  for (const unclear of [
    new NetworkError(),
    new ApiError(500, 'server_error', ''),
    new ApiError(429, 'rate_limited', ''),
  ])
    assert.equal(passkeyFailureOf(unclear), 'unknown')
})

test('a second touch is asked of passkeys that can open keys but did not yet, and of no others', () => {
  const prfOutput = new Uint8Array(32)
  assert.equal(needsPrfAssertion({ ...passkey, prfEnabled: true }), true)
  assert.equal(needsPrfAssertion({ ...passkey, prfEnabled: true, prfOutput }), false)
  assert.equal(needsPrfAssertion({ ...passkey, prfEnabled: false }), false)
})

function walk(events: Event[]): Step {
  return events.reduce<Step>(nextStep, { at: 'describe' })
}
