import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type Admitted,
  applyDecision,
  type Council,
  type CouncilDecision,
  type CouncilError,
  type CouncilSigners,
  type Signatory,
} from '../council.ts'

const none: Council = { approvalsNeeded: 0, signatories: [], resetRequestedAt: undefined, resetAt: undefined }
const names = ['olga', 'pia', 'rui']
const people = names.map(full)
const olga = { signatoryId: 'olga', isOwner: true }
const pia = { signatoryId: 'pia', isOwner: false }
const founded = after(none, { kind: 'found', approvalsNeeded: 1, people }, { by: olga, approvedBy: ['pia', 'rui'] })
const rui: CouncilDecision = { kind: 'admit', signatoryId: 'rui', maySign: true, mayApprove: true }
const puppet: CouncilDecision = { ...rui, signatoryId: 'puppet' }
const widening: CouncilDecision[] = [puppet, { kind: 'change_approvals_needed', approvalsNeeded: 2 }, { kind: 'widen' }]

/** A person who may sign and approve. */
function full(signatoryId: string): Admitted {
  return { signatoryId, maySign: true, mayApprove: true }
}

/** The instant `days` after the first. */
function day(days: number): Date {
  return new Date(Date.UTC(2030, 0, 1 + days))
}

function decide(council: Council, decision: CouncilDecision, signers: Partial<CouncilSigners> = {}, now = day(0)) {
  return applyDecision(council, decision, { by: olga, approvedBy: [], ...signers }, now)
}

function flawOf(...given: Parameters<typeof decide>): CouncilError | undefined {
  const result = decide(...given)
  return 'flaw' in result ? result.flaw : undefined
}

function after(...given: Parameters<typeof decide>): Council {
  const result = decide(...given)
  assert.ok('council' in result, JSON.stringify(result))
  return result.council
}

function signatory(council: Council, id: string): Signatory | undefined {
  return council.signatories.find(({ signatoryId }) => signatoryId === id)
}

test('ACT-20 an owner founds a council with people who accept, more of them than approvals are needed', () => {
  assert.deepEqual(
    founded.signatories.map(({ signatoryId, mayApprove }) => [signatoryId, mayApprove]),
    names.map((name) => [name, true]),
  )
  const found = (approvalsNeeded: number, named = people, approvedBy = ['pia', 'rui']) =>
    flawOf(none, { kind: 'found', approvalsNeeded, people: named }, { approvedBy })
  assert.equal(found(2), undefined)
  assert.equal(found(1, people, ['pia']), 'not_accepted')
  for (const approvalsNeeded of [3, 0, -1, 1.5, Number.NaN])
    assert.equal(found(approvalsNeeded), 'too_few_signatories', String(approvalsNeeded))
  assert.equal(found(1, ['olga', 'olga'].map(full)), 'too_few_signatories')
  assert.equal(flawOf(none, { kind: 'found', approvalsNeeded: 1, people }, { by: pia }), 'insufficient_scope')
  const again: CouncilDecision = { kind: 'found', approvalsNeeded: 1, people: ['olga', 'puppet'].map(full) }
  assert.equal(flawOf(founded, again, { approvedBy: ['puppet'] }), 'council_exists')
})

test('ACT-21 what gives more people a say, or changes how many must agree, needs others who already have one', () => {
  for (const decision of widening) {
    const message = decision.kind
    assert.equal(flawOf(founded, decision), 'approvals_missing', message)
    assert.equal(flawOf(founded, decision, { approvedBy: ['olga', 'olga'] }), 'approvals_missing', message)
    assert.equal(flawOf(founded, decision, { approvedBy: ['puppet', 'puppet 2'] }), 'approvals_missing', message)
    assert.equal(flawOf(founded, decision, { approvedBy: ['pia'] }), undefined, message)
    assert.equal(flawOf(founded, decision, { by: pia, approvedBy: ['rui'] }), undefined, message)
    const stranger = { signatoryId: 'sam', isOwner: true }
    assert.equal(flawOf(founded, decision, { by: stranger, approvedBy: names }), 'insufficient_scope', message)
  }
})

test('ACT-21 an approval that is given twice counts once', () => {
  const two = after(founded, { kind: 'change_approvals_needed', approvalsNeeded: 2 }, { approvedBy: ['pia'] })
  assert.equal(flawOf(two, puppet, { approvedBy: ['pia', 'pia'] }), 'approvals_missing')
  assert.equal(flawOf(two, puppet, { approvedBy: ['pia', 'rui'] }), undefined)
})

test('ACT-21 without a council an owner decides alone, and nobody else', () => {
  assert.equal(flawOf(none, { kind: 'widen' }), undefined)
  assert.equal(flawOf(none, { kind: 'widen' }, { by: pia, approvedBy: ['olga'] }), 'insufficient_scope')
  assert.equal(flawOf(none, puppet), 'no_council')
  assert.equal(flawOf(none, { kind: 'change_approvals_needed', approvalsNeeded: 1 }), 'no_council')
})

test('ACT-22 the approvals needed are at least one, and fewer than those who approve', () => {
  const change = (approvalsNeeded: number) =>
    flawOf(founded, { kind: 'change_approvals_needed', approvalsNeeded }, { approvedBy: names })
  assert.deepEqual([-1, 1, 2, 3].map(change), ['too_few_signatories', undefined, undefined, 'too_few_signatories'])
  const two = after(founded, { kind: 'change_approvals_needed', approvalsNeeded: 2 }, { approvedBy: names })
  // Who only signs approves nothing.
  assert.equal(flawOf(two, { ...rui, mayApprove: false }, { approvedBy: names }), 'too_few_signatories')
  assert.equal(flawOf(founded, { ...rui, mayApprove: false }, { approvedBy: names }), undefined)
})

test('ACT-22 a signatory who does not approve is no approval', () => {
  const signing = after(founded, { ...rui, mayApprove: false }, { approvedBy: names })
  assert.equal(flawOf(signing, { kind: 'widen' }, { approvedBy: ['rui'] }), 'approvals_missing')
  const signer = { signatoryId: 'rui', isOwner: false }
  assert.equal(flawOf(signing, { kind: 'widen' }, { by: signer, approvedBy: ['pia'] }), undefined)
})

test('ACT-23 an owner suspends alone, which lowers nothing and lets nobody back alone', () => {
  assert.equal(flawOf(founded, { kind: 'suspend', signatoryId: 'rui' }, { by: pia }), 'insufficient_scope')
  assert.equal(flawOf(founded, { kind: 'suspend', signatoryId: 'sam' }), 'unknown_signatory')
  const less = after(founded, { kind: 'suspend', signatoryId: 'rui' })
  assert.equal(less.approvalsNeeded, 1)
  assert.equal(flawOf(less, { kind: 'widen' }, { approvedBy: ['rui'] }), 'approvals_missing')
  assert.equal(flawOf(less, rui), 'approvals_missing')
  assert.equal(flawOf(less, rui, { approvedBy: ['rui'] }), 'approvals_missing')
  assert.equal(signatory(after(less, rui, { approvedBy: ['pia'] }), 'rui')?.isSuspended, false)
  const alone = after(less, { kind: 'suspend', signatoryId: 'pia' })
  assert.equal(flawOf(alone, puppet, { approvedBy: ['pia', 'rui'] }), 'approvals_missing')
  const suspended = { signatoryId: 'pia', isOwner: true }
  assert.equal(flawOf(alone, puppet, { by: suspended, approvedBy: names }), 'insufficient_scope')
})

test('ACT-24 a reset takes fourteen days, and one veto ends it', () => {
  const requested = after(founded, { kind: 'request_reset' }, {}, day(1))
  const resetOn = (days: number) => flawOf(requested, { kind: 'reset' }, {}, day(days))
  assert.deepEqual([14.9, 15, 28.9, 29].map(resetOn), ['too_early', undefined, undefined, 'reset_expired'])
  assert.equal(flawOf(founded, { kind: 'reset' }, {}, day(30)), 'no_reset')
  for (const kind of ['request_reset', 'reset'] as const)
    assert.equal(flawOf(requested, { kind }, { by: pia, approvedBy: names }, day(20)), 'insufficient_scope')
  assert.equal(flawOf(requested, { kind: 'request_reset' }, {}, day(2)), 'reset_pending')
  assert.equal(flawOf(none, { kind: 'request_reset' }), 'no_council')
  const vetoed = after(requested, { kind: 'veto_reset' }, { by: pia }, day(3))
  assert.equal(flawOf(vetoed, { kind: 'reset' }, {}, day(20)), 'no_reset')
  const stranger = { signatoryId: 'sam', isOwner: true }
  assert.equal(flawOf(requested, { kind: 'veto_reset' }, { by: stranger }, day(3)), 'insufficient_scope')
  assert.equal(flawOf(founded, { kind: 'veto_reset' }, { by: pia }), 'no_reset')
})

test('ACT-24 a reset leaves its mark, also on the next council', () => {
  const requested = after(founded, { kind: 'request_reset' }, {}, day(1))
  const reset = after(requested, { kind: 'reset' }, {}, day(15))
  assert.deepEqual(reset, { ...none, resetAt: day(15) })
  const next: CouncilDecision = { kind: 'found', approvalsNeeded: 1, people: ['olga', 'puppet'].map(full) }
  assert.deepEqual(after(reset, next, { approvedBy: ['puppet'] }, day(16)).resetAt, day(15))
})

test('ACT-22 a council ends by its own consent, and by no single member', () => {
  const end: CouncilDecision = { kind: 'change_approvals_needed', approvalsNeeded: 0 }
  assert.equal(flawOf(founded, end), 'approvals_missing')
  assert.deepEqual(after(founded, end, { approvedBy: ['pia'] }), none)
})

test('ACT-25 a suspended signatory vetoes a reset', () => {
  const less = after(founded, { kind: 'suspend', signatoryId: 'rui' })
  const requested = after(less, { kind: 'request_reset' }, {}, day(90))
  const veto = { by: { signatoryId: 'rui', isOwner: false } }
  assert.equal(flawOf(requested, { kind: 'veto_reset' }, veto, day(91)), undefined)
})
