import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { adminAuditMessages as audit } from '../../../web/locales/en/pages/admin/audit.ts'
import { askAdmin } from '../../fixtures/admin-api.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'
import { watch } from '../../fixtures/visual-checks.ts'

let stage: TestEnvironment
before(async () => {
  stage = await openStage()
})
after(() => stage.close())

const views = { shown: { colorScheme: 'light', width: 1280 }, also: { colorScheme: 'dark', width: 360 } } as const
const create = (path: string, body: object) => askAdmin(stage.service, 'POST', path, body)

test('CON-13 the audit log says how many events are new, and shows them when the operator asks', async () => {
  const person = await stage.enroll({ handle: 'annie', displayName: 'Annie Easley' })
  await person.page.setViewportSize({ width: 1280, height: 900 })
  const { look, faults } = await watch(person, { language: 'en', ...views })
  await create('operators', { handle: 'annie', role: 'owner' })
  const { page, control, press } = person
  const followed = page.waitForResponse((response) => response.url().includes('/api/admin/audit/stream'))
  await page.goto(`${stage.service.authUrl}/admin/audit`)
  const events = page.locator('.audit-log > li')
  await events.first().waitFor()
  assert.equal((await followed).status(), 200)
  const count = await events.count()
  for (const key of ['one', 'two', 'three']) await create('groups', { key: `annie-${key}`, displayName: key })
  await page.getByRole('button', { name: audit.showNew(3, false) }).waitFor()
  assert.equal(await events.count(), count)
  assert.equal(await events.getByText('annie-').count(), 0)
  await look('admin-audit-new')
  await press('show-new-events')
  await events.getByText('group.created').nth(2).waitFor()
  await control('show-new-events').waitFor({ state: 'detached' })

  const filtered = page.waitForResponse((response) => /audit\/stream\?action=group/.test(response.url()))
  await control('filter-action').fill('group')
  await press('filter-events')
  await filtered
  await create('apps', { name: 'Not shown', redirectUris: ['https://app.example/callback'] })
  await create('groups', { key: 'annie-four', displayName: 'four' })
  await page.getByRole('button', { name: audit.showNew(1, false) }).waitFor()
  assert.deepEqual(faults, [])
})
