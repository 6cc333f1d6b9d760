import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { twoColors } from '../../../server/testing/pictures.ts'
import { adminSettingsMessages as settings } from '../../../web/locales/en/pages/admin/service/settings.ts'
import { askAdmin } from '../../fixtures/admin-api.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'
import { watch } from '../../fixtures/visual-checks.ts'

let stage: TestEnvironment
before(async () => {
  stage = await openStage()
})
after(() => stage.close())

const views = { shown: { colorScheme: 'light', width: 1280 }, also: { colorScheme: 'dark', width: 360 } } as const

test('CON-17 an owner changes the logo of every page, removes it, and restores it', async () => {
  const person = await stage.enroll({ handle: 'ada', displayName: 'Ada Lovelace' })
  const { page, control, press } = person
  await page.setViewportSize({ width: 1280, height: 900 })
  await askAdmin(stage.service, 'POST', 'operators', { handle: 'ada', role: 'owner' })
  const { look, faults } = await watch(person, { language: 'en', ...views })
  await page.goto(`${stage.service.authUrl}/admin/settings`)
  await control('choose-picture').waitFor()
  const choice = { name: 'logo.png', mimeType: 'image/png', buffer: twoColors }
  await page.locator('input[name="picture"]').setInputFiles(choice)
  await press('save-picture')
  await page.getByText(settings.revision('1')).waitFor()
  const logo = await page.locator('.brand-preview img.mark').first().getAttribute('src')
  await look('admin-logo')
  await page.goto(`${stage.service.authUrl}/account`)
  assert.equal(await page.locator('header img.mark').getAttribute('src'), logo)

  await page.goto(`${stage.service.authUrl}/admin/settings`)
  await press('remove-picture')
  await page.getByText(settings.revision('2')).waitFor()
  assert.equal(await page.locator('.brand-preview img.mark').count(), 0)
  await press('ask-restore-1')
  await page.getByRole('dialog').waitFor()
  await look('admin-restore-logo')
  await press('restore-settings')
  await page.getByText(settings.restoredFrom('1')).waitFor()
  assert.equal(await page.locator('.brand-preview img.mark').first().getAttribute('src'), logo)
  assert.deepEqual(faults, [])
})
