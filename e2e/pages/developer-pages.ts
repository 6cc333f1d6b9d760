import type { Served } from '../../server/testing/service.ts'
import { startWebhookReceiver } from '../../server/testing/webhook-receiver.ts'
import type { Person } from '../fixtures/person.ts'

type Look = (name: string) => Promise<void>

/** Registers an app, sets its webhook, offers a resource, and cancels its deletion. */
export async function visitDeveloperPages(person: Person, service: Served, look: Look): Promise<void> {
  const { page } = person
  const dialog = page.getByRole('dialog')
  await page.goto(`${service.authUrl}/developers`)
  await person.control('new-app').waitFor()
  await look('developers-none')
  await person.press('new-app')
  await person.control('create-app').waitFor()
  await look('developers-new')
  await person.press('create-app')
  await page.locator('[aria-invalid="true"]').first().waitFor()
  await look('developers-new-invalid')
  await person.write('name', 'The Analytical Ledger')
  await page.locator('textarea').fill('https://ledger.analytical-engine.example/signed-in/callback')
  await person.press('create-app')
  await person.control('confirm-secret-saved').waitFor()
  await look('developers-secret')
  await person.press('confirm-secret-saved')
  await person.control('confirm-secret-saved').waitFor({ state: 'detached' })
  await look('developers-app')
  await person.control('first-sign-in').click()
  await look('developers-first-sign-in')
  await person.write('name', '')
  await person.press('save-app')
  await page.locator('[aria-invalid="true"]').first().waitFor()
  await look('developers-app-invalid')
  await person.write('name', 'The Ledger')
  await person.press('save-app')
  await page.getByRole('heading', { name: 'The Ledger', level: 1 }).waitFor()
  await look('developers-app-saved')
  await person.press('new-secret')
  await dialog.waitFor()
  await look('developers-rotate')
  await person.press('rotate-secret')
  await person.control('confirm-secret-saved').waitFor()
  await look('developers-rotated')
  await person.press('confirm-secret-saved')
  await visitWebhookPages(person, look)
  await visitResourcePages(person, look)
  await person.press('end-app')
  await person.press('delete-app')
  await dialog.locator('[aria-invalid="true"]').waitFor()
  await look('developers-delete')
  await person.press('cancel')
  await page.goto(`${service.authUrl}/developers`)
  await page.locator('.entry').waitFor()
  await look('developers-list')
  await page.goto(`${service.authUrl}/developers/apps/app_none`)
  await page.locator('h1').waitFor()
  await look('developers-unknown')
  await page.goto(`${service.authUrl}/account/data`)
  await person.press('leave')
  await person.write('confirmation', await handleOf(person, service))
  await person.press('delete-account')
  await dialog.locator('.problem').waitFor()
  await look('account-delete-with-apps')
  await person.press('cancel')
}

/** The name of their account. */
async function handleOf(person: Person, service: Served): Promise<string> {
  const { identities } = await person.call(service.baseUrl, 'GET /api/auth/session')
  return identities[0]?.handle ?? ''
}

/** Sets a webhook whose receiver accepts one event, fails at the next, and responds 410 then; finally disables it. */
async function visitWebhookPages(person: Person, look: Look): Promise<void> {
  const { page } = person
  const dialog = page.getByRole('dialog')
  const receiver = await startWebhookReceiver([204, 500, 410])
  await person.press('set-webhook')
  await page.locator('[aria-invalid="true"]').waitFor()
  await look('developers-webhook-invalid')
  await person.write('webhookUrl', receiver.url)
  await person.press('set-webhook')
  await person.control('confirm-secret-saved').waitFor()
  await look('developers-webhook-secret')
  await person.press('confirm-secret-saved')
  await look('developers-webhook-untried')
  await person.press('test-webhook')
  await page.locator('[data-state="delivered"]').waitFor()
  await look('developers-webhook-delivered')
  await person.press('test-webhook')
  await page.locator('[data-state="pending"]').getByText('500').waitFor()
  await page.reload()
  await person.control('test-webhook').waitFor()
  await look('developers-webhook-waiting')
  await person.press('test-webhook')
  await page.locator('[data-state="failed"]').first().waitFor()
  await page.reload()
  await person.control('save-webhook').waitFor()
  await look('developers-webhook-gone')
  await person.press('save-webhook')
  await person.control('send-again').first().waitFor()
  await look('developers-webhook-failed')
  await person.press('end-webhook')
  await dialog.waitFor()
  await look('developers-webhook-remove')
  await person.press('remove-webhook')
  await person.control('set-webhook').waitFor()
  await receiver.close()
}

/** Offers a resource, changes it and disables it. */
async function visitResourcePages(person: Person, look: Look): Promise<void> {
  const { page } = person
  const dialog = page.getByRole('dialog')
  await person.press('add-resource')
  await dialog.waitFor()
  await look('developers-resource-new')
  await person.press('create-resource')
  await dialog.locator('[aria-invalid="true"]').first().waitFor()
  await look('developers-resource-invalid')
  await person.write('displayName', 'The Ledger’s entries')
  const key = `ledger-entries-${crypto.randomUUID()}`
  await person.write('resourceKey', key)
  await person.write('audience', `https://${key}.analytical-engine.example/accounts/api`)
  const lines = ['entries.read See the entries of your ledger', 'entries.write Make new entries', 'entries.delete']
  await dialog.locator('textarea').fill(lines.join('\n'))
  await person.press('create-resource')
  await person.control('change-resource').waitFor()
  await look('developers-resource')
  await person.press('change-resource')
  await dialog.waitFor()
  await look('developers-resource-change')
  await person.press('cancel')
  await person.press('disable-resource')
  await person.control('enable-resource').waitFor()
  await look('developers-resource-disabled')
}
