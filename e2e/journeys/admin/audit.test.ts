import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import type { AuditEvent } from '@countersign/protocol/operations/audit'
import { freePorts } from '../../../server/testing/service.ts'
import { isolate } from '../../../web/lib/text/isolate.ts'
import { adminAuditMessages as audit } from '../../../web/locales/en/pages/admin/audit.ts'
import { adminMessages } from '../../../web/locales/en/pages/admin/console.ts'
import { adminSinksMessages as sinks } from '../../../web/locales/en/pages/admin/receivers/sinks.ts'
import { askAdmin } from '../../fixtures/admin-api.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'
import type { Person } from '../../fixtures/person.ts'
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
  const announced = page.getByRole('status')
  await announced.getByText(audit.someNew, { exact: true }).waitFor()
  assert.equal(await announced.getByText(/\d new/).count(), 0, 'the growing number is not announced')
  await look('admin-audit-new')
  await press('show-new-events')
  await events.getByText('group.created').nth(2).waitFor()
  await control('show-new-events').waitFor({ state: 'detached' })

  const filtered = page.waitForResponse((response) => /audit\/stream\?action=group/.test(response.url()))
  await control('filter-action').fill('group')
  await press('filter-events')
  await filtered
  await announced.getByText(audit.shown(3), { exact: true }).waitFor()
  await create('apps', { name: 'Not shown', redirectUris: ['https://app.example/callback'] })
  await create('groups', { key: 'annie-four', displayName: 'four' })
  await page.getByRole('button', { name: audit.showNew(1, false) }).waitFor()
  await press('clear-filters')
  await page.locator('[data-action="filter-action"]:focus').waitFor()
  assert.deepEqual(faults, [])
})

test('CON-15 an owner adds a sink on the pages, reads why it gets nothing, pauses it, and removes it', async () => {
  const person = await stage.enroll({ handle: 'raye', displayName: 'Raye Montague' })
  await person.page.setViewportSize({ width: 1280, height: 900 })
  const { look, faults } = await watch(person, { language: 'en', ...views })
  await create('operators', { handle: 'raye', role: 'owner' })
  const { page, control, press, write } = person
  await page.goto(`${stage.service.authUrl}/admin/audit`)
  await press('tab-sinks')
  await page.getByText(sinks.none).waitFor()
  await look('admin-sinks-empty')
  await press('ask-add-sink')
  await press('add-sink')
  await page.locator('input[name="url"][aria-invalid="true"]').waitFor()
  await look('admin-sinks-add')
  await write('key', 'siem')
  await write('url', `http://localhost:${await unusedPort()}/events`)
  await write('authorization', 'Splunk “secret”')
  await press('add-sink')
  await page.getByText(sinks.authorizationProblem('2,000')).waitFor()
  assert.equal(await page.locator('input[name="url"]').getAttribute('aria-invalid'), 'false')
  await look('admin-sinks-authorization')
  await write('authorization', 'Splunk secret')
  await press('add-sink')
  assert.match(await page.locator('[data-name="sink-secret"]').innerText(), /^whsec_/)
  await look('admin-sinks-secret')
  await press('sink-secret-saved')

  const menu = async (action: string) => {
    await press('sink-menu')
    await press(action)
  }
  await menu('ask-test-sink')
  await press('test-sink')
  await page.getByText(sinks.test.failed(sinks.faults.unreachable)).waitFor()
  await look('admin-sinks-test')
  await press('cancel')
  await menu('ask-switch-sink')
  await press('switch-sink')
  await page.getByText(sinks.paused, { exact: true }).waitFor()
  await look('admin-sinks')
  await menu('ask-replay-sink')
  await write('after', '0')
  await press('replay-sink')
  await page.getByText(sinks.replay.done('siem')).waitFor()
  await menu('ask-rotate-sink')
  await page.getByText(sinks.rotate.what).waitFor()
  await look('admin-sinks-rotate')
  await press('rotate-sink')
  assert.match(await page.locator('[data-name="sink-secret"]').innerText(), /^whsec_/)
  await press('sink-secret-saved')
  await menu('ask-remove-sink')
  await press('remove-sink')
  await page.getByText(sinks.none).waitFor()
  assert.equal(await control('sink-menu').count(), 0)
  assert.ok(!(await page.content()).includes('Splunk secret'))
  assert.deepEqual(faults, [])
})

test('CON-19 an auditor exports what an admin token did and nothing else, until they lose the permission', async () => {
  const person = await stage.enroll({ handle: 'hedy', displayName: 'Hedy Lamarr' })
  await person.page.setViewportSize({ width: 1280, height: 900 })
  const { look, faults } = await watch(person, { language: 'en', ...views })
  const { identityId } = await create('operators', { handle: 'hedy', role: 'auditor' })
  const createAsToken = await withToken('provisioning')
  for (const key of ['hedy-one', 'hedy-two']) await createAsToken('groups', { key, displayName: key })
  await create('groups', { key: 'hedy-three', displayName: 'hedy-three' })
  const { page, control, press } = person
  await page.goto(`${stage.service.authUrl}/admin/audit`)
  const events = page.locator('.audit-log > li')
  await events.first().waitFor()
  const filtered = page.waitForResponse((response) => /audit\/stream\?.*actor=token/.test(response.url()))
  await page.getByLabel(audit.filter.actor).selectOption(audit.filter.actors.token)
  await filtered
  await page.waitForFunction(() => document.querySelectorAll('.audit-log > li').length === 2)
  const by = audit.by.token(isolate('provisioning'))
  assert.equal(await events.filter({ hasText: 'group.created' }).getByText(by).count(), 2)
  await look('admin-audit-actor')

  // What is entered, but not applied, selects nothing.
  await control('filter-action').fill('operator')
  const selected = await askAdmin(stage.service, 'GET', 'audit?actor=token')
  const lines = (await exportAs(person, 'jsonl')).trimEnd().split('\n')
  assert.deepEqual(
    lines.map((line) => JSON.parse(line)),
    selected.entries,
  )
  const [head = '', ...records] = (await exportAs(person, 'csv')).trimEnd().split('\r\n')
  assert.ok(head.startsWith('"sequence","entryId",'), head)
  assert.deepEqual(
    records.map((record) => record.split(',')[1]),
    selected.entries.map(({ entryId }: AuditEvent) => `"${entryId}"`),
  )
  await control('export-events').click()
  await look('admin-audit-export')
  await page.keyboard.press('Escape')
  await control('filter-action').fill('')

  await create('groups', { key: 'hedy-four', displayName: 'hedy-four' })
  await createAsToken('groups', { key: 'hedy-five', displayName: 'hedy-five' })
  await page.getByRole('button', { name: audit.showNew(1, false) }).waitFor()
  assert.deepEqual(faults, [])

  await control('filter-action').fill('operator')
  await control('filter-identity').fill('@hedy')
  await page.getByLabel(audit.filter.actor).selectOption(audit.filter.actors.break_glass)
  await page.getByLabel(audit.filter.period).selectOption(audit.filter.periods.day)
  await page.waitForFunction(() => document.querySelectorAll('.audit-log > li').length === 1)
  const added = JSON.parse(await exportAs(person, 'jsonl'))
  assert.deepEqual([added.action, added.identityId], ['operator.added', identityId])

  await askAdmin(stage.service, 'PATCH', `operators/${identityId}`, { role: 'people' })
  await press('export-events')
  await press('save-csv')
  await page.getByRole('alert').getByText(adminMessages.refused.permission_denied).waitFor()
  await page.reload()
  await page.locator('.empty code').getByText('audit.read').waitFor()
  assert.equal(await control('export-events').count(), 0)
  assert.equal(await events.count(), 0)
})

/** Returns the text of the file that the page exports. */
async function exportAs({ page, press }: Person, format: 'csv' | 'jsonl'): Promise<string> {
  const download = page.waitForEvent('download')
  await press('export-events')
  await press(`save-${format}`)
  const file = await download
  assert.equal(file.suggestedFilename(), `audit-log.${format}`)
  return readFile(await file.path(), 'utf8')
}

/** Creates an admin token. Returns what creates things with it. */
async function withToken(name: string): Promise<typeof create> {
  const { token } = await create('tokens', { name, permissions: ['groups.read', 'groups.manage'] })
  const service = { ...stage.service, admin: { authorization: `Bearer ${token}` } }
  return (path, body) => askAdmin(service, 'POST', path, body)
}

/** Returns a port of this machine on which nothing listens. */
async function unusedPort(): Promise<number> {
  const [port = 0] = await freePorts(1)
  return port
}
