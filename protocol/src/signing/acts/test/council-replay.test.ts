import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asId, type IdentityId } from '../../../ids.ts'
import { createCouncilReplay } from '../council-replay.ts'
import { parseActStatement, parseTrailEntry } from '../statements.ts'
import type { VerifiedTrailRecord } from '../trail-verification.ts'
import { vector } from './vector.ts'

const found = { statement: parseActStatement(vector.act.statement), entry: parseTrailEntry(vector.entry) }
assert.ok(found.statement && found.entry)
const { statement, entry } = found
const signed = (action: string): VerifiedTrailRecord => ({ entry: { ...entry, action }, acts: [statement] })
const by = (names: string[], action: string): VerifiedTrailRecord => ({
  ...signed(action),
  acts: names.map((name) => ({ ...statement, identityId: asId<IdentityId>(name) })),
})
const people = ['olga', 'pia', 'rui']
/** Replay of a trail in which three people have founded a council that needs two approvals. */
function founded() {
  const replay = createCouncilReplay()
  const signatories = people.map((identityId) => ({ identityId, maySign: true, mayApprove: true }))
  const founding = { approvalsNeeded: 2, from: { approvalsNeeded: 0, signatories } }
  assert.equal(replay.add(by(people, 'organization.updated'), founding), undefined)
  assert.equal(replay.council()?.approvalsNeeded, 2)
  return replay
}
const unsigned = (action: string): VerifiedTrailRecord => ({ entry: { ...entry, action }, acts: [] })

test('ACT-26 after the details of a decision were erased, no decision without a signature is accepted', () => {
  const replay = createCouncilReplay()
  assert.equal(replay.add(signed('organization.updated'), undefined), undefined)
  assert.equal(replay.council(), undefined)
  for (const action of ['organization.member.removed', 'organization.council.reset_vetoed'])
    assert.equal(replay.add(unsigned(action), undefined), undefined, action)
  assert.equal(replay.add(signed('organization.council.reset'), {}), undefined)
  const decisions: [action: string, details: unknown][] = [
    ['organization.signatory.admitted', undefined],
    ['organization.council.reset', undefined],
    ['organization.updated', { identityId: null, details: { changed: ['approvalsNeeded'] } }],
  ]
  for (const [action, details] of decisions)
    assert.equal(replay.add(unsigned(action), details), 'unsigned_decision', action)
})

test('ACT-27 a removal whose details were erased leaves no council that could contain the removed member', () => {
  for (const action of ['organization.member.removed', 'organization.member.keys_reset']) {
    const replay = createCouncilReplay()
    assert.equal(replay.add(unsigned(action), undefined), undefined)
    assert.deepEqual(replay.council()?.signatories, [], 'without a council, nothing is lost')
    for (const record of [unsigned(action), by(['olga'], 'organization.member.removed')]) {
      const other = founded()
      assert.equal(other.add(record, undefined), undefined)
      assert.equal(other.council(), undefined, action)
    }
  }
})

test('ACT-28 a signed decision about a council with malformed details is refused, and not taken for erased', () => {
  const malformed: [action: string, details: unknown][] = [
    ['organization.updated', { approvalsNeeded: 0 }],
    ['organization.updated', { approvalsNeeded: 0, from: { approvalsNeeded: '2' } }],
    ['organization.updated', { approvalsNeeded: '0', from: { approvalsNeeded: 2 } }],
    ['organization.updated', { requireSignedActions: false }],
    ['organization.updated', { requireSignedActions: null, from: { requireSignedActions: true } }],
    ['organization.updated', { approvalsNeeded: 0, name: 'Example', from: null }],
    ['organization.updated', null],
    ['organization.signatory.admitted', { identityId: 'puppet' }],
    ['organization.signatory.admitted', { identityId: 'puppet', from: { maySign: true } }],
    ['organization.signatory.suspended', {}],
    ['organization.member.removed', { from: {} }],
  ]
  for (const [action, details] of malformed) {
    const replay = founded()
    assert.equal(
      replay.add(by(['olga'], action), details),
      'malformed_decision',
      `${action} ${JSON.stringify(details)}`,
    )
    assert.equal(replay.council()?.approvalsNeeded, 2)
  }
  const other = founded()
  assert.equal(other.add(by(['olga'], 'organization.updated'), { name: 'Example', from: { name: 1 } }), undefined)
  const unknown = founded()
  assert.equal(unknown.add(by(['olga'], 'organization.updated'), undefined), undefined)
  const admission = by(['olga'], 'organization.signatory.admitted')
  assert.equal(unknown.add(admission, { identityId: 'puppet' }), 'malformed_decision', 'also of an unknown council')
})

test('ACT-24 a veto by the operator is ignored where no reset is pending, and one by a signatory is refused', () => {
  const at = (record: VerifiedTrailRecord, day: number, actor = record.entry.actor): VerifiedTrailRecord => ({
    ...record,
    entry: { ...record.entry, actor, at: new Date(Date.UTC(2030, 0, 1 + day)).toISOString() },
  })
  const request = at(by(['olga'], 'organization.council.reset_requested'), 0)
  const veto = unsigned('organization.council.reset_vetoed')
  const details = { identityId: null, details: {} }
  const completion = by(['olga'], 'organization.council.reset')
  for (const day of [1, 28]) {
    const replay = founded()
    assert.equal(replay.add(at(veto, 0, 'operator'), details), undefined, 'before the request')
    assert.equal(replay.add(request, {}), undefined)
    assert.equal(replay.add(at(veto, day, 'operator'), details), undefined)
    assert.equal(replay.add(at(veto, day, 'user'), details), 'no_reset')
    assert.equal(replay.add(at(completion, day + 14), {}), day === 28 ? 'reset_expired' : 'no_reset')
    assert.equal(replay.council()?.approvalsNeeded, 2)
  }
})

test('ACT-29 a council approves that signatures are no longer required, whatever the details say of before', () => {
  const update = (names: string[]) => by(names, 'organization.updated')
  const off = { requireSignedActions: false, from: { requireSignedActions: true } }
  const on = { requireSignedActions: true, from: { requireSignedActions: false } }
  const same = { requireSignedActions: false, from: { requireSignedActions: false } }
  assert.equal(founded().add(update(['olga']), off), 'approvals_missing')
  for (const details of [off, same, { requireSignedActions: false, from: {} }]) {
    const replay = founded()
    assert.equal(replay.add(update(['olga']), same), undefined, 'it changes nothing')
    assert.equal(replay.add(update(['olga']), on), undefined)
    assert.equal(replay.add(update(['olga']), details), 'approvals_missing')
    assert.equal(replay.add(update(people), details), undefined)
    assert.equal(replay.add(update(['olga']), same), undefined, 'it changes nothing')
  }
})
