import assert from 'node:assert/strict'
import { test } from 'node:test'
import { h } from 'preact'
import { event, type as typeInto } from '../../../../testing/render.ts'
import { watchToasts } from '../../../../components/frame/toast.ts'
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
const organization = pageOrganization(ada)
const path = `/api/organizations/${organization.id}`

const given = {
  organization,
  identities: [pageIdentity('ada')],
  returned: undefined,
  goTo: () => {},
  onChanged: () => {},
  onMemberChanged: () => {},
  onLeft: () => {},
}

/** Opens the invitations of an organization, and returns the texts of what was done. */
async function openInvitations(answer: (request: PageRequest) => unknown) {
  const toasts: string[] = []
  watchToasts((message) => message && toasts.push(message.text))
  const page = await renderForOrganization(
    () => h('main', {}, h(Members, given)),
    (request) => {
      if (request.name === `GET ${path}/members`) return { members: [ada], nextCursor: null, total: 1 }
      return answer(request)
    },
  )
  await page.click('[data-action="show-invitations"]')
  return { ...page, toasts }
}

test('revoking an invitation that was accepted meanwhile says so, and shows what is open', async () => {
  let open = [pageInvitation('bob'), pageInvitation('carl')]
  const { click, find, text, toasts, requests } = await openInvitations(({ name }) => {
    if (name === `GET ${path}/invitations`) return { invitations: open }
    open = open.slice(1)
    return new Refused(404, 'invitation_not_found')
  })
  find('[data-action="invitation-menu"]').focus()
  await click('[data-action="withdraw-invitation-bob"]')
  assert.equal(document.activeElement?.localName, 'h1', 'the menu is gone')
  assert.deepEqual(toasts, [])
  assert.match(find('[role=alert] .problem').textContent, /no longer open/)
  assert.match(text(), /@carl/)
  assert.doesNotMatch(text(), /@bob/)
  assert.equal(requests.filter(({ name }) => name === `GET ${path}/members`).length, 2, 'the member is shown')
})

test('an invitation that was accepted meanwhile leaves the members that were shown before', async () => {
  const members = ['bob', 'carl', 'dora', 'emil'].map((handle) => pageMember(handle, 'member'))
  const { click, text } = await renderForOrganization(
    () => h(Members, given),
    ({ name, query }) => {
      if (name === `GET ${path}/invitations`) return { invitations: [pageInvitation('fay')] }
      if (name !== `GET ${path}/members`) return new Refused(404, 'invitation_not_found')
      const at = Number(query.get('cursor') ?? 0)
      const nextCursor = at + 1 < members.length ? String(at + 1) : null
      return { members: [members[at]], nextCursor, total: members.length }
    },
  )
  await click('[data-action="show-members"]')
  await click('[data-action="more"]')
  await click('[data-action="more"]')
  assert.match(text(), /3 of 4/)
  await click('[data-action="show-invitations"]')
  await click('[data-action="withdraw-invitation-fay"]')
  await click('[data-action="show-members"]')
  assert.match(text(), /3 of 4/)
  assert.match(text(), /@dora/)
})

test('an invitation is revoked while another one is mailed again, whose answer changes nothing else', async () => {
  const mailed = Promise.withResolvers<unknown>()
  const dora = { handle: null, email: 'dora@example.com' }
  const { click, after, find, text, toasts } = await openInvitations(({ name }) => {
    if (name === `GET ${path}/invitations`)
      return { invitations: [pageInvitation('bob'), pageInvitation('dora', dora)] }
    if (name.startsWith('DELETE')) return null
    return mailed.promise
  })
  await click('[data-action="mail-invitation-dora"]')
  await click('[data-action="withdraw-invitation-bob"]')
  assert.doesNotMatch(text(), /@bob/)
  await after(() =>
    mailed.resolve({ invitation: pageInvitation('dora', { ...dora, mailedAt: '2030-01-01T00:00:00.000Z' }) }),
  )
  assert.doesNotMatch(text(), /@bob/)
  assert.equal(find('[data-action="show-invitations"] .count').textContent, '1')
  assert.equal(toasts.length, 2)
})

test('while an invitation is revoked, another one can be mailed again, but not revoked', async () => {
  const dora = pageInvitation('dora', { handle: null, email: 'dora@example.com' })
  const { click, requests } = await openInvitations(({ name }) =>
    name === `GET ${path}/invitations` ? { invitations: [pageInvitation('bob'), dora] } : new Promise(() => {}),
  )
  const before = requests.length
  await click('[data-action="withdraw-invitation-bob"]')
  await click('[data-action="withdraw-invitation-dora"]')
  await click('[data-action="mail-invitation-dora"]')
  assert.deepEqual(
    requests.slice(before).map(({ name }) => name.replace(`${path}/invitations/`, '')),
    ['DELETE invitation-bob', 'POST invitation-dora/mail'],
  )
})

test('an invitation that was made while the list was read again is shown once', async () => {
  const made = Promise.withResolvers<unknown>()
  let open = [pageInvitation('bob')]
  const { click, after, find, text } = await openInvitations(({ name }) => {
    if (name === `GET ${path}/invitations`) return { invitations: open }
    if (name === `POST ${path}/invitations`) return made.promise
    open = [pageInvitation('carl')]
    return new Refused(404, 'invitation_not_found')
  })
  await click('[data-action="invite"]')
  await after(() => typeInto(find('textarea[name="invitees"]'), 'carl'))
  await after(() => find('dialog form').dispatchEvent(event('submit')))
  await click('[data-action="withdraw-invitation-bob"]')
  assert.match(text(), /@carl/)
  await after(() => made.resolve({ invitation: pageInvitation('carl'), url: 'https://id.example/i', mailed: false }))
  assert.equal(find('[data-action="show-invitations"] .count').textContent, '1')
})
