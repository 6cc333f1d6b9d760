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
    const people = ['olga', 'pia', 'rui'].map((identityId) => ({ identityId, maySign: true, mayApprove: true }))
    const founding = { approvalsNeeded: 1, from: { approvalsNeeded: 0, signatories: people } }
    const acts = people.map(({ identityId }) => ({ ...statement, identityId: asId<IdentityId>(identityId) }))
    assert.equal(replay.add({ ...signed('organization.updated'), acts }, founding), undefined)
    assert.equal(replay.council()?.signatories.length, 3)
    assert.equal(replay.add(unsigned(action), undefined), undefined)
    assert.equal(replay.council(), undefined, action)
  }
})
