/** An operator changes the filter of a list while more of it is still on its way. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { adminAuditMessages as audit } from '../../../web/locales/en/pages/admin/audit.ts'
import { accountPageMessages as account } from '../../../web/locales/en/pages/account.ts'
import { adminPeopleMessages as people } from '../../../web/locales/en/pages/admin/people.ts'
import { askAdmin } from '../../fixtures/admin-api.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'
import { holdFirst } from '../../fixtures/held-request.ts'

let stage: TestEnvironment
before(async () => {
  stage = await openStage()
})
after(() => stage.close())

test('the audit log shows and follows what was chosen last, also if more of another choice arrives later', async () => {
  const { page, control, press, leave } = await stage.enroll({ handle: 'ida', displayName: 'Ida Rhodes' })
  const create = (path: string, body: object) => askAdmin(stage.service, 'POST', path, body)
  await create('operators', { handle: 'ida', role: 'owner' })
  const groups = Array.from({ length: 60 }, (_, nth) => ({ key: `ida-${nth}`, displayName: `${nth}` }))
  await Promise.all(groups.map((group) => create('groups', group)))
  const streams: string[] = []
  page.on('request', (request) => request.url().includes('/audit/stream') && streams.push(request.url()))

  await page.goto(`${stage.service.authUrl}/admin/audit`)
  const events = page.locator('.audit-log > li')
  await events.nth(49).waitFor()
  const more = await holdFirst(page, /\/api\/admin\/audit\?.*cursor=/)
  await press('more')
  await more.sent
  const followed = page.waitForResponse(/audit\/stream\?action=app/)
  await control('filter-action').fill('app')
  await press('filter-events')
  await followed
  const shown = await events.allInnerTexts()
  await more.release()
  await create('groups', { key: 'ida-not-counted', displayName: 'Not counted' })
  await create('apps', { name: 'Counted', redirectUris: ['https://app.example/callback'] })
  await page.getByRole('button', { name: audit.showNew(1, false) }).waitFor()
  assert.deepEqual(await events.allInnerTexts(), shown)
  assert.match(streams.at(-1) ?? '', /action=app/)
  await leave()
})

test('a list that is filtered announces how much it has, and clearing the filters keeps the focus', async () => {
  const { page, control, press, leave } = await stage.enroll({ handle: 'eva', displayName: 'Eva Crane' })
  await askAdmin(stage.service, 'POST', 'operators', { handle: 'eva', role: 'owner' })
  const announced = page.getByRole('status')
  await page.goto(`${stage.service.authUrl}/admin/people`)
  await control('search-people').fill('eva')
  await announced.getByText(people.found('1', 1, true), { exact: true }).waitFor()
  await control('search-people').fill('nobody-has-this-name')
  await announced.getByText(people.found('0', 0, true), { exact: true }).waitFor()

  await page.goto(`${stage.service.authUrl}/account/activity`)
  await control('search-activity').fill('nothing-has-this-name')
  await announced.getByText(account.activity.shown(0), { exact: true }).waitFor()
  await press('clear-filters')
  await page.locator('[data-action="search-activity"]:focus').waitFor()
  await leave()
})
