import assert from 'node:assert/strict'
import { test } from 'node:test'
import { h } from 'preact'
import { type as typeInto } from '../../../../testing/render.ts'
import {
  type PageRequest,
  pageIdentity,
  pageInvitation,
  pageMember,
  pageOrganization,
  renderForOrganization,
} from '../../../../testing/organization-pages.ts'

const { Members } = await import('../Members.tsx')

const ada = pageMember('ada', 'owner')
const bob = pageMember('bob', 'member')
const organization = pageOrganization(ada)
const path = `/api/organizations/${organization.id}`
const nothing = () => {}

const given = {
  organization,
  identities: [pageIdentity('ada')],
  returned: undefined,
  goTo: nothing,
  onChanged: nothing,
  onMemberChanged: nothing,
  onLeft: nothing,
}

function answerWith(members: object[], answer: (request: PageRequest) => unknown) {
  return (request: PageRequest) => {
    if (request.name === `GET ${path}/members`) return { members, nextCursor: null, total: members.length }
    if (request.name === `GET ${path}/invitations`) return { invitations: [] }
    return answer(request)
  }
}

test('a removed member is no longer shown, although the list was read again meanwhile', async () => {
  const removed = Promise.withResolvers<null>()
  const { click, after, find, text } = await renderForOrganization(
    () => h(Members, given),
    answerWith([ada, bob], () => removed.promise),
  )
  const search = find('[data-action="search-members"]')
  await after(() => typeInto(search, 'b'))
  await click('[data-action="remove-of-member"]')
  await click('[data-action="remove-member"]')
  await after(() => typeInto(search, 'bo'))
  await after(() => removed.resolve(null))
  assert.doesNotMatch(text(), /@bob/)
  assert.match(text(), /1 of 1/)
  await after(() => typeInto(search, ''))
  assert.doesNotMatch(text(), /@bob/)
  assert.match(text(), /1 of 1/)
})

test('after a removal the page shows which invitations are still open', async () => {
  let invitations = [pageInvitation('carl'), pageInvitation('dora')]
  const { click, text } = await renderForOrganization(
    () => h(Members, given),
    ({ name }) => {
      if (name === `GET ${path}/members`) return { members: [ada, bob], nextCursor: null, total: 2 }
      if (name === `GET ${path}/invitations`) return { invitations }
      invitations = invitations.slice(1)
      return null
    },
  )
  await click('[data-action="remove-of-member"]')
  await click('[data-action="remove-member"]')
  assert.match(text(), /1 member, 1 open invitation/)
  await click('[data-action="show-invitations"]')
  assert.doesNotMatch(text(), /@carl/)
})
