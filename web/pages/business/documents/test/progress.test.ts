import assert from 'node:assert/strict'
import { test } from 'node:test'
import { progressOf, waitsForUser } from '../progress.ts'

const open = { status: 'pending', answered: null, isSigned: false, approvals: 0, approvalsNeeded: 1 } as const
const both = { maySign: true, mayApprove: true }

test('a document counts the signature and the approvals that it needs, and no more', () => {
  assert.deepEqual(progressOf(open), { count: 0, needed: 2 })
  assert.deepEqual(progressOf({ isSigned: true, approvals: 3, approvalsNeeded: 1 }), { count: 2, needed: 2 })
})

test('a document waits for a member who may give what is missing, and has given nothing', () => {
  assert.equal(waitsForUser(open, both), true)
  assert.equal(waitsForUser(open, { maySign: false, mayApprove: false }), false)
  assert.equal(waitsForUser({ ...open, isSigned: true }, { maySign: true, mayApprove: false }), false)
  assert.equal(waitsForUser({ ...open, approvals: 1 }, { maySign: false, mayApprove: true }), false)
  assert.equal(waitsForUser({ ...open, answered: 'sign' }, both), false)
  assert.equal(waitsForUser({ ...open, status: 'expired' }, both), false)
})
