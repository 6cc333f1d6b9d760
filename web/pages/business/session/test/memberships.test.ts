import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { type IdentityId, type OrganizationId, asId } from '@countersign/protocol/ids'
import { applyPermissions, uniqueBy, replaceMembership } from '../membership.ts'

const membership = (id: string, identityId: string, role: OwnOrganization['role']): OwnOrganization => ({
  id: asId<OrganizationId>(id),
  name: id,
  slug: id,
  logoUrl: null,
  role,
  scopes: ['read'],
  signingAuthority: false,
  ssoRequired: false,
  requireSignedActions: false,
  approvalsNeeded: 0,
  encryptionMode: 'standard',
  keyCustody: 'svc_standard',
  memberId: `${id}-${identityId}`,
  identityId: asId<IdentityId>(identityId),
  createdAt: '2030-01-01T00:00:00.000Z',
  updatedAt: '2030-01-01T00:00:00.000Z',
})

test('an organization in which several of a person’s names are is shown once, as the highest of them', () => {
  const shown = uniqueBy([
    membership('engines', 'ada', 'member'),
    membership('looms', 'ada', 'viewer'),
    membership('engines', 'countess', 'owner'),
    membership('engines', 'augusta', 'owner'),
  ])
  assert.deepEqual(
    shown.map(({ id, identityId }) => [id, identityId]),
    [
      ['looms', 'ada'],
      ['engines', 'countess'],
    ],
  )
})

test('what has changed of an organization is seen under each of a person’s names, who stay who they are there', () => {
  const [one, other] = [membership('engines', 'ada', 'owner'), membership('engines', 'countess', 'viewer')]
  const elsewhere = membership('looms', 'ada', 'viewer')
  const kept = replaceMembership([one, elsewhere, other], { ...one, name: 'Engines' })
  assert.deepEqual(kept, [{ ...one, name: 'Engines' }, elsewhere, { ...other, name: 'Engines' }])
})

test('a changed member changes the membership of the user that it is, and no other', () => {
  const [one, other] = [membership('engines', 'ada', 'owner'), membership('engines', 'countess', 'viewer')]
  const may = { role: 'admin', scopes: ['read', 'sign'], signingAuthority: true } satisfies Partial<OwnOrganization>
  assert.deepEqual(applyPermissions([one, other], { memberId: one.memberId, ...may }), [{ ...one, ...may }, other])
  assert.deepEqual(applyPermissions([one, other], { memberId: 'another', ...may }), [one, other])
})
