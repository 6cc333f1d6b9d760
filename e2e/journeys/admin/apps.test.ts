import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { OperatorRole } from '@countersign/protocol/formats/registries/permissions'
import { startDocumentHost } from '../../../server/testing/document-host.ts'
import type { Served } from '../../../server/testing/service.ts'
import { adminAppsMessages as apps } from '../../../web/locales/en/pages/admin/apps.ts'
import { adminMessages } from '../../../web/locales/en/pages/admin/console.ts'
import { isolate } from '../../../web/lib/text/isolate.ts'
import { errorMessages } from '../../../web/locales/en/pages/sign-in/error.ts'
import { newChallenge } from '../../../server/testing/world.ts'
import { askAdmin } from '../../fixtures/admin-api.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'
import { foundOrganization } from '../../apps/organization-choice.ts'
import { noonZone, type Person } from '../../fixtures/person.ts'
import { openRecoveryStage } from '../../fixtures/recovery-stage.ts'
import { watch } from '../../fixtures/visual-checks.ts'

let stage: TestEnvironment
before(async () => {
  stage = await openStage({ CLIENT_ID_METADATA_DOCUMENTS: 'on' })
})
after(() => stage.close())

const views = { shown: { colorScheme: 'light', width: 1280 }, also: { colorScheme: 'dark', width: 360 } } as const

test('CON-11 an owner assigns a role of an app, and previews what the app learns', async () => {
  const person = await stage.enroll({ handle: 'ada', displayName: 'Ada Lovelace' })
  const { page, control, press, write } = person
  await page.setViewportSize({ width: 1280, height: 900 })
  await askAdmin(stage.service, 'POST', 'operators', { handle: 'ada', role: 'owner' })
  await stage.enroll({ handle: 'grace', displayName: 'Grace Hopper' })
  await askAdmin(stage.service, 'POST', 'groups', { key: 'eng', displayName: 'Engineering' })
  await foundOrganization(person, stage.service, 'Acme')
  const { clientId } = await askAdmin(stage.service, 'POST', 'apps', {
    ...{ name: 'Grafana', redirectUris: ['https://grafana.example/callback'] },
    allowedScopes: ['openid', 'profile', 'roles'],
  })
  const { look, faults } = await watch(person, { language: 'en', ...views })

  await page.goto(`${stage.service.authUrl}/admin/apps`)
  await page.getByRole('row', { name: 'Grafana' }).locator('[data-action="open-app"]').click()
  await page.getByText(apps.roles.none).waitFor()
  await look('admin-app')
  await press('ask-add-role')
  await write('key', 'No key')
  await press('save-role')
  await page.getByText(apps.roles.keyProblem).waitFor()
  await write('key', 'editor')
  await write('name', 'Editor')
  await write('groups', 'eng')
  await write('people', '@grace')
  await look('admin-new-role')
  await press('save-role')
  await page.locator('.list').getByText('@grace').waitFor()
  await press('ask-add-role')
  await write('key', 'viewer')
  await press('save-role')
  await page.locator('.list').getByText(apps.roles.unassigned).waitFor()
  await press('ask-add-role')
  await write('key', 'editor')
  await press('save-role')
  await page.getByText(apps.roles.keyTaken).waitFor()
  await look('admin-taken-role')
  await press('cancel')
  const { roles } = await askAdmin(stage.service, 'GET', `apps/${clientId}/roles`)
  assert.deepEqual(roles[0], { key: 'editor', displayName: 'Editor' })
  await askAdmin(stage.service, 'PUT', `apps/${clientId}/claims`, {
    claims: [{ claim: 'team', source: 'literal:blue', scope: 'openid' }],
  })
  await page.reload()
  await page.locator('.list').getByText('literal:blue').waitFor()
  await look('admin-app-with-roles')

  await press('ask-preview-claims')
  await write('handle', 'grace')
  await press('preview-claims')
  await page.getByText('"team": "blue"').first().waitFor()
  await look('admin-claims-preview')
  const [idToken] = await page.getByRole('dialog').locator('pre').allInnerTexts()
  assert.deepEqual(JSON.parse(idToken ?? '').roles, ['editor'])
  await page.keyboard.press('Escape')

  await control('role-menu').first().click()
  await control('ask-edit-role').first().click()
  await write('people', '')
  await press('save-role')
  await page.locator('.list').getByText('@grace').waitFor({ state: 'detached' })
  await control('role-menu').first().click()
  await control('ask-remove-role').first().click()
  await look('admin-remove-role')
  await press('remove-role')
  await page.locator('.list').getByText('editor', { exact: true }).waitFor({ state: 'detached' })
  await press('edit-access')
  await page.getByLabel(apps.modes.restricted).check()
  await write('organizations', 'acme')
  await look('admin-edit-access')
  await press('save-access')
  await page.locator('.facts').getByText('acme', { exact: true }).waitFor()
  await press('edit-access')
  await page.getByLabel(apps.modes.none).check()
  await write('organizations', '')
  const options = "--access-group '' --access-organization '' --access-contact ''"
  const command = await page.getByRole('dialog').locator('.copyable code').textContent()
  assert.ok(command?.endsWith(` --access none ${options}`), command ?? '')
  await press('save-access')
  await page.locator('.facts').getByText(apps.modes.none).waitFor()
  assert.deepEqual(faults, [])
})

/** Enrolls an operator whose every page is checked, and who is on the page of an app. */
async function enrollOperator(handle: string, role: OperatorRole, clientId: string, on = stage) {
  const person = await on.enroll({ handle, displayName: handle })
  await person.page.setViewportSize({ width: 1280, height: 900 })
  await askAdmin(on.service, 'POST', 'operators', { handle, role })
  const watched = await watch(person, { language: 'en', ...views })
  await person.page.goto(`${on.service.authUrl}/admin/apps/${encodeURIComponent(clientId)}`)
  await person.page.getByRole('heading', { name: apps.facts.title }).waitFor()
  return { person, ...watched }
}

test('ROL-05 what another operator has changed of the roles is shown, and the rest of a draft stays', async () => {
  const { clientId } = await askAdmin(stage.service, 'POST', 'apps', {
    ...{ name: 'Wiki', redirectUris: ['https://wiki.example/callback'] },
  })
  const change = (roles: { key: string; displayName?: string }[], groups: string[]) =>
    askAdmin(stage.service, 'PUT', `apps/${clientId}/roles`, { roles, roleAssignments: [{ role: 'reader', groups }] })
  await change([{ key: 'reader' }], [])
  await askAdmin(stage.service, 'POST', 'groups', { key: 'wiki', displayName: 'Wiki' })
  const { person, look, faults } = await enrollOperator('maria', 'owner', clientId)
  const { page, control, press, write } = person
  const field = (name: string) => page.locator(`input[name="${name}"]`)
  const refused = page.getByText(adminMessages.refused.version_mismatch)
  await control('role-menu').click()
  await control('ask-edit-role').click()
  await write('name', 'Readers')
  await change([{ key: 'reader' }], ['wiki'])
  await press('save-role')
  await refused.waitFor()
  assert.deepEqual([await field('name').inputValue(), await field('groups').inputValue()], ['Readers', 'wiki'])
  await look('admin-roles-changed')
  await press('save-role')
  await page.locator('.list').getByText('Readers').waitFor()
  const reader = { key: 'reader', displayName: 'Readers' }
  const now = await askAdmin(stage.service, 'GET', `apps/${clientId}/roles`)
  assert.deepEqual([now.roles, now.roleAssignments[0].groups], [[reader], ['wiki']])

  await control('role-menu').click()
  await control('ask-edit-role').click()
  await write('name', 'Everyone')
  await write('groups', '')
  await change([{ ...reader, displayName: 'All readers' }], ['wiki'])
  await press('save-role')
  await refused.waitFor()
  assert.deepEqual([await field('name').inputValue(), await field('groups').inputValue()], ['All readers', ''])
  await askAdmin(stage.service, 'PUT', `apps/${clientId}/roles`, { roles: [], roleAssignments: [] })
  await press('save-role')
  await page.getByText(apps.roles.gone(isolate('All readers'))).waitFor()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.getByText(apps.roles.none).waitFor()
  await change([reader], ['wiki'])
  await page.reload()

  await press('ask-add-role')
  await write('key', 'editor')
  await change([reader, { key: 'editor', displayName: 'Editor' }], ['wiki'])
  await press('save-role')
  await page.getByText(apps.roles.keyTaken).waitFor()
  await write('key', 'author')
  await press('save-role')
  await page.locator('.list').getByText('author', { exact: true }).first().waitFor()

  await control('role-menu').first().click()
  await control('ask-remove-role').first().click()
  await change([reader], [])
  await press('remove-role')
  await refused.waitFor()
  await press('remove-role')
  await page.getByText(apps.roles.none).waitFor()
  assert.deepEqual(faults, [])
})

/** Returns the error that an app gets for a code that never was: about its secret, or else about the code. */
async function errorFor({ baseUrl }: Served, clientId: string, secret: string): Promise<string> {
  const fields = { grant_type: 'authorization_code', code: 'none', redirect_uri: 'https://app.example/callback' }
  const body = new URLSearchParams({ ...fields, client_id: clientId, client_secret: secret })
  return (await (await fetch(`${baseUrl}/api/oauth/token`, { method: 'POST', body })).json()).error
}
const [accepted, refused] = ['invalid_grant', 'invalid_client']

test('CON-20 the old secret of an app works until the end that the page announces, or not at all', async (t) => {
  const weeks = await openRecoveryStage()
  t.after(() => weeks.close())
  const { clientId, clientSecret: first = '' } = weeks.shop.app
  const errorsFor = (...secrets: string[]) =>
    Promise.all(secrets.map((secret) => errorFor(weeks.service, clientId, secret)))
  const { person, look, faults } = await enrollOperator('ada', 'owner', clientId, weeks)
  const { page, press } = person
  const { rotate } = apps.danger
  const newSecret = () => page.locator('code[data-name="client-secret"]').innerText()

  await press('ask-rotate-secret')
  await page.getByLabel(rotate.graces.week.label).check()
  await look('admin-rotate-app-secret')
  const [response] = await Promise.all([page.waitForResponse(/\/secret\?/), press('rotate-secret')])
  const { previousUntil } = await response.json()
  const format = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: noonZone })
  await page.getByText(rotate.previousUntil(format.format(new Date(previousUntil)))).waitFor()
  await look('admin-app-secret')
  const second = await newSecret()
  await page.keyboard.press('Escape')
  await page.keyboard.press('Escape')
  assert.equal(await newSecret(), second)
  await press('client-secret-saved')
  assert.deepEqual(await errorsFor(first, second), [accepted, accepted])
  assert.deepEqual(faults, [])

  await weeks.passWeek(person)
  assert.deepEqual(await errorsFor(first, second), [refused, accepted])
  await press('ask-rotate-secret')
  await page.getByLabel(rotate.graces.none.label).check()
  await press('rotate-secret')
  await page.getByText(rotate.previousEnded).waitFor()
  assert.deepEqual(await errorsFor(second, await newSecret()), [refused, accepted])
})

test('CON-21 no user can sign in to a disabled app until it is enabled, or to a deleted one', async () => {
  const { shop } = stage
  const user = await stage.enroll({ handle: 'mary', displayName: 'Mary Jackson' })
  await user.page.goto(`${shop.origin}/sign-in`)
  await user.press('approve')
  const customer = shop.customers.get(await user.page.locator('#sub').innerText())
  assert.ok(customer)
  const { person, look, faults } = await enrollOperator('emmy', 'apps', shop.app.clientId)
  const { page, control, press, write } = person
  const isUnknown = () => user.page.getByRole('heading', { name: errorMessages.titles.invalid_client }).waitFor()

  await press('ask-disable-app')
  await look('admin-disable-app')
  await press('disable-app')
  await control('ask-enable-app').waitFor()
  await page.locator('.facts').getByText(apps.disabled).waitFor()
  await look('admin-disabled-app')
  await user.page.goto(`${shop.origin}/sign-in`)
  await isUnknown()
  await assert.rejects(shop.refresh(customer))
  await press('ask-enable-app')
  await look('admin-enable-app')
  await press('enable-app')
  await control('ask-disable-app').waitFor()
  await shop.refresh(customer)
  await user.page.goto(`${shop.origin}/sign-in`)
  assert.equal(await user.page.locator('#name').innerText(), 'Mary Jackson')

  await press('ask-delete-app')
  await write('confirm', 'paper shop')
  await press('delete-app')
  await page.getByText(apps.danger.delete.confirmWrong).waitFor()
  await look('admin-delete-app')
  await write('confirm', 'Paper Shop')
  await press('delete-app')
  await control('new-app').waitFor()
  assert.equal(page.url(), `${stage.service.authUrl}/admin/apps`)
  assert.equal(await page.getByRole('row', { name: 'Paper Shop' }).count(), 0)
  await user.page.goto(`${shop.origin}/sign-in`)
  await isUnknown()
  assert.deepEqual(faults, [])
})

test('CON-22 an operator who may only read sees how an app is registered, and no act', async () => {
  const { clientId } = await askAdmin(stage.service, 'POST', 'apps', {
    ...{ name: 'Kiosk', redirectUris: ['https://kiosk.example/callback', 'com.example.kiosk:/callback'] },
    ...{ public: true, allowedScopes: ['openid', 'roles'], websiteUrl: 'https://about.example/' },
  })
  const { person, look, faults } = await enrollOperator('alan', 'auditor', clientId)
  const facts = person.page.locator('.facts').first()
  for (const text of ['com.example.kiosk:/callback', 'openid roles', 'https://about.example/', apps.kinds.public.label])
    await facts.getByText(text).waitFor()
  await look('admin-app-read-only')
  assert.equal(await person.page.locator('main .card button').count(), 0)
  assert.deepEqual(faults, [])
})

test('CON-23 an app of a metadata document is disabled, not deleted, and its page can be reloaded', async (t) => {
  const agent = await startDocumentHost()
  t.after(() => agent.close())
  const clientId = agent.at('/agent.json')
  const redirectUri = 'https://agent.example/callback'
  const document = { client_id: clientId, client_name: 'Agent', redirect_uris: [redirectUri] }
  agent.answer('/agent.json', { body: JSON.stringify(document) })
  const user = await stage.enroll({ handle: 'hedy', displayName: 'Hedy Lamarr' })
  await user.context.route(`${redirectUri}*`, (route) => route.fulfill({ body: 'Back at the app' }))
  await signInTo(user, clientId, redirectUri)
  await user.press('approve')
  await user.page.waitForURL(`${redirectUri}*`)

  const { person, look, faults } = await enrollOperator('konrad', 'owner', clientId)
  await person.page.getByText(apps.danger.delete.described).waitFor()
  assert.equal(await person.control('ask-delete-app').count(), 0)
  assert.equal(await person.control('ask-rotate-secret').count(), 0)
  await look('admin-described-app')
  await person.press('ask-disable-app')
  await person.press('disable-app')
  await person.control('ask-enable-app').waitFor()
  await signInTo(user, clientId, redirectUri)
  await user.page.getByRole('heading', { name: errorMessages.titles.invalid_client }).waitFor()
  assert.deepEqual(faults, [])
})

async function signInTo({ page }: Person, clientId: string, redirectUri: string): Promise<void> {
  const { challenge } = newChallenge()
  const pkce = { code_challenge: challenge, code_challenge_method: 'S256' }
  const parameters = { client_id: clientId, redirect_uri: redirectUri, response_type: 'code', scope: 'openid', ...pkce }
  await page.goto(`${stage.service.authUrl}/signin?${new URLSearchParams(parameters)}`)
}
