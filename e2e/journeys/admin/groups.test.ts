import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { adminGroupsMessages as words } from '../../../web/locales/en/pages/admin/groups.ts'
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
async function enroll() {
  const person = await stage.enroll({ handle: 'maria', displayName: 'Maria Mitchell' })
  await askAdmin(stage.service, 'POST', 'operators', { handle: 'maria', role: 'owner' })
  await person.page.setViewportSize({ width: 1280, height: 900 })
  return { person, ...(await watch(person, { language: 'en', ...views })) }
}

/** Creates a group as a directory does. */
async function provision(displayName: string): Promise<void> {
  const { token, url } = await askAdmin(stage.service, 'POST', 'scim-tokens', { name: 'Okta' })
  const schemas = ['urn:ietf:params:scim:schemas:core:2.0:Group']
  const answer = await fetch(`${url}/Groups`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json' },
    body: JSON.stringify({ schemas, displayName }),
  })
  assert.equal(answer.status, 201, await answer.text())
}

test('an owner protects a group of a directory, and describes one of their own', async () => {
  const { person, look, faults } = await enroll()
  const { page, control, press, write } = person
  await provision('Kernel Developers')
  await page.goto(`${stage.service.authUrl}/admin/groups`)
  await press('open-group')
  await page.getByText(words.fromDirectory).waitFor()
  assert.equal(await control('ask-add-member').count(), 0)
  await look('admin-group-of-directory')
  await press('ask-edit-group')
  await page.getByLabel(words.protected.label).check()
  assert.equal(await page.locator('input[name="name"]').count(), 0)
  await look('admin-edit-group-of-directory')
  await press('save-group')
  await page.locator('.page-head .chip').getByText(words.protected.label).waitFor()

  await page.goto(`${stage.service.authUrl}/admin/groups`)
  await press('new-group')
  await write('key', 'eng')
  await write('description', 'Builds the product')
  await look('admin-new-group-with-description')
  await press('create-group')
  await page.getByText('Builds the product').waitFor()
  await look('admin-group-with-description')
  await press('ask-edit-group')
  await write('description', '')
  await press('save-group')
  await page.getByText('Builds the product').waitFor({ state: 'detached' })
  assert.deepEqual(faults, [])
})
