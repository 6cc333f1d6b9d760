import type { Served } from '../../server/testing/service.ts'
import type { ActingApp } from '../apps/acting-app.ts'
import type { Person } from '../fixtures/person.ts'

type Look = (name: string) => Promise<void>
type Given = { service: Served; app: ActingApp; handle: string }

/** Lets an app act at another with more and more scopes, until the other offers no more; then ends all of it. */
export async function visitConnectorPages(person: Person, { service, app, handle }: Given, look: Look): Promise<void> {
  const { page } = person
  await page.goto(app.connectUrl({ login_hint: handle }))
  await person.control('approve').waitFor()
  await look('connect-consent')
  await person.press('approve')
  const { code = '' } = await app.answerIn(page)
  const { body } = await app.redeem(code)
  await app.exchange(body['access_token_jwt'] ?? '')

  const scope = 'calendar.read calendar.write calendar.delete'
  await page.goto(app.connectUrl({ login_hint: handle, scope, mode: 'background' }))
  await person.control('approve').waitFor()
  await look('connect-wider')
  await app.change('calendar', { status: 'disabled' })
  await person.press('approve')
  await person.control('back').waitFor()
  await look('connect-withdrawn')
  await app.change('calendar', { status: 'active' })
  await visitDelegationPages(person, service, look)
}

async function visitDelegationPages(person: Person, service: Served, look: Look): Promise<void> {
  const { page } = person
  const dialog = page.getByRole('dialog')
  await page.goto(`${service.authUrl}/account/apps`)
  await page.locator('.delegations summary').click()
  await page.locator('.uses').waitFor()
  await look('account-delegations')
  await page.locator('.delegations [data-action="revoke"]').click()
  await dialog.waitFor()
  await look('account-end-delegation')
  await person.press('cancel')
  await person.control('revoke').first().click()
  await dialog.waitFor()
  await look('account-disconnect-source')
  await person.press('revoke')
  await dialog.waitFor({ state: 'detached' })
  await page.locator('.delegations summary').first().click()
  await look('account-ended-delegations')
}
