/**
 * Takes the pictures of the documentation (`docs/pictures`) from the pages themselves: `node e2e/pictures.ts`. It needs
 * Chromium, as the browser tests do.
 */
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { openSigningApp, type SigningApp } from './apps/signing-app.ts'
import { signAct, signChange } from './apps/signed-actions.ts'
import { openStage, type TestEnvironment } from './fixtures/environment.ts'
import type { Person, PersonOptions } from './fixtures/person.ts'

const folder = join(import.meta.dirname, '../docs/pictures')
const desktop = { width: 1280, height: 800 }
const phone = { width: 390, height: 844 }

const stage = await openStage()
const approvals = await openSigningApp(stage.service)
try {
  await takeAll(stage, approvals)
} finally {
  await approvals.close()
  await stage.close()
}

async function takeAll({ service, shop }: TestEnvironment, app: SigningApp): Promise<void> {
  const { authUrl, businessUrl } = service
  const ada = await enroll('ada', 'Ada Lovelace', { viewport: desktop })
  const { page } = ada
  await visitRegistration()
  await page.goto(`${shop.origin}/sign-in?scope=openid+profile+email`)
  await ada.control('approve').waitFor()
  await page.setViewportSize({ width: 460, height: 880 })
  await take(page, 'sign-in')
  await page.setViewportSize(desktop)
  await ada.press('approve')
  await page.locator('#name').waitFor()

  await page.goto(`${authUrl}/account`)
  const identityId = (await ada.call(service.baseUrl, 'GET /api/auth/session')).identities[0]?.identityId ?? ''
  const payload = 'Pay 1,250.00 € to Babbage & Sons, Instruments\nInvoice 2026/118, due 30 November 2026\n'
  const { requestId } = await app.ask({ identityId, payload })
  await page.goto(`${authUrl}/account`)
  await ada.control('read-request').waitFor()
  await take(page, 'account-home')
  await page.goto(`${authUrl}/account/security`)
  await page.locator('.list').first().waitFor()
  await page.emulateMedia({ colorScheme: 'dark' })
  await take(page, 'security-dark')
  await page.emulateMedia({ colorScheme: 'light' })
  await page.goto(`${authUrl}/sign?requestId=${requestId}`)
  const sign = page.locator('[data-action="sign"][aria-disabled="false"]')
  await sign.waitFor()
  await take(page, 'sign')
  await sign.click()
  await page.locator('.certificate').waitFor()
  await take(page, 'signed')

  await visitOrganization(ada, businessUrl)
  await visitDevelopers(ada, authUrl)
  await visitLanding(authUrl)
  await ada.leave()
}

async function enroll(handle: string, displayName: string, options: PersonOptions): Promise<Person> {
  const person = await stage.invite(options)
  await person.page.goto(`${stage.service.authUrl}/register`)
  await person.createAccount({ handle, displayName })
  await person.press('confirm-recovery-saved')
  await person.page.waitForURL(/\/account/)
  return person
}

async function visitRegistration(): Promise<void> {
  const mary = await stage.invite({ viewport: phone })
  await mary.page.goto(`${stage.service.authUrl}/register`)
  await mary.createAccount({ handle: 'mary', displayName: 'Mary Somerville' })
  await take(mary.page, 'recovery-code-phone')
  await mary.leave()
}

async function visitOrganization(ada: Person, businessUrl: string): Promise<void> {
  const { page } = ada
  await page.goto(`${businessUrl}/organizations/new`)
  await ada.write('name', 'Analytical Engines Ltd')
  await ada.press('create-organization')
  await page.waitForURL(/\/overview$/)
  for (const [handle, name] of [
    ['charles', 'Charles Babbage'],
    ['grace', 'Grace Hopper'],
  ] as const) {
    const colleague = await enroll(handle, name, { viewport: desktop })
    await page.getByRole('link', { name: 'Members', exact: true }).first().click()
    await ada.press('invite')
    await ada.write('invitees', `@${handle}`)
    await ada.press('send-invitation')
    await signAct(page)
    await ada.press('result-saved')
    await colleague.page.goto(`${businessUrl}/organizations`)
    await colleague.page.locator('[data-action^="join-"]').click()
    await colleague.page.waitForURL(/\/overview$/)
    await colleague.leave()
  }
  await page.getByRole('link', { name: 'Members', exact: true }).first().click()
  await page.locator('[data-action="member-menu"]').last().click()
  await page.locator('[data-action="change-of-member"]').last().click()
  await page.getByRole('radio', { name: 'Admin' }).check()
  await signChange(ada, 'save-member')
  await page.getByRole('link', { name: 'Members', exact: true }).first().click()
  await page.getByText('Grace Hopper').first().waitFor()
  await take(page, 'organization-members')
  await page.getByRole('link', { name: 'Audit log', exact: true }).first().click()
  const proof = page.locator('[data-action="proof"]').first()
  await proof.locator('summary').click()
  await proof.locator('[data-action="copy-proof"]').waitFor()
  await take(page, 'organization-activity')
}

async function visitDevelopers(ada: Person, authUrl: string): Promise<void> {
  const { page } = ada
  await page.goto(`${authUrl}/developers`)
  await ada.press('new-app')
  await ada.write('name', 'Analytical Ledger')
  await page.locator('textarea').fill('http://localhost:3000/callback')
  await ada.press('create-app')
  await ada.press('confirm-secret-saved')
  await page.locator('[data-state="waiting"]').waitFor()
  await take(page, 'developer-quickstart')
  await page.goto(`${authUrl}/playground`)
  await ada.press('start')
  await ada.press('approve')
  await page.locator('[data-check]').first().waitFor()
  await take(page, 'playground')
}

/** The start page, and the account in Arabic on a phone. */
async function visitLanding(authUrl: string): Promise<void> {
  const visitor = await stage.invite({ viewport: desktop })
  await visitor.page.goto(authUrl)
  await visitor.page.locator('h1').waitFor()
  await take(visitor.page, 'landing')
  await visitor.leave()
  const layla = await enroll('layla', 'ليلى حداد', { viewport: phone, locale: 'ar-EG' })
  await take(layla.page, 'account-home-arabic-phone')
  await layla.leave()
}

/** Takes what the window shows when it is at rest. */
async function take(page: Page, name: string): Promise<void> {
  await page.waitForFunction(
    () =>
      document.querySelector('h1') !== null &&
      document.querySelector('[aria-busy="true"], .skeletons') === null &&
      document.documentElement.getAnimations({ subtree: true }).every(({ playState }) => playState === 'finished'),
  )
  await page.evaluate(() => document.fonts.ready)
  await page.screenshot({ path: join(folder, `${name}.png`) })
}
