import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { App } from '@countersign/protocol/clients/apps'
import { codeIn } from '../../../server/testing/mailbox.ts'
import { watch } from '../../fixtures/visual-checks.ts'
import type { Person } from '../../fixtures/person.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'
import { consentMessages as consent } from '../../../web/locales/en/pages/sign-in/consent.ts'
import { consentMessages as germanConsent } from '../../../web/locales/de/pages/sign-in/consent.ts'

let stage: TestEnvironment
before(async () => {
  stage = await openStage()
})
after(() => stage.close())

const redirectUri = 'http://localhost:9/callback'

async function register(settings: Partial<App>): Promise<string> {
  const registered = await fetch(`${stage.service.baseUrl}/api/admin/apps`, {
    method: 'POST',
    headers: { ...stage.service.admin, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Ledger', redirectUris: [redirectUri], ...settings }),
  })
  const app: { clientId: string } = JSON.parse(await registered.text())
  return app.clientId
}

/** Opens the sign-in page as the app sends a browser there. */
async function goTo({ page }: Person, clientId: string, more: Record<string, string> = {}): Promise<void> {
  const parameters = { client_id: clientId, redirect_uri: redirectUri, response_type: 'code', scope: 'openid profile' }
  await page.goto(`${stage.service.authUrl}/signin?${new URLSearchParams({ ...parameters, ...more })}`)
}

/** A user with an account, whose browser finds a page at the redirect URI of the app. */
async function enroll(handle: string): Promise<Person> {
  const person = await stage.enroll({ handle, displayName: handle })
  await person.context.route(`${redirectUri}*`, (route) => route.fulfill({ body: 'Signed in' }))
  return person
}

/** The parameters that the app receives, once the browser is there. */
async function answerOf({ page }: Person): Promise<URLSearchParams> {
  await page.waitForURL(`${redirectUri}*`)
  return new URL(page.url()).searchParams
}

async function approve(person: Person): Promise<void> {
  await person.press('approve')
  assert.ok((await answerOf(person)).get('code'))
}

async function accessAt(person: Person, clientId: string) {
  await person.page.goto(`${stage.service.authUrl}/account/apps`)
  const { authorizations } = await person.call(stage.service.baseUrl, 'GET /api/oauth/authorizations')
  return authorizations.find((each) => each.clientId === clientId)?.organizationAccess
}

test('OGA-02 a user denies an app creating organizations, and finds that preselected the next time', async () => {
  const ada = await enroll('ada')
  const seen = await watch(ada, { language: 'en' })
  const clientId = await register({})
  await goTo(ada, clientId)
  const line = ada.page.getByLabel(consent.signin.organizationAccess.create)
  assert.equal(await line.isChecked(), true)
  await seen.look('consent-organizations-en')
  await line.uncheck()
  await approve(ada)
  assert.equal(await accessAt(ada, clientId), 'none')

  await goTo(ada, clientId)
  assert.ok((await answerOf(ada)).get('code'), 'no page is left to show')
  assert.equal(await accessAt(ada, clientId), 'none')
  await goTo(ada, clientId, { prompt: 'consent', ui_locales: 'de' })
  const again = ada.page.getByLabel(germanConsent.signin.organizationAccess.create)
  assert.equal(await again.isChecked(), false)
  const german = await watch(ada, { language: 'de' })
  await german.look('consent-organizations-de')
  await again.check()
  await approve(ada)
  assert.equal(await accessAt(ada, clientId), 'create')

  const reading = await register({ organizationAccess: 'read' })
  await goTo(ada, reading)
  await ada.page.getByLabel(consent.signin.organizationAccess.read, { exact: true }).waitFor()
  const nothing = await register({ organizationAccess: 'none' })
  await goTo(ada, nothing)
  await ada.page.locator('[data-action="approve"]').waitFor()
  assert.equal(await ada.page.locator('[name="organizationAccess"]').count(), 0)
  assert.deepEqual(seen.faults, [])
  await ada.leave()
})

test('APS-03 an app that requires an e-mail address: the page leads to adding one, and continues with it', async () => {
  const { mailbox } = stage
  const ben = await enroll('ben')
  const seen = await watch(ben, { language: 'en' })
  const clientId = await register({ requiredClaims: ['email'] })
  await goTo(ben, clientId, { scope: 'openid email' })
  const add = ben.page.locator('[data-action="add-email"]')
  await add.waitFor()
  assert.equal(await ben.page.locator('[data-action="approve"]').count(), 0)
  await seen.look('consent-email-required-en')

  const opened = ben.context.waitForEvent('page')
  await add.click()
  const account = await opened
  await account.locator('[data-action="email-of-identity"]').click()
  await account.locator('input[name="email"]').fill('ben@mail.example')
  await account.locator('[data-action="send-code"]').click()
  await account.locator('input[name="code"]').fill(codeIn(await mailbox.take()))
  await account.locator('[data-action="verify-email"]').click()
  // The step of the code shows the address already.
  await account.locator('input[name="code"]').waitFor({ state: 'detached' })
  await account.getByText('ben@mail.example').first().waitFor()
  await account.close()
  // Every tab of an automated browser believes to have the focus, so the event is sent explicitly.
  await ben.page.evaluate(() => dispatchEvent(new Event('focus')))
  await ben.control('approve').waitFor()
  await approve(ben)
  assert.deepEqual(seen.faults, [])
  await ben.leave()
})
