import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import type { OperatorRole } from '@countersign/protocol/formats/registries/permissions'
import { en } from '../../../web/locales/en/messages.ts'
import { adminAppsMessages as apps } from '../../../web/locales/en/pages/admin/apps.ts'
import { adminAuditMessages as audit } from '../../../web/locales/en/pages/admin/audit.ts'
import { adminMessages } from '../../../web/locales/en/pages/admin/console.ts'
import { adminGroupsMessages as groups } from '../../../web/locales/en/pages/admin/groups.ts'
import { adminInvitationsMessages as invitations } from '../../../web/locales/en/pages/admin/invitations.ts'
import { adminSettingsMessages as settings } from '../../../web/locales/en/pages/admin/service/settings.ts'
import { adminPeopleMessages as words } from '../../../web/locales/en/pages/admin/people.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'
import type { Person } from '../../fixtures/person.ts'
import { watch } from '../../fixtures/visual-checks.ts'

let stage: TestEnvironment
before(async () => {
  stage = await openStage({ IMPRINT_URL: 'https://example.org/imprint' })
})
after(() => stage.close())

async function create(path: string, body: object): Promise<void> {
  const answer = await fetch(`${stage.service.baseUrl}/api/admin/${path}`, {
    method: 'POST',
    headers: { ...stage.service.admin, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  assert.equal(answer.status, 201, await answer.text())
}

const makeOperator = (handle: string, role: OperatorRole) => create('operators', { handle, role })

const views = { shown: { colorScheme: 'light', width: 1280 }, also: { colorScheme: 'dark', width: 360 } } as const

/** Enrolls a user whose every page is checked. */
async function enroll(handle: string, displayName: string) {
  const person = await stage.enroll({ handle, displayName })
  await person.page.setViewportSize({ width: 1280, height: 900 })
  return { person, ...(await watch(person, { language: 'en', ...views })) }
}

async function search({ page, control }: Person, text: string): Promise<void> {
  await control('search-people').fill(text)
  await page
    .getByRole('status')
    .filter({ hasText: words.found('1', 1, true) })
    .waitFor()
}

test('CON-01 an owner finds a user, suspends them, and sees it in their activity', async () => {
  const grace = await stage.enroll({ handle: 'grace', displayName: 'Grace Hopper' })
  const { person: ada, look, faults } = await enroll('ada', 'Ada Lovelace')
  await makeOperator('ada', 'owner')
  const { page, control, press, write } = ada
  await page.goto(`${stage.service.authUrl}/admin/people`)
  await control('open-identity').first().waitFor()
  await look('admin-people')
  await search(ada, 'gra')
  await press('open-identity')
  await control('ask-suspend').waitFor()
  await look('admin-identity')
  await press('ask-suspend')
  await press('suspend')
  await page.getByText(words.suspend.reasonMissing).waitFor()
  await write('reason', 'Left the company')
  await look('admin-suspend')
  await press('suspend')
  await control('ask-activate').waitFor()
  await page.locator('article').getByText('Left the company').waitFor()
  await look('admin-suspended')
  await press('tab-activity')
  await page.locator('article').getByText('Suspended by the operator').waitFor()
  await look('admin-activity')

  await grace.page.goto(`${stage.service.authUrl}/account`)
  await grace.page.waitForURL(/\/login/)
  await press('tab-overview')
  await press('ask-activate')
  await press('activate')
  await control('ask-suspend').waitFor()

  await press('ask-delete')
  await press('delete-identity')
  await page.getByText(words.remove.confirmWrong).waitFor()
  await write('reason', 'Left the company')
  await write('confirm', 'grace')
  await look('admin-delete-identity')
  await press('delete-identity')
  await control('ask-restore').waitFor()
  await look('admin-identity-to-delete')
  await press('ask-restore')
  await press('restore-identity')
  await control('ask-delete').waitFor()

  await page.goto(`${stage.service.authUrl}/account`)
  await page.locator('.areas a[href$="/admin"]').waitFor()
  assert.deepEqual(faults, [])
})

test('CON-02 a user who is no operator reads that, and an operator reads which permission they lack', async () => {
  const { person, look, faults } = await enroll('charles', 'Charles Babbage')
  const { page } = person
  await page.goto(`${stage.service.authUrl}/admin`)
  await page.getByText(adminMessages.none.title).waitFor()
  await look('admin-no-operator')
  await page.goto(`${stage.service.authUrl}/account`)
  await page.locator('.page-head').waitFor()
  assert.equal(await page.locator('.areas a[href$="/admin"]').count(), 0)
  assert.deepEqual(faults, [])

  await makeOperator('charles', 'apps')
  await page.goto(`${stage.service.authUrl}/admin/people`)
  await page.locator('.empty code').getByText('people.read').waitFor()
})

test('CON-04 an owner decides by a group who may use an app, adds an operator, and creates a token', async () => {
  await stage.enroll({ handle: 'alan', displayName: 'Alan Turing' })
  await create('apps', { name: 'Grafana', redirectUris: ['https://grafana.example/callback'] })
  const { person, look, faults } = await enroll('konrad', 'Konrad Zuse')
  await makeOperator('konrad', 'owner')
  const { page, control, press, write } = person
  const open = (section: string) => page.goto(`${stage.service.authUrl}/admin/${section}`)
  await open('groups')
  await press('new-group')
  await write('key', 'eng')
  await look('admin-new-group')
  await press('create-group')
  await press('ask-add-member')
  await write('identity', '@alan')
  await press('add-group-member')
  await control('ask-remove-member').waitFor()
  await press('ask-edit-group')
  await write('name', 'Engineering')
  await page.getByLabel(groups.protected.label).check()
  await look('admin-edit-group')
  await press('save-group')
  await page.getByRole('heading', { name: 'Engineering' }).waitFor()
  await page.locator('.page-head .chip').getByText(groups.protected.label).waitFor()
  await look('admin-group')
  await open('people')
  await page.getByLabel(words.group, { exact: true }).selectOption('eng')
  await page
    .getByRole('status')
    .filter({ hasText: words.found('1', 1, true) })
    .waitFor()
  await look('admin-people-of-group')
  await open('groups')
  await control('open-group').waitFor()
  await look('admin-groups')

  await open('apps')
  // The newest app comes first.
  await control('edit-access').first().click()
  await page.getByLabel(apps.modes.restricted).check()
  await write('groups', 'eng')
  await look('admin-app-access')
  await press('save-access')
  await page.getByRole('cell', { name: 'eng', exact: true }).waitFor()
  await look('admin-apps')

  await open('operators')
  await press('ask-add-operator')
  await write('handle', 'alan')
  await press('add-operator')
  await page.locator('.list').getByText('Alan Turing').waitFor()
  await look('admin-operators')
  await press('tab-tokens')
  await press('ask-create-token')
  await write('name', 'Terraform')
  await page.getByLabel('apps.read').check()
  await write('networks', 'example.org')
  await press('create-token')
  await page.locator('.problem').waitFor()
  await write('networks', '192.0.2.0/24 2001:db8::/48')
  await look('admin-new-token')
  await press('create-token')
  await control('admin-token-saved').waitFor()
  await look('admin-token')
  await press('admin-token-saved')
  await page.locator('.list').getByText('Terraform').waitFor()
  await page.locator('.list').getByText('192.0.2.0/24').waitFor()
  await look('admin-tokens')
  await press('tab-directories')
  await press('ask-create-scim-token')
  await press('create-scim-token')
  await page.locator('.problem').waitFor()
  await write('name', 'Okta')
  await look('admin-new-directory')
  await press('create-scim-token')
  await control('scim-token-saved').waitFor()
  assert.match((await page.locator('[data-name="scim-url"]').textContent()) ?? '', /\/scim\/v2$/)
  await look('admin-directory-token')
  await press('scim-token-saved')
  await page.locator('.list').getByText('Okta').waitFor()
  await press('ask-rotate-scim-token')
  await press('rotate-scim-token')
  await press('scim-token-saved')
  await look('admin-directories')
  await press('ask-delete-scim-token')
  await press('delete-scim-token')
  await page.locator('.list').getByText('Okta').waitFor({ state: 'detached' })

  await open('audit')
  await page.locator('.audit-log').getByText('admin_token.created').first().waitFor()
  await look('admin-audit')
  const events = page.locator('.audit-log > li')
  await control('filter-action').fill('group.member')
  await press('filter-events')
  await events.getByText('admin_token.created').first().waitFor({ state: 'detached' })
  await control('filter-identity').fill('@alan')
  await press('filter-events')
  await control('clear-filters').waitFor()
  await events.getByText('group.member.added').waitFor()
  await look('admin-audit-filtered')
  await control('filter-app').fill('no-such-app')
  await press('filter-events')
  await page.getByText(audit.noMatch).waitFor()
  await look('admin-audit-none')
  await press('clear-filters')
  await events.getByText('admin_token.created').first().waitFor()
  assert.deepEqual(faults, [])
})

test('CON-05 an owner creates a link that registers accounts, mails an invitation, and revokes it', async () => {
  await create('groups', { key: 'staff', displayName: 'Staff' })
  const { person, look, faults } = await enroll('emmy', 'Emmy Noether')
  await makeOperator('emmy', 'owner')
  const { page, control, press, write } = person
  await page.goto(`${stage.service.authUrl}/admin/invitations`)
  await control('new-invitation').waitFor()
  await look('admin-no-invitations')
  await press('new-invitation')
  await write('uses', '0')
  await write('message', 'See example.org')
  await press('create-invitation')
  await page.getByText(invitations.messageAddress).waitFor()
  await write('uses', '3')
  await write('groups', 'staff')
  await write('message', 'Welcome to the team.')
  await look('admin-new-invitation')
  await press('create-invitation')
  await control('invitation-link-saved').waitFor()
  await look('admin-invitation-link')
  const link = await page.locator('code[data-name="invitation-link"]').innerText()
  await press('invitation-link-saved')
  await page.getByRole('cell', { name: invitations.usedOf('0', '3') }).waitFor()

  const invited = await stage.invite()
  await invited.page.goto(link)
  await invited.page.getByText('Welcome to the team.').waitFor()
  await invited.createAccount({ handle: 'hedy', displayName: 'Hedy Lamarr' })

  await press('new-invitation')
  await page.getByLabel(invitations.kinds.mail.label).check()
  await look('admin-new-invitation-mail')
  await write('email', 'alonzo@example.org')
  await press('create-invitation')
  await page.getByRole('cell', { name: 'alonzo@example.org', exact: true }).waitFor()
  await page.getByRole('cell', { name: invitations.usedOf('1', '3') }).waitFor()
  await look('admin-invitations')
  await control('invitation-menu').first().click()
  await control('ask-revoke-invitation').first().click()
  await look('admin-revoke-invitation')
  await press('revoke-invitation')
  await page.getByRole('cell', { name: 'alonzo@example.org', exact: true }).waitFor({ state: 'detached' })

  const { baseUrl, admin } = stage.service
  const { groups } = await (await fetch(`${baseUrl}/api/admin/groups?key=staff`, { headers: admin })).json()
  await change(`groups/${groups[0].groupId}`, 1, { protected: true })
  await page.reload()
  await page.getByText(invitations.voidReasons.group_protected).waitFor()
  await look('admin-void-invitation')
  assert.deepEqual(faults, [])
})

/** Changes something as another operator does, on the command line. */
async function change(path: string, version: number, changed: object): Promise<void> {
  const answer = await fetch(`${stage.service.baseUrl}/api/admin/${path}`, {
    method: 'PATCH',
    headers: { ...stage.service.admin, 'content-type': 'application/json', 'if-match': `"${version}"` },
    body: JSON.stringify(changed),
  })
  assert.equal(answer.status, 200, await answer.text())
}

const changeSetting = (revision: number, settings: Record<string, string | null>) =>
  change('settings', revision, { settings })

test('CON-06 an owner changes settings, reads that they changed meanwhile, and restores a revision', async () => {
  const { person, look, faults } = await enroll('barbara', 'Barbara Liskov')
  await makeOperator('barbara', 'owner')
  const { page, control, press, write } = person
  const field = (name: string) => page.locator(`input[name="${name}"]`)
  await page.goto(`${stage.service.authUrl}/admin/settings`)
  await page.getByText(settings.noHistory).waitFor()
  await page.getByText('IMPRINT_URL').waitFor()
  assert.equal(await field('legal.imprint').count(), 0)
  await look('admin-settings')
  await write('branding.name', 'Example ID')
  await write('branding.accent', 'green')
  await write('legal.terms', 'http://example.org')
  await press('save-brand')
  await page.getByText(settings.linkProblem).waitFor()
  await page.getByText(settings.colorProblem).waitFor()
  await write('branding.accent', '#1A7F37')
  await write('legal.terms', 'https://example.org')
  await press('save-brand')
  await page.getByText(settings.revision('1')).waitFor()
  assert.equal(await field('branding.accent').inputValue(), '#1a7f37')
  assert.equal(await field('legal.terms').inputValue(), 'https://example.org/')

  await changeSetting(1, { 'legal.privacy': 'https://example.org/privacy' })
  await page.getByLabel(settings.modes.closed.label).check()
  await press('save-registration')
  await page.getByText(adminMessages.refused.version_mismatch).waitFor()
  await page.getByText(settings.revision('2')).waitFor()
  await look('admin-settings-conflict')
  assert.equal(await field('legal.privacy').inputValue(), 'https://example.org/privacy')
  await press('save-registration')
  await page.getByText(settings.revision('3')).waitFor()

  await control('ask-restore-0').waitFor()
  await press('ask-restore-1')
  await look('admin-restore')
  await press('restore-settings')
  await page.getByText(settings.restoredFrom('1')).waitFor()
  assert.equal(await page.getByLabel(settings.modes.open.label).isChecked(), true)
  assert.equal(await field('legal.privacy').inputValue(), '')
  await look('admin-settings-history')

  await write('audit.retentionDays', '12 days')
  await press('save-retention')
  await page.getByText(settings.retentionProblem).waitFor()
  await look('admin-settings-retention')
  await write('audit.retentionDays', '365')
  await press('save-retention')
  await page.getByText(settings.revision('5')).waitFor()
  assert.equal(await field('audit.retentionDays').inputValue(), '365')
  await changeSetting(5, { 'branding.name': 'Countersign', 'branding.accent': null, 'audit.retentionDays': null })
  assert.deepEqual(faults, [])
})

test('CON-07 an owner edits an identity that changed meanwhile, and exports its data', async () => {
  const mary = await stage.enroll({ handle: 'mary', displayName: 'Mary Jackson' })
  const { person, look, faults } = await enroll('dorothy', 'Dorothy Vaughan')
  await makeOperator('dorothy', 'owner')
  const { page, control, press, write } = person
  await page.goto(`${stage.service.authUrl}/admin/people`)
  await search(person, 'mary')
  await press('open-identity')
  await press('ask-edit-identity')
  await write('handle', 'm')
  await write('email', 'mary@example')
  await press('save-identity')
  await page.getByText(words.edit.emailInvalid).waitFor()
  await look('admin-edit-identity')
  await write('handle', 'mary-jackson')
  await write('email', 'mary@example.org')
  await page.locator('.copyable code').getByText('--email mary@example.org').waitFor({ state: 'attached' })

  const [, identityId = ''] = /people\/([^/]+)/.exec(page.url()) ?? []
  await change(`identities/${identityId}`, 1, { displayName: 'Mary W. Jackson' })
  await press('save-identity')
  await page.getByText(adminMessages.refused.version_mismatch).waitFor()
  assert.equal(await page.locator('input[name="displayName"]').inputValue(), 'Mary W. Jackson')
  await look('admin-edit-identity-conflict')
  await press('save-identity')
  await page.locator('article').getByText('@mary-jackson · mary@example.org').waitFor()
  await control('open-identity').getByText('Mary W. Jackson').waitFor()

  const [file] = await Promise.all([page.waitForEvent('download'), press('export-identity')])
  assert.equal(file.suggestedFilename(), 'mary-jackson.json')
  const { handle, email, emailVerified } = JSON.parse(await readFile(await file.path(), 'utf8'))
  assert.deepEqual(
    { handle, email, emailVerified },
    {
      handle: 'mary-jackson',
      email: 'mary@example.org',
      emailVerified: false,
    },
  )
  await look('admin-edited-identity')
  await mary.page.goto(`${stage.service.authUrl}/account/activity`)
  await mary.page.getByText('Username · E-mail').waitFor()
  assert.deepEqual(faults, [])

  await press('ask-edit-identity')
  await write('handle', 'dorothy')
  await press('save-identity')
  await page.getByText(en.register.handleTaken).waitFor()
})
