import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SigningRequest } from '@countersign/protocol/signing/signing'
import { type IdentityId, type OrganizationId, asId } from '@countersign/protocol/ids'
import { isSameShown, mayApproveInstead, nextStep, roleOf } from '../steps.ts'
import type { Confirmed, Event, Step } from '../steps.ts'

const request: SigningRequest = {
  requestId: 'b0c0ffee-0000-4000-8000-000000000001',
  identityId: asId<IdentityId>('019e4a31-00ff-7abc-8def-0123456789ab'),
  handle: 'ada',
  app: { clientId: 'app_1', name: 'Shop', iconUrl: null, websiteUrl: null, origins: ['https://shop.example'] },
  connected: true,
  demonstration: false,
  payload: 'Pay 100 €',
  status: 'pending',
  publicKey: 'key',
  createdAt: '2026-11-21T14:00:00.000Z',
  expiresAt: '2026-11-21T14:05:00.000Z',
}
const noBytes = new Uint8Array()
const confirmed: Confirmed = {
  flowId: 'b0c0ffee-0000-4000-8000-000000000002',
  statement: {
    ...{ version: 2, issuer: 'https://id.example', requestId: request.requestId, identityId: request.identityId },
    ...{ app: { clientId: 'app_1', name: 'Shop', origins: [] }, handle: 'ada', role: 'self' },
    ...{ organization: null, payloadSha256: '', publicKey: 'key', keyVersion: 1, challenge: '' },
    ...{ createdAt: request.createdAt, challengedAt: request.createdAt, expiresAt: request.expiresAt },
  },
  key: {
    ...{ identityId: request.identityId, handle: 'ada', hasKey: true, publicKey: 'key', encryptedPrivateKey: 'sealed' },
    ...{ createdAt: request.createdAt, rotatedAt: null, keyVersion: 1, former: [] },
    chain: { log: 'api.example/transparency', previous: null },
  },
  credential: {
    ...{ id: 'passkey', rawId: 'passkey', type: 'public-key', clientExtensionResults: {} },
    response: { clientDataJSON: '', authenticatorData: '', signature: '' },
  },
  evidence: { publicKey: noBytes, authenticatorData: noBytes, clientDataJson: noBytes, signature: noBytes },
}
const signed: SigningRequest = { ...request, status: 'signed', signature: 'signature' }
const denied: SigningRequest = { ...request, status: 'denied' }
const decide: Step = { at: 'decide', request, insisted: false }
const page = { framed: false }
const frame = { framed: true }
const after = (events: Event[], step: Step = { at: 'look' }, where = page) =>
  events.reduce((current, event) => nextStep(current, event, where), step)

test('a stranger signs in, and then decides', () => {
  assert.deepEqual(after([{ type: 'nobody signed in' }]), { at: 'authenticate' })
  assert.deepEqual(after([{ type: 'nobody signed in' }, { type: 'request read', request }]), decide)
})

test('in a frame nobody signs in, and nobody changes the account: a window does', () => {
  assert.deepEqual(after([{ type: 'nobody signed in' }], undefined, frame), { at: 'open window' })
  assert.deepEqual(after([{ type: 'no such request' }], undefined, frame), { at: 'open window' })
  assert.deepEqual(after([{ type: 'no such request' }]), { at: 'unknown' })
})

test('a page that stopped shows nothing to sign until it is reloaded, except that the request has ended', () => {
  const stopped: Step = { at: 'stopped', why: 'statement' }
  assert.deepEqual(after([{ type: 'stopped', why: 'statement' }], decide), stopped)
  assert.deepEqual(after([{ type: 'request read', request }, { type: 'insisted' }], stopped), stopped)
  assert.equal(after([{ type: 'request read', request: signed }], stopped).at, 'end')
})

test('where an organization asks for its own sign-in, that comes first, and in a frame not at all', () => {
  const place = { organizationName: 'Acme', loginUrl: 'https://api.id.example/api/sso/1/start' }
  const ssoRequired: Event = { type: 'own sign-in asked', place }
  assert.deepEqual(after([ssoRequired]), { at: 'sign in there', place })
  assert.deepEqual(after([ssoRequired], undefined, frame), { at: 'open window' })
  assert.deepEqual(after([ssoRequired, { type: 'request read', request }]), decide)
})

test('a member who has done their part waits, until it is at its end or does not count any more', () => {
  const organization = {
    ...{ id: asId<OrganizationId>('id'), name: 'Acme', isSigned: true, approvals: 0, approvalsNeeded: 1 },
    ...{ memberId: 'id', maySign: true, mayApprove: true, answered: 'sign' as const, answers: [] },
  }
  const answered: SigningRequest = { ...request, organization }
  const wait: Step = { at: 'wait', request: answered, organization }
  assert.deepEqual(after([{ type: 'request read', request: answered }], decide), wait)
  const lapsed: SigningRequest = { ...request, organization: { ...organization, answered: null } }
  assert.equal(after([{ type: 'request read', request: lapsed }], wait).at, 'decide')
  assert.equal(after([{ type: 'request read', request: signed }], wait).at, 'end')
  assert.equal(after([{ type: 'time is up' }], wait).at, 'end')
})

const unsigned = {
  ...{ id: asId<OrganizationId>('id'), name: 'Acme', isSigned: false, approvals: 0, approvalsNeeded: 1 },
  ...{ memberId: 'bob', maySign: true, mayApprove: true, answered: null, answers: [] },
}
const byAda = { memberId: 'ada', handle: 'ada', role: 'sign' as const, at: request.createdAt }
const byBob = { ...byAda, memberId: 'bob', handle: 'bob' }
const open: SigningRequest = { ...request, organization: unsigned }
const signedByAda: SigningRequest = { ...open, organization: { ...unsigned, isSigned: true, answers: [byAda] } }
const signedByBoth = { ...unsigned, isSigned: true, answered: 'sign' as const, answers: [byAda, byBob] }
const read = (of: SigningRequest): Event => ({ type: 'request read', request: of })

test('OSG-11 a page that another member overtakes shows their signature, and its own member approves', () => {
  const insisted: Step = { at: 'decide', request: open, insisted: true }
  const overtaken = { at: 'decide', request: signedByAda, insisted: true, news: 'signatures' } as const
  assert.deepEqual(after([read(signedByAda)], insisted), overtaken)
  assert.deepEqual(after([read(signedByAda)], overtaken), overtaken)
  assert.deepEqual(after([read(signedByAda)], { at: 'enter code', request: open, keyWraps: [], confirmed }), overtaken)
  assert.equal(roleOf(signedByAda), 'approve')
})

test('OSG-12 a page takes over a key that replaces the one shown, and says so', () => {
  const other: SigningRequest = { ...open, publicKey: 'other' }
  const insisted: Step = { at: 'decide', request: open, insisted: true }
  assert.deepEqual(after([read(other)], insisted), { at: 'decide', request: other, insisted: true, news: 'key' })
})

test('OSG-11 a page stops if anything else that was shown is described differently', () => {
  const { app } = open
  const of = (changes: object) => ({ ...open, organization: { ...unsigned, ...changes } })
  const different = [
    { ...open, payload: 'Pay 1000 €' },
    { ...open, handle: 'eve' },
    { ...open, identityId: asId<IdentityId>('019e4a31-00ff-7abc-8def-0123456789ac') },
    { ...open, app: { ...app, name: 'Other' } },
    { ...open, app: { ...app, clientId: 'app_2' } },
    { ...open, app: { ...app, origins: ['https://other.example'] } },
    { ...open, createdAt: '2026-11-21T14:01:00.000Z' },
    { ...open, expiresAt: '2027-11-21T14:05:00.000Z' },
    ...[of({ name: 'Other' }), of({ approvalsNeeded: 2 }), of({ memberId: 'eve' }), of({ id: asId('other') })],
    request,
  ]
  const insisted: Step = { at: 'decide', request: open, insisted: true }
  for (const each of different) {
    assert.deepEqual(after([read(each)], insisted), { at: 'stopped', why: 'changed' }, JSON.stringify(each))
    const code: Step = { at: 'enter code', request: open, keyWraps: [], confirmed }
    assert.deepEqual(after([read(each)], code), { at: 'stopped', why: 'changed' })
  }
})

test('OSG-14 a passkey that confirmed what the page shows no longer asks for no code', () => {
  const shut: Event = { type: 'keys are shut', request: open, keyWraps: [], confirmed }
  const shown: Step = { at: 'decide', request: open, insisted: false }
  const code = after([shut], shown)
  assert.deepEqual(code, { at: 'enter code', request: open, keyWraps: [], confirmed })
  assert.equal(isSameShown(shown, code), true)
  assert.equal(isSameShown(code, after([read(signedByAda)], code)), false)
  for (const changed of [signedByAda, { ...open, publicKey: 'other' }]) {
    const overtaken = after([read(changed)], shown)
    assert.equal(after([shut], overtaken), overtaken)
  }
  const stopped = after([read({ ...open, payload: 'Pay 1000 €' })], shown)
  assert.equal(after([shut], stopped), stopped)
})

test('OSG-14 a page whose answer was accepted says that, and never that nothing was signed', () => {
  const code: Step = { at: 'enter code', request: open, keyWraps: [], confirmed }
  for (const step of [code, { at: 'decide', request: open, insisted: false } as const]) {
    const waiting = after([{ type: 'answer accepted' }, read({ ...open, payload: 'Pay 1000 €' })], step)
    const organization = { ...unsigned, answered: 'sign' }
    assert.deepEqual(waiting, { at: 'wait', request: open, organization })
    // It does not count any more, and the member decides again.
    const again = after([{ type: 'answer accepted' }, read(open)], step)
    assert.deepEqual(again, { at: 'decide', request: open, insisted: step.at === 'enter code' })
  }
})

test('OSG-10 of two members who have both signed, one approves instead, while approvals are missing', () => {
  const both: SigningRequest = { ...open, organization: signedByBoth }
  const wait = after([read(both)], { at: 'decide', request: open, insisted: false })
  assert.equal(wait.at, 'wait')
  const instead = after([{ type: 'approves instead' }], wait)
  assert.deepEqual(instead, { at: 'decide', request: both, insisted: false })
  assert.equal(roleOf(both), 'approve')
  assert.equal(after([read(both)], instead).at, 'decide')
  const alone: SigningRequest = { ...open, organization: { ...signedByBoth, answers: [byBob] } }
  assert.equal(after([read(alone)], instead).at, 'wait')
  for (const changes of [
    { answers: [byBob] },
    { mayApprove: false },
    { approvals: 1 },
    { answered: 'approve' as const },
  ])
    assert.equal(mayApproveInstead({ ...signedByBoth, ...changes }), false, JSON.stringify(changes))
})

test('a request that was answered is at its end, and the app is told which', () => {
  const answer = {
    type: 'countersign:signed',
    payload: { requestId: request.requestId, signature: 'signature', publicKey: 'key' },
  } as const
  const origins = ['https://shop.example']
  assert.deepEqual(after([{ type: 'request read', request: signed }]), {
    ...{ at: 'end', end: 'signed', answer, origins },
    ...{ request: signed, isNow: false },
  })
  assert.deepEqual(after([{ type: 'request read', request: denied }], decide), {
    at: 'end',
    end: 'denied',
    answer: { type: 'countersign:denied', payload: { requestId: request.requestId } },
    origins,
    request: denied,
    isNow: true,
  })
  const answered = { type: 'answered in a window', answer, origins } as const
  assert.deepEqual(after([answered], { at: 'open window' }, frame), { at: 'end', end: 'signed', answer, origins })
})

test('when the time is up there is nothing to decide, and the app is told nothing', () => {
  const expired = { at: 'end', end: 'expired', origins: [] }
  assert.deepEqual(after([{ type: 'time is up' }], decide), expired)
  assert.deepEqual(after([{ type: 'time is up' }], { at: 'enter code', request, keyWraps: [], confirmed }), expired)
  const read: Event = { type: 'request read', request: { ...request, status: 'expired' } }
  assert.equal(after([read]).at, 'end')
})

test('an end is for good, whatever comes late', () => {
  const end = after([{ type: 'request read', request: denied }], decide)
  const late: Event[] = [
    { type: 'nobody signed in' },
    { type: 'request read', request },
    { type: 'request read', request: signed },
    { type: 'no such request' },
    { type: 'insisted' },
    { type: 'keys are shut', request, keyWraps: [], confirmed },
    { type: 'answer accepted' },
    { type: 'turned back' },
    { type: 'approves instead' },
    { type: 'time is up' },
  ]
  for (const event of late) assert.equal(after([event], end), end, event.type)
})

test('who comes back from another tab is where they were', () => {
  const insisted: Step = { ...decide, insisted: true }
  assert.deepEqual(after([{ type: 'request read', request }], insisted), insisted)
  const code: Step = { at: 'enter code', request, keyWraps: [], confirmed }
  assert.equal(after([{ type: 'request read', request }], code), code)
  assert.deepEqual(after([{ type: 'turned back' }], code), insisted)
})

test('what belongs to another step changes nothing', () => {
  const looking: Step = { at: 'look' }
  const types = ['insisted', 'answer accepted', 'turned back', 'time is up', 'approves instead'] as const
  for (const event of types.map((type) => ({ type }))) assert.equal(after([event], looking), looking)
})
