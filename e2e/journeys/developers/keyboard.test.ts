import { after, before, test } from 'node:test'
import { startWebhookReceiver } from '../../../server/testing/webhook-receiver.ts'
import { developerMessages as words } from '../../../web/locales/en/pages/developers.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'
import type { Person } from '../../fixtures/person.ts'

let stage: TestEnvironment
before(async () => {
  stage = await openStage()
})
after(() => stage.close())

/** Presses a button with the keyboard, as soon as it is visible. */
async function pressByKey({ control, page }: Person, action: string): Promise<void> {
  await control(action).waitFor()
  await control(action).focus()
  await page.keyboard.press('Enter')
}

/** Waits until what a selector matches has the focus. */
function focusOn({ page }: Person, selector: string): Promise<void> {
  return page.locator(`${selector}:focus`).waitFor()
}

test('a developer who uses the keyboard keeps their place when a button that they pressed goes', async (t) => {
  const receiver = await startWebhookReceiver([204])
  t.after(() => receiver.close())
  const ada = await stage.enroll({ handle: 'ada', displayName: 'Ada Lovelace' })
  const { page, control } = ada
  await page.goto(`${stage.service.authUrl}/developers/new`)
  await ada.write('name', 'Ledger')
  await pressByKey(ada, 'add-local-redirect-uri')
  await control('add-local-redirect-uri').waitFor({ state: 'detached' })
  await focusOn(ada, '[name="redirectUris"]')
  await ada.write('redirectUris', 'https://ledger.example/callback')
  await pressByKey(ada, 'create-app')
  await pressByKey(ada, 'confirm-secret-saved')
  await control('confirm-secret-saved').waitFor({ state: 'detached' })
  await focusOn(ada, 'main h1')

  await pressByKey(ada, 'add-redirect-uri')
  await control('add-redirect-uri').waitFor({ state: 'detached' })
  await focusOn(ada, 'main h1')

  await pressByKey(ada, 'tab-danger')
  await pressByKey(ada, 'new-secret')
  await pressByKey(ada, 'rotate-secret')
  await pressByKey(ada, 'confirm-secret-saved')
  await control('confirm-secret-saved').waitFor({ state: 'detached' })
  await focusOn(ada, 'main h1')

  await pressByKey(ada, 'disable-app')
  await pressByKey(ada, 'confirm-disable-app')
  await pressByKey(ada, 'enable-app')
  await control('enable-app').waitFor({ state: 'detached' })
  await focusOn(ada, 'main h1')

  await pressByKey(ada, 'tab-webhook')
  await ada.write('webhookUrl', receiver.url)
  await pressByKey(ada, 'set-webhook')
  await pressByKey(ada, 'confirm-secret-saved')
  await control('confirm-secret-saved').waitFor({ state: 'detached' })
  await focusOn(ada, 'main h1')
  await pressByKey(ada, 'test-webhook')
  await page.getByRole('status').getByText(words.webhook.testSent).waitFor()
  await ada.leave()
})
