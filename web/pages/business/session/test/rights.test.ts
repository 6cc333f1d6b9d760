import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scopesOfRole, type OrganizationRole, type OrganizationScope } from '@countersign/protocol/formats/role'
import { canUpdate, assignableRoles, assignableScopes } from '../membership.ts'

const as = (role: OrganizationRole, other: { scopes?: OrganizationScope[]; signingAuthority?: boolean } = {}) => ({
  role,
  scopes: [...scopesOfRole[role]],
  signingAuthority: scopesOfRole[role].some((scope) => scope === 'sign'),
  ...other,
})

test('of an owner only owners change anything', () => {
  assert.ok(canUpdate(as('owner'), as('owner')))
  assert.ok(!canUpdate(as('admin'), as('owner')))
  assert.ok(canUpdate(as('admin'), as('admin')))
})

test('whoever may not manage members is offered no change of any', () => {
  for (const role of ['signer', 'member', 'viewer'] as const) assert.ok(!canUpdate(as(role), as('viewer')), role)
})

test('an admin changes no member with a permission that they lack', () => {
  const manager = as('member', { scopes: ['read', 'manage_identities'] })
  assert.ok(canUpdate(manager, as('viewer')))
  assert.ok(!canUpdate(manager, as('signer')))
  assert.ok(!canUpdate(manager, as('viewer', { signingAuthority: true })))
  assert.ok(canUpdate(as('owner', { signingAuthority: false }), as('admin')))
  const ofOrganization = as('member', { scopes: ['read', 'manage_org'] })
  assert.ok(!canUpdate(as('admin', { scopes: [...scopesOfRole.owner] }), ofOrganization), 'only owners do')
  assert.ok(canUpdate(as('owner'), ofOrganization))
})

test('nobody is offered to give what they do not have', () => {
  assert.deepEqual(assignableRoles(as('owner')), ['owner', 'admin', 'signer', 'member', 'viewer'])
  assert.deepEqual(assignableRoles(as('admin')), ['admin', 'signer', 'member', 'viewer'])
  assert.deepEqual(assignableRoles({ role: 'member', scopes: ['read', 'manage_identities'] }), ['member', 'viewer'])
  assert.ok(!assignableScopes(as('admin')).includes('manage_org'))
  assert.deepEqual(assignableScopes({ role: 'member', scopes: ['manage_identities', 'read'] }), ['manage_identities'])
})
