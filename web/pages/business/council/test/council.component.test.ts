import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Council } from '@countersign/protocol/organizations/council'
import type { Proposal } from '@countersign/protocol/organizations/proposals'
import { h } from 'preact'
import {
  type PageRequest,
  pageIdentity,
  pageMember,
  pageOrganization,
  Refused,
  renderForOrganization,
} from '../../../../testing/organization-pages.ts'

const { CouncilSection } = await import('../CouncilSection.tsx')

const ada = pageMember('ada', 'owner')
const organization = pageOrganization(ada)
const path = `/api/organizations/${organization.id}`
const identities = [pageIdentity('ada')]

const noCouncil: Council = {
  approvalsNeeded: 0,
  signatories: [],
  resetRequestedAt: null,
  resetPossibleAt: null,
  resetExpiresAt: null,
  resetAt: null,
  isSignatory: false,
}

const proposal: Proposal = {
  proposalId: 'proposal',
  action: 'organization.updated',
  details: { organizationId: organization.id, approvalsNeeded: 0, from: { approvalsNeeded: 1 } },
  salt: '',
  statement: '',
  createdAt: '2030-01-01T00:00:00.000Z',
  expiresAt: '2030-01-08T00:00:00.000Z',
  proposedBy: pageIdentity('bob'),
  approvals: [],
  approvalsNeeded: 1,
  mayApprove: false,
  mayComplete: false,
}

function openCouncil(answer: (request: PageRequest) => unknown) {
  const nothing = () => {}
  const events = { goTo: nothing, onChanged: nothing, onMemberChanged: nothing, onLeft: nothing }
  const given = { organization, identities, returned: undefined, ...events }
  return renderForOrganization(() => h('main', {}, h(CouncilSection, given)), answer)
}

test('withdrawing a proposal that was completed meanwhile says so, and shows the present ones', async () => {
  let proposals = [proposal]
  const { click, find, requests } = await openCouncil(({ name }) => {
    if (name === `GET ${path}/council`) return { council: noCouncil }
    if (name === `GET ${path}/proposals`) return { proposals }
    if (name === `GET ${path}`) return { organization }
    proposals = []
    return new Refused(404, 'proposal_not_found')
  })
  find('[data-action="withdraw-proposal"]').focus()
  await click('[data-action="withdraw-proposal"]')
  assert.equal(document.activeElement?.localName, 'h1', 'the button is gone')
  assert.equal(requests.filter(({ name }) => name.startsWith('DELETE')).length, 1)
  assert.match(find('[role=alert] .problem').textContent, /was completed or withdrawn/)
  assert.equal(document.querySelectorAll('.proposal').length, 0)
})

const signatory = {
  ...{ identityId: ada.identityId, memberId: ada.memberId, handle: 'ada', displayName: 'Ada' },
  ...{ maySign: true, mayApprove: true },
  ...{ admittedAt: '2030-01-01T00:00:00.000Z', suspendedAt: null },
}

test('without a council, the page reads no members', async () => {
  const { requests } = await openCouncil(({ name }) =>
    name === `GET ${path}/council` ? { council: noCouncil } : { proposals: [], members: [ada] },
  )
  assert.ok(!requests.some(({ name }) => name === `GET ${path}/members`))
})

test('the page proposes to admit members who may approve, or sign with signing authority', async () => {
  const council: Council = { ...noCouncil, approvalsNeeded: 1, signatories: [signatory] }
  const members = [
    ada,
    pageMember('bob', 'signer'),
    pageMember('carl', 'member', { scopes: ['read', 'sign'], signingAuthority: false }),
    pageMember('dora', 'member', { scopes: ['read', 'approve'] }),
    pageMember('emil', 'member', { scopes: ['read', 'sign'], signingAuthority: true }),
  ]
  await openCouncil(({ name }) => (name === `GET ${path}/council` ? { council } : { proposals: [], members }))
  const offered = [...document.querySelectorAll('[data-action^="admit-"]')]
  assert.deepEqual(
    offered.map((button) => button.getAttribute('data-action')),
    ['admit-bob', 'admit-dora', 'admit-emil'],
  )
})

test('after the page reads again, the form shows how many approvals are needed now', async () => {
  let council: Council = { ...noCouncil, approvalsNeeded: 1, signatories: [signatory] }
  let proposals = [proposal]
  const { click, find } = await openCouncil(({ name }) => {
    if (name === `GET ${path}/council`) return { council }
    if (name === `GET ${path}/proposals`) return { proposals }
    if (name === `GET ${path}`) return { organization }
    if (name.startsWith('GET')) return { members: [ada] }
    council = { ...council, approvalsNeeded: 2 }
    proposals = []
    return new Refused(404, 'proposal_not_found')
  })
  await click('[data-action="withdraw-proposal"]')
  assert.equal(Reflect.get(find('input[name="approvalsNeeded"]'), 'value'), '2')
})
