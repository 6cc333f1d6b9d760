import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asId, type OrganizationId } from '@countersign/protocol/ids'
import type { OrganizationMember } from '@countersign/protocol/organizations/organizations'
import type { OwnInvitation } from '@countersign/protocol/organizations/invitations'
import { event } from '../../../testing/render.ts'
import {
  type PageRequest,
  pageIdentity,
  pageMember,
  pageOrganization,
  renderForOrganization,
} from '../../../testing/organization-pages.ts'

const { OrganizationsApp } = await import('../Business.tsx')
// The pages load these when they are opened.
await Promise.all([
  import('../OrganizationList.tsx'),
  import('../OrganizationPage.tsx'),
  import('../overview/Overview.tsx'),
  import('../members/Members.tsx'),
])

const organizationOf = (name: string) =>
  pageOrganization(pageMember('ada', 'member'), { id: asId<OrganizationId>(name), name })

function invitationTo(name: string): OwnInvitation {
  const { id: organizationId } = organizationOf(name)
  const { identityId } = pageIdentity('ada')
  return {
    organizationId,
    invitationId: name,
    organization: { name, slug: name, logoUrl: null },
    invitedBy: { displayName: 'Bob', handle: 'bob', avatarUrl: null },
    role: 'member',
    email: null,
    createdAt: '2030-01-01T00:00:00.000Z',
    expiresAt: '2030-01-07T00:00:00.000Z',
    identityIds: [identityId],
    canJoin: true,
  }
}

function openList(answer: (request: PageRequest) => unknown) {
  return renderForOrganization(OrganizationsApp, (request) => {
    const { name } = request
    if (name === 'GET /api/auth/session')
      return { user: { userId: 'user' }, identities: [pageIdentity('ada')], authMethod: 'passkey' }
    if (name === 'GET /api/organizations') return { organizations: [] }
    if (name === 'GET /api/account/invitations') return { invitations: [invitationTo('Alpha'), invitationTo('Beta')] }
    return answer(request)
  })
}

test('an organization that was joined while another invitation was declined stays', async () => {
  const declined = Promise.withResolvers<null>()
  location.href = 'https://business.example/organizations'
  const { click, after, text } = await openList(({ name }) => {
    if (name.endsWith('/accept')) return { organization: organizationOf('Alpha') }
    if (name.endsWith('/decline')) return declined.promise
    if (name.endsWith('/members')) return { members: [], nextCursor: null, total: 1 }
    return { documents: [], waiting: 0, nextCursor: null, signers: 0, approvers: 0, maySign: false, mayApprove: false }
  })
  await click('[data-action="decline-Beta"]')
  await click('[data-action="join-Alpha"]')
  await after(() => declined.resolve(null))
  assert.equal(location.pathname, '/organizations/Alpha/overview')
  assert.doesNotMatch(text(), /Organization not found/)
  assert.match(text(), /Alpha/)
})

const owner = pageMember('ada', 'owner')
const company = pageOrganization(owner)
const path = `/api/organizations/${company.id}`

/** Opens the members of an organization in which two identities of the user are. */
async function openMembers(second: OrganizationMember, answer: (request: PageRequest) => unknown) {
  location.href = `https://business.example/organizations/${company.id}/members`
  return renderForOrganization(OrganizationsApp, (request) => {
    const { name } = request
    if (name === 'GET /api/auth/session') {
      const identities = [pageIdentity('ada'), pageIdentity('countess')]
      return { user: { userId: 'user' }, identities, authMethod: 'passkey' }
    }
    if (name === 'GET /api/account/invitations') return { invitations: [] }
    if (name === 'GET /api/organizations') return { organizations: [company, pageOrganization(second)] }
    if (name === `GET ${path}/invitations`) return { invitations: [] }
    if (name === `GET ${path}/members`) return { members: [owner, second], nextCursor: null, total: 2 }
    if (name.startsWith('GET')) return { member: owner }
    return answer(request)
  })
}

test('an owner who gives up that role is offered only what the new one allows', async () => {
  const { click, after, find, text } = await openMembers(pageMember('countess', 'viewer'), () => ({
    member: { ...owner, role: 'viewer', scopes: ['read'], signingAuthority: false },
  }))
  await click('[data-action="change-of-member"]')
  await click('input[name="role"][value="viewer"]')
  await after(() => find('dialog form').dispatchEvent(event('submit')))
  assert.match(text(), /You are Viewer/)
  assert.equal(document.querySelector('[data-action="invite"]'), null)
  assert.equal(document.querySelector('[data-action="change-of-member"]'), null)
})

test('a user who leaves with one identity goes on as the other one', async () => {
  const { click, text, requests } = await openMembers(pageMember('countess', 'member'), () => null)
  await click('[data-action="leave-of-member"]')
  await click('[data-action="leave-organization"]')
  assert.match(text(), /You are Member/)
  const at = requests.length
  await click('[data-action="export-members"]')
  assert.deepEqual(
    requests.slice(at).map(({ query }) => query.get('identity_id')),
    [pageIdentity('countess').identityId],
  )
})

test('after a user leaves with one identity, the other one reads the open invitations again', async () => {
  const { click, requests } = await openMembers(pageMember('countess', 'admin'), () => null)
  await click('[data-action="leave-of-member"]')
  await click('[data-action="leave-organization"]')
  const reads = requests.filter(({ name }) => name === `GET ${path}/invitations`)
  assert.deepEqual(
    reads.map(({ query }) => query.get('identity_id')),
    [pageIdentity('ada').identityId, pageIdentity('countess').identityId],
  )
})
