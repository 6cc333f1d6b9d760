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
  Refused,
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

/** Opens the members, and holds the answers of all but the first read of the invitations. */
async function openWithHeldInvitations(members: object[], invitations: object[]) {
  const held: PromiseWithResolvers<unknown>[] = []
  let reads = 0
  const page = await renderForOrganization(
    () => h(Members, given),
    ({ name }) => {
      if (name === `GET ${path}/members`) return { members, nextCursor: null, total: members.length }
      if (name !== `GET ${path}/invitations`) return null
      reads += 1
      if (reads === 1) return { invitations }
      held.push(Promise.withResolvers())
      return held.at(-1)?.promise
    },
  )
  await page.click('[data-action="show-members"]')
  const remove = async () => {
    await page.click('[data-action="remove-of-member"]')
    await page.click('[data-action="remove-member"]')
  }
  const answer = (read: number, handles: string[]) =>
    page.after(() => held[read]?.resolve({ invitations: handles.map((handle) => pageInvitation(handle)) }))
  return { ...page, remove, answer }
}

test('after two removals the page shows the invitations of the later read', async () => {
  const carl = pageMember('carl', 'member')
  const invitations = [pageInvitation('dora'), pageInvitation('emil')]
  const { remove, answer, text } = await openWithHeldInvitations([ada, bob, carl], invitations)
  await remove()
  await remove()
  await answer(0, ['emil'])
  await answer(1, [])
  assert.match(text(), /1 member, 0 open invitations/)
})

test('invitations are read once more if one is revoked while they are read after a removal', async () => {
  const invitations = [pageInvitation('dora'), pageInvitation('emil'), pageInvitation('fay')]
  const { click, remove, answer, text } = await openWithHeldInvitations([ada, bob], invitations)
  await remove()
  await click('[data-action="show-invitations"]')
  await click('[data-action="withdraw-invitation-emil"]')
  await answer(0, ['emil', 'fay'])
  assert.doesNotMatch(text(), /@emil/)
  await answer(1, ['fay'])
  assert.match(text(), /@fay/)
  assert.doesNotMatch(text(), /@dora|@emil/)
})

test('a member can be edited while more members are read', async () => {
  const longer = Promise.withResolvers<unknown>()
  const { click, text } = await renderForOrganization(
    () => h(Members, given),
    ({ name, query }) => {
      if (name === `GET ${path}/invitations`) return { invitations: [] }
      if (name === `GET ${path}/members/${bob.memberId}`) return { member: bob }
      return query.has('cursor') ? longer.promise : { members: [bob], nextCursor: 'next', total: 2 }
    },
  )
  await click('[data-action="show-members"]')
  await click('[data-action="more"]')
  await click('[data-action="change-of-member"]')
  assert.ok(document.querySelector('dialog form'))
  assert.match(text(), /1 of 2/)
})

test('while a member is read before the change, the page says so', async () => {
  const read = Promise.withResolvers<unknown>()
  const { click, after, text } = await renderForOrganization(
    () => h(Members, given),
    answerWith([ada, bob], () => read.promise),
  )
  await click('[data-action="show-members"]')
  await click('[data-action="change-of-member"]')
  assert.match(text(), /Loading…/)
  await after(() => read.resolve({ member: bob }))
  assert.doesNotMatch(text(), /Loading…/)
  assert.ok(document.querySelector('dialog form'))
})

const inMain = () => h('main', {}, h(Members, given))

test('a member who was removed before an admin edits them is no longer shown', async () => {
  const { click, find, text } = await renderForOrganization(
    inMain,
    answerWith([bob, ada], () => new Refused(404, 'member_not_found')),
  )
  await click('[data-action="show-members"]')
  find('[data-action="member-menu"]').focus()
  await click('[data-action="change-of-member"]')
  assert.equal(document.activeElement?.localName, 'h1', 'the menu is gone')
  assert.match(find('[role=alert] .problem').textContent, /member/)
  assert.doesNotMatch(text(), /@bob/)
  assert.match(text(), /1 of 1/)
})

test('after a removal the heading has the focus', async () => {
  const { click, find } = await renderForOrganization(
    inMain,
    answerWith([bob, ada], () => null),
  )
  await click('[data-action="show-members"]')
  find('[data-action="member-menu"]').focus()
  await click('[data-action="remove-of-member"]')
  await click('[data-action="remove-member"]')
  assert.equal(document.activeElement?.localName, 'h1')
})

test('clearing a search without a match focuses the search field', async () => {
  const searched = Promise.withResolvers<undefined>()
  const { click, after, find, text } = await renderForOrganization(inMain, ({ name, query }) => {
    if (name === `GET ${path}/invitations`) return { invitations: [] }
    const members = query.has('q') ? [] : [ada, bob]
    if (query.has('q')) searched.resolve(undefined)
    return { members, nextCursor: null, total: members.length }
  })
  await click('[data-action="show-members"]')
  await after(() => {
    typeInto(find('[data-action="search-members"]'), 'x')
    return searched.promise
  })
  await after(() => find('[data-action="clear-filters"]').focus())
  await click('[data-action="clear-filters"]')
  assert.equal(document.activeElement?.getAttribute('data-action'), 'search-members')
  assert.match(text(), /@bob/)
})
