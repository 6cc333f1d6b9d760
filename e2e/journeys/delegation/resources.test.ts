import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { ResponseOf } from '@countersign/protocol/api'
import { developerMessages } from '../../../web/locales/en/pages/developers.ts'
import { en } from '../../../web/locales/en/messages.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'

const words = { ...en, ...developerMessages }

let stage: TestEnvironment
before(async () => {
  stage = await openStage()
})
after(() => stage.close())

async function resource(
  key: string,
): Promise<ResponseOf<'GET /api/oauth/resource/:resourceKey'>['resource'] | undefined> {
  const answer = await fetch(`${stage.service.baseUrl}/api/oauth/resource/${key}`)
  return answer.status === 200 ? JSON.parse(await answer.text()).resource : undefined
}

test('a developer offers a resource with the keyboard alone, changes its scopes, disables and enables it', async () => {
  const ada = await stage.enroll({ handle: 'ada', displayName: 'Ada Lovelace' })
  const { page } = ada
  const { keyboard } = page
  await page.goto(`${stage.service.authUrl}/developers/new`)
  await ada.write('name', 'Planner')
  await page.locator('textarea').fill('https://planner.example/callback')
  await ada.press('create-app')
  await ada.press('confirm-secret-saved')

  await ada.control('tab-resources').focus()
  await keyboard.press('Enter')
  await ada.control('add-resource').focus()
  await keyboard.press('Enter')
  await page.getByRole('dialog', { name: words.resources.add }).waitFor()
  await keyboard.type('Calendar')
  await keyboard.press('Tab')
  await keyboard.type('Calendar')
  await keyboard.press('Tab')
  await keyboard.type('https://calendar.example')
  await keyboard.press('Tab')
  await keyboard.type('events.read See your events')
  await keyboard.press('Enter')
  await keyboard.type('events.write')
  await keyboard.press('Tab')
  await keyboard.press('Enter')
  await page.getByText(words.resources.keyInvalid).waitFor()
  await page.waitForFunction(() => document.activeElement?.getAttribute('name') === 'resourceKey')
  await keyboard.press('ControlOrMeta+a')
  await keyboard.type('calendar')
  await keyboard.press('Enter')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.getByRole('listitem').getByText('Calendar', { exact: true }).waitFor()
  // Closing a dialog returns the focus to where it was.
  await page.locator('[data-action="add-resource"]:focus').waitFor()
  assert.partialDeepStrictEqual(await resource('calendar'), {
    scopes: ['events.read', 'events.write'],
    scopeDescriptions: { 'events.read': 'See your events' },
    audience: 'https://calendar.example',
    ownerAppName: 'Planner',
  })

  await ada.press('change-resource')
  await page.getByRole('dialog').locator('textarea').fill('events.read See what you do')
  await ada.press('save-resource')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  assert.deepEqual((await resource('calendar'))?.scopeDescriptions, { 'events.read': 'See what you do' })

  await ada.press('disable-resource')
  await ada.control('enable-resource').waitFor()
  assert.equal(await resource('calendar'), undefined)
  await page.reload()
  await ada.press('enable-resource')
  await ada.control('disable-resource').waitFor()
  assert.equal((await resource('calendar'))?.status, 'active')

  await ada.press('add-resource')
  await ada.write('displayName', 'Another')
  await ada.write('resourceKey', 'calendar')
  await ada.write('audience', 'https://another.example')
  await page.getByRole('dialog').locator('textarea').fill('read')
  await ada.press('create-resource')
  await page.getByText(words.refused.resource_key_taken).waitFor()
  await ada.leave()
})
