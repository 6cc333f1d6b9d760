import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startWebhookReceiver } from '../../../server/testing/webhook-receiver.ts'
import { adminWebhooksMessages as german } from '../../../web/locales/de/pages/admin/receivers/webhooks.ts'
import { adminWebhooksMessages as english } from '../../../web/locales/en/pages/admin/receivers/webhooks.ts'
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

for (const [language, words] of [
  ['en', english],
  ['de', german],
] as const)
  test(`CON-16 an owner adds a webhook on the pages, tests, disables and removes it (${language})`, async (t) => {
    const receiver = await startWebhookReceiver([204, 503])
    t.after(receiver.close)
    const handle = `mary-${language}`
    const person = await stage.invite({ locale: `${language}-DE` })
    await person.page.goto(`${stage.service.authUrl}/register`)
    await person.createAccount({ handle, displayName: 'Mary Jackson' })
    await person.press('confirm-recovery-saved')
    await person.page.waitForURL(/\/account/)
    await person.page.setViewportSize({ width: 1280, height: 900 })
    const { look, faults } = await watch(person, { language, ...views })
    await create('operators', { handle, role: 'owner' })
    const { page, control, press, write } = person
    await page.goto(`${stage.service.authUrl}/admin/audit`)
    await press('tab-webhooks')
    await page.getByText(words.none).waitFor()
    await look('admin-webhooks-empty')
    await press('ask-add-webhook')
    await press('add-webhook')
    await page.locator('input[name="url"][aria-invalid="true"]').waitFor()
    await look('admin-webhooks-add')
    await write('url', receiver.url)
    await page.locator('input[name="events"][value="groups"]').check()
    await press('add-webhook')
    assert.match(await page.locator('[data-name="webhook-secret"]').innerText(), /^whsec_/)
    await look('admin-webhooks-secret')
    await press('webhook-secret-saved')

    const menu = async (action: string) => {
      await press('webhook-menu')
      await press(action)
    }
    await menu('ask-test-webhook')
    await press('test-webhook')
    await page.getByText(words.test.arrived).waitFor()
    await menu('ask-test-webhook')
    await press('test-webhook')
    await page.getByText(words.test.failed(words.answered(503))).waitFor()
    await look('admin-webhooks-test')
    await press('cancel')
    await page.getByText(words.answered(503), { exact: true }).waitFor()
    await look('admin-webhooks-failing')
    await menu('ask-rotate-webhook')
    await press('rotate-webhook')
    await press('webhook-secret-saved')
    await menu('ask-switch-webhook')
    await press('switch-webhook')
    await page.getByText(words.disabled, { exact: true }).waitFor()
    await look('admin-webhooks')
    await menu('ask-remove-webhook')
    await press('remove-webhook')
    await page.getByText(words.none).waitFor()
    assert.equal(await control('webhook-menu').count(), 0)
    const [first] = receiver.received
    assert.equal(JSON.parse(first?.body ?? '{}').type, 'service.test')
    assert.deepEqual(faults, [])
  })
