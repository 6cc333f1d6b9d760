import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scopesOfRole, type OrganizationRole } from '@countersign/protocol/formats/role'
import { canUpdate, assignableRoles, assignableScopes } from '../membership.ts'

const as = (role: OrganizationRole) => ({ role, scopes: [...scopesOfRole[role]] })

test('of an owner only owners change anything', () => {
  assert.ok(canUpdate(as('owner'), { role: 'owner' }))
  assert.ok(!canUpdate(as('admin'), { role: 'owner' }))
  assert.ok(canUpdate(as('admin'), { role: 'admin' }))
})

test('whoever may not manage members is offered no change of any', () => {
  for (const role of ['signer', 'member', 'viewer'] as const) assert.ok(!canUpdate(as(role), { role: 'viewer' }), role)
})

test('nobody is offered to give what they do not have', () => {
  assert.deepEqual(assignableRoles(as('owner')), ['owner', 'admin', 'signer', 'member', 'viewer'])
  assert.deepEqual(assignableRoles(as('admin')), ['admin', 'signer', 'member', 'viewer'])
  assert.deepEqual(assignableRoles({ role: 'member', scopes: ['read', 'manage_identities'] }), ['member', 'viewer'])
  assert.ok(!assignableScopes(as('admin')).includes('manage_org'))
  assert.deepEqual(assignableScopes({ role: 'member', scopes: ['manage_identities', 'read'] }), ['manage_identities'])
})
