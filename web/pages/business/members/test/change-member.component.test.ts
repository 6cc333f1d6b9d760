import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OrganizationMember } from '@countersign/protocol/organizations/organizations'
import { h } from 'preact'
import { event } from '../../../../testing/render.ts'
import {
  type PageRequest,
  pageIdentity,
  pageMember,
  pageOrganization,
  Refused,
  renderForOrganization,
} from '../../../../testing/organization-pages.ts'

const { Members } = await import('../Members.tsx')

const ada = pageMember('ada', 'owner')
const bob = pageMember('bob', 'admin')
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

/** Opens the dialog of Bob. Another admin has changed him since the list was read. */
async function openDialog(present: OrganizationMember | Refused) {
  const page = await renderForOrganization(
    () => h(Members, given),
    ({ name }: PageRequest) => {
      if (name === `GET ${path}/members`) return { members: [bob, ada], nextCursor: null, total: 2 }
      if (name === `GET ${path}/invitations`) return { invitations: [] }
      return present instanceof Refused ? present : { member: present }
    },
  )
  await page.click('[data-action="change-of-member"]')
  const changes = () => page.requests.filter(({ name }) => name.startsWith('PATCH')).map(({ body }) => body)
  const save = () => page.after(() => page.find('dialog form').dispatchEvent(event('submit')))
  return { ...page, changes, save }
}

test('a change of a member restores no permission that another admin has removed', async () => {
  const scopes = bob.scopes.filter((scope) => scope !== 'manage_keys')
  const { click, save, changes } = await openDialog({ ...bob, scopes })
  await click('input[name="scopes"][value="manage_sso"]')
  await save()
  assert.deepEqual(changes(), [{ scopes: scopes.filter((scope) => scope !== 'manage_sso') }])
})

test('only what was changed is sent', async () => {
  const { click, save, changes } = await openDialog(bob)
  await click('input[name="signingAuthority"]')
  await save()
  assert.deepEqual(changes(), [{ signingAuthority: false }])
})

test('a new role is sent with its permissions', async () => {
  const { click, save, changes } = await openDialog(bob)
  await click('input[name="role"][value="viewer"]')
  await save()
  assert.deepEqual(changes(), [{ role: 'viewer', scopes: ['read'], signingAuthority: false }])
})

test('what was left as it was is not sent, and the dialog closes', async () => {
  const { save, changes } = await openDialog(bob)
  await save()
  assert.deepEqual(changes(), [])
  assert.equal(document.querySelector('dialog'), null)
})

test('of a member who is gone no dialog opens, but the page says so', async () => {
  const { find } = await openDialog(new Refused(404, 'member_not_found'))
  assert.equal(document.querySelector('dialog'), null)
  assert.match(find('[role=alert] .problem').textContent, /no longer a member/)
})
