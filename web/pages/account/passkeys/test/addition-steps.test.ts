import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nextStep, type Event, type CreatedPasskey, type Step } from '../addition-steps.ts'

const rest: Step = { at: 'rest' }
const made: CreatedPasskey = {
  started: {
    flowId: 'flow',
    options: {
      rp: { id: 'localhost', name: 'Countersign' },
      user: { id: 'AA', name: 'ada', displayName: 'Ada' },
      challenge: 'AA',
      pubKeyCredParams: [],
      timeout: 1,
      excludeCredentials: [],
      authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
      attestation: 'none',
      extensions: { credProps: true, prf: { eval: { first: 'AA' } } },
    },
  },
  passkey: {
    credential: {
      id: 'AA',
      rawId: 'AA',
      type: 'public-key',
      response: { clientDataJSON: 'AA', attestationObject: 'AA' },
      clientExtensionResults: {},
    },
    prfEnabled: false,
    prfOutput: undefined,
  },
}
const walk = (events: Event[]) => events.reduce<Step>(nextStep, rest)

test('a person whose keys open makes the passkey, and it is added', () => {
  assert.deepEqual(walk([{ type: 'ready to make' }]), { at: 'make' })
  assert.deepEqual(walk([{ type: 'ready to make' }, { type: 'added', name: 'Phone' }]), { at: 'rest', added: 'Phone' })
})

test('where the keys are shut, the code comes before the passkey', () => {
  const step = walk([{ type: 'keys are shut', keyWraps: [] }])
  assert.equal(step.at, 'enter code')
  assert.equal(nextStep(step, { type: 'ready to make' }).at, 'make')
})

test('that a passkey opens nothing is said before it is added', () => {
  for (const before of [[], [{ type: 'second touch due', made } as const]])
    assert.equal(walk([{ type: 'ready to make' }, ...before, { type: 'opens nothing', made }]).at, 'signs in only')
})

test('a passkey that was made is kept while the server cannot be reached', () => {
  const failed = walk([{ type: 'ready to make' }, { type: 'finish failed', made, keyWrap: undefined }])
  assert.deepEqual(failed, { at: 'finish', made, keyWrap: undefined })
  assert.equal(nextStep(failed, { type: 'opens nothing', made }), failed)
})

test('a late answer finds nothing to change', () => {
  assert.equal(walk([{ type: 'added', name: 'Phone' }]), rest)
})
