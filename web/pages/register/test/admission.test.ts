import assert from 'node:assert/strict'
import { test } from 'node:test'
import { needsEmail, refusalOf } from '../admission.ts'

test('REG-06 the setup page without the secret of its link says that the link is of no use', () => {
  for (const registration of ['open', 'domains', 'invited', 'closed'] as const) {
    assert.equal(refusalOf({ setup: '' }, { registration }), 'setup_link_expired')
    assert.equal(refusalOf({ setup: 'cs_setup_x' }, { registration }), undefined)
  }
})

test('REG-02 the page says who may register before its reader types anything', () => {
  const invited = { invitation: 'cs_inv_x' }
  for (const [registration, without, withOne] of [
    ['open', undefined, undefined],
    ['domains', undefined, undefined],
    ['invited', 'invitation_required', undefined],
    ['closed', 'registration_closed', 'registration_closed'],
  ] as const)
    assert.deepEqual([refusalOf({}, { registration }), refusalOf(invited, { registration })], [without, withOne])
})

test('REG-03 the page begins with the address where only certain domains register, unless a link admits', () => {
  const registration = 'domains'
  assert.equal(needsEmail({}, { registration }), true)
  assert.equal(needsEmail({ invitation: 'cs_inv_x' }, { registration }), false)
  assert.equal(needsEmail({ setup: 'cs_setup_x' }, { registration }), false)
  for (const other of ['open', 'invited', 'closed'] as const)
    assert.equal(needsEmail({}, { registration: other }), false)
})
