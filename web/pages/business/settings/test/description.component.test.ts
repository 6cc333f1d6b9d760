import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type IdentityId, type OrganizationId, asId } from '@countersign/protocol/ids'
import { diffDraft, draftOf, validateDraft } from '../Description.tsx'

const organization = {
  id: asId<OrganizationId>('01900000-0000-7000-8000-000000000001'),
  name: 'Analytical Engines',
  slug: 'analytical-engines',
  logoUrl: null,
  role: 'owner' as const,
  scopes: [],
  signingAuthority: true,
  ssoRequired: false,
  requireSignedActions: false,
  approvalsNeeded: 0,
  encryptionMode: 'standard' as const,
  keyCustody: 'svc_standard' as const,
  memberId: '01900000-0000-7000-8000-000000000002',
  identityId: asId<IdentityId>('01900000-0000-7000-8000-000000000003'),
  createdAt: '2030-01-01T00:00:00.000Z',
  updatedAt: '2030-01-01T00:00:00.000Z',
}

test('what was left as it was is not sent', () => {
  const draft = draftOf(organization)
  assert.deepEqual(diffDraft(organization, draft), {})
  assert.deepEqual(diffDraft(organization, { ...draft, name: 'Engines' }), { name: 'Engines' })
})

test('what can’t be right is said before it is sent', () => {
  const draft = draftOf(organization)
  assert.deepEqual([...validateDraft(draft)], [])
  assert.deepEqual([...validateDraft({ name: ' ', slug: 'Engines!' })], ['name', 'slug'])
})
