import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { adminInvitationsMessages as invitations } from '../../../web/locales/en/pages/admin/invitations.ts'
import { adminKeysMessages as keys } from '../../../web/locales/en/pages/admin/service/keys.ts'
import { adminMessages } from '../../../web/locales/en/pages/admin/console.ts'
import { adminOrganizationsMessages as organizations } from '../../../web/locales/en/pages/admin/organizations.ts'
import { adminOverviewMessages as overview } from '../../../web/locales/en/pages/admin/overview.ts'
import { foundRemoteOrganization } from '../../../server/testing/remote-organization.ts'
import { askAdmin } from '../../fixtures/admin-api.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'
import { watch } from '../../fixtures/visual-checks.ts'

let stage: TestEnvironment
before(async () => {
  stage = await openStage()
})
after(() => stage.close())

const views = { shown: { colorScheme: 'light', width: 1280 }, also: { colorScheme: 'dark', width: 360 } } as const

/** Enrolls an owner whose every page is checked. */
async function enrollOwner(handle: string, displayName: string) {
  const person = await stage.enroll({ handle, displayName })
  await person.page.setViewportSize({ width: 1280, height: 900 })
  await askAdmin(stage.service, 'POST', 'operators', { handle, role: 'owner' })
  return { person, ...(await watch(person, { language: 'en', ...views })) }
}

test('CON-08 the first operator sees what needs attention, and is led to the first steps', async () => {
  const { person, look, faults } = await enrollOwner('maria', 'Maria Mitchell')
  const { page, control, press } = person
  await page.goto(`${stage.service.authUrl}/admin`)
  await page.getByText(overview.checks.owners.title).waitFor()
  await control('first-owner').waitFor()
  await look('admin-overview')
  await press('solve-owners')
  await control('ask-add-operator').waitFor()
  await page.goBack()
  await press('first-invite')
  await control('new-invitation').waitFor()
  assert.equal(new URL(page.url()).pathname, '/admin/invitations')
  await page.goBack()
  await control('open-operators').waitFor()
  assert.deepEqual(faults, [])
})

test('CON-09 an owner reads which rows of a file are wrong, and invites the others', async () => {
  const { person, look, faults } = await enrollOwner('emmy', 'Emmy Noether')
  const { page, control, press } = person
  await page.goto(`${stage.service.authUrl}/admin/invitations`)
  await control('ask-import').waitFor()
  await press('ask-import')
  await press('send-import')
  await page.getByText(invitations.importing.missing).waitFor()
  const file = 'email,groups,language\nnoether@example.org,,de\nnobody,,\nalan@example.org,students,fr\n'
  await page.getByLabel(invitations.importing.file).setInputFiles({
    ...{ name: 'people.csv', mimeType: 'text/csv', buffer: Buffer.from(file) },
  })
  await page.getByText(invitations.importing.faults.group_not_found).waitFor()
  await page.getByText(invitations.importing.faults.invalid_email).waitFor()
  await look('admin-import-invitations')
  await press('send-import')
  await page.getByRole('cell', { name: 'noether@example.org', exact: true }).waitFor()
  const mail = await stage.mailbox.take()
  assert.deepEqual(mail.to, ['noether@example.org'])
  assert.deepEqual(faults, [])
})

test('CON-12 an owner suspends and activates an organization, and rotates the keys that sign tokens', async () => {
  const { person, look, faults } = await enrollOwner('ada', 'Ada Lovelace')
  const { page, press } = person
  const open = (section: string) => page.goto(`${stage.service.authUrl}/admin/${section}`)
  await open('organizations')
  await page.getByText(organizations.none).waitFor()
  await look('admin-no-organizations')
  const { owner, id } = await foundRemoteOrganization(stage.service, { approvalsNeeded: 1, others: 1 })
  const read = () => fetch(`${stage.service.businessUrl}/api/organizations/${id}`, { headers: owner.headers })
  assert.equal((await read()).status, 200)
  await page.reload()
  await press('organization-menu')
  await press('ask-suspend-organization')
  await look('admin-suspend-organization')
  await press('set-organization-status')
  await page.getByRole('cell', { name: organizations.statuses.suspended }).waitFor()
  await look('admin-organizations')
  assert.equal((await read()).status, 404)
  await press('organization-menu')
  await press('ask-activate-organization')
  await press('set-organization-status')
  await page.getByRole('cell', { name: organizations.statuses.active }).waitFor()
  assert.equal((await read()).status, 200)

  await open('keys')
  await page.getByRole('cell', { name: keys.states.signing }).first().waitFor()
  await press('ask-rotate-keys')
  await look('admin-rotate-keys')
  await press('rotate-keys')
  await page.getByRole('cell', { name: keys.states.published }).first().waitFor()
  await look('admin-keys')
  assert.deepEqual(faults, [])
  await press('ask-rotate-keys')
  await press('rotate-keys')
  await page.getByText(adminMessages.refused.rotation_in_progress).waitFor()
})
