import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asId, type IdentityId, type OrganizationId } from '@countersign/protocol/ids'
import type { OwnInvitation } from '@countersign/protocol/organizations/invitations'
import { h } from 'preact'
import { renderInPage } from '../../../../testing/render.ts'

const { InvitationCard } = await import('../Invitations.tsx')

const invitation: OwnInvitation = {
  organizationId: asId<OrganizationId>('01900000-0000-7000-8000-000000000001'),
  invitationId: '01900000-0000-7000-8000-000000000002',
  organization: { name: 'Analytical Engines', slug: 'engines', logoUrl: null },
  invitedBy: { handle: 'ada', displayName: 'Ada Lovelace', avatarUrl: null },
  role: 'signer',
  email: 'charles@example.com',
  createdAt: '2030-01-01T00:00:00.000Z',
  expiresAt: '2030-01-08T00:00:00.000Z',
  identityIds: [asId<IdentityId>('01900000-0000-7000-8000-000000000003')],
  canJoin: true,
}

test('open invitations are counted, say who invites as what, and lead to where they are answered', async () => {
  const invitations = [invitation, { ...invitation, invitationId: 'another', canJoin: false }]
  const { find, text } = await renderInPage(() => h(InvitationCard, { invitations }))
  assert.equal(find('.count').textContent, '2')
  assert.match(text(), /Join Analytical Engines as Signer/)
  assert.match(text(), /From Ada Lovelace \(@ada\), expires /)
  assert.equal(find('[data-action="answer-invitation"]').getAttribute('href'), 'https://business.example/organizations')
  assert.equal(text().split('charles@example.com').length, 2, 'one of them needs the link of the mail')
})

test('without an invitation, nothing is shown', async () => {
  const { text } = await renderInPage(() => h(InvitationCard, { invitations: [] }))
  assert.equal(text(), '')
})
