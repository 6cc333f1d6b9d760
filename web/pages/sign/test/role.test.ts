import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SigningRequest } from '@countersign/protocol/signing/signing'
import { type OrganizationId, asId } from '@countersign/protocol/ids'
import { roleOf } from '../steps.ts'

type Organization = NonNullable<SigningRequest['organization']>
const organization: Organization = {
  ...{ id: asId<OrganizationId>('id'), name: 'Acme', isSigned: false, approvals: 0, approvalsNeeded: 1 },
  ...{ memberId: 'id', maySign: true, mayApprove: true, answered: null, answers: [] },
}
const role = (changes: Partial<Organization>) => roleOf({ organization: { ...organization, ...changes } })

test('a person signs for themselves, and for an organization as long as nobody has', () => {
  assert.equal(roleOf({}), 'sign')
  assert.equal(role({}), 'sign')
  assert.equal(role({ isSigned: true }), 'approve')
})

test('who may do only one of the two does that, and nobody approves where none is needed', () => {
  assert.equal(role({ maySign: false }), 'approve')
  assert.equal(role({ mayApprove: false, isSigned: true }), 'sign')
  assert.equal(role({ approvalsNeeded: 0, isSigned: true }), 'sign')
})
