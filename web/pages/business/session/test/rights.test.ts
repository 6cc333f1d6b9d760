import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scopesOfRole, type OrganizationRole } from '@countersign/protocol/formats/role'
import { mayChange, rolesToGive, scopesToGive } from '../rights.ts'

const as = (role: OrganizationRole) => ({ role, scopes: [...scopesOfRole[role]] })

test('of an owner only owners change anything', () => {
  assert.ok(mayChange(as('owner'), { role: 'owner' }))
  assert.ok(!mayChange(as('admin'), { role: 'owner' }))
  assert.ok(mayChange(as('admin'), { role: 'admin' }))
})

test('whoever may not manage members is offered no change of any', () => {
  for (const role of ['signer', 'member', 'viewer'] as const) assert.ok(!mayChange(as(role), { role: 'viewer' }), role)
})

test('nobody is offered to give what they do not have', () => {
  assert.deepEqual(rolesToGive(as('owner')), ['owner', 'admin', 'signer', 'member', 'viewer'])
  assert.deepEqual(rolesToGive(as('admin')), ['admin', 'signer', 'member', 'viewer'])
  assert.deepEqual(rolesToGive({ role: 'member', scopes: ['read', 'manage_identities'] }), ['member', 'viewer'])
  assert.ok(!scopesToGive(as('admin')).includes('manage_org'))
  assert.deepEqual(scopesToGive({ role: 'member', scopes: ['manage_identities', 'read'] }), ['manage_identities'])
})
