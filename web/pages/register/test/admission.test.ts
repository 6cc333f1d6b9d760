import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refusalOf } from '../admission.ts'

test('REG-06 the setup page without the secret of its link says that the link is of no use', () => {
  for (const registration of ['open', 'invited', 'closed'] as const) {
    assert.equal(refusalOf({ setup: '' }, { registration }), 'setup_link_expired')
    assert.equal(refusalOf({ setup: 'cs_setup_x' }, { registration }), undefined)
  }
})

test('REG-02 the page says who may register before its reader types anything', () => {
  const invited = { invitation: 'cs_inv_x' }
  for (const [registration, without, withOne] of [
    ['open', undefined, undefined],
    ['invited', 'invitation_required', undefined],
    ['closed', 'registration_closed', 'registration_closed'],
  ] as const)
    assert.deepEqual([refusalOf({}, { registration }), refusalOf(invited, { registration })], [without, withOne])
})
