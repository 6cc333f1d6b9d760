import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { adminAppsMessages as apps } from '../../../web/locales/en/pages/admin/apps.ts'
import { askAdmin } from '../../fixtures/admin-api.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'
import { foundOrganization } from '../../apps/organization-choice.ts'
import { watch } from '../../fixtures/visual-checks.ts'

let stage: TestEnvironment
before(async () => {
  stage = await openStage()
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
  await press('save-access')
  await page.locator('.facts').getByText(apps.modes.none).waitFor()
  assert.deepEqual(faults, [])
})
