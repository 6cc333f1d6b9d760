import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { codeIn } from '../../server/testing/mailbox.ts'
import { calendar, openActingApp, type ActingApp } from '../apps/acting-app.ts'
import { visitConnectorPages } from './connector-pages.ts'
import { visitDeveloperPages } from './developer-pages.ts'
import { visitAdminPages } from './admin-pages.ts'
import { visitAppKeyPages } from './app-key-pages.ts'
import { visitEnterprisePages } from './enterprise-pages.ts'
import { openKeyedApp, type KeyedApp } from '../apps/keyed-app.ts'
import { noRequest, watch } from '../fixtures/visual-checks.ts'
import { visitOrganizationChoice } from '../apps/organization-choice.ts'
import type { Person } from '../fixtures/person.ts'
import { usePasskey } from './passkey-use.ts'
import { visitRecoveryPages } from './recovery-pages.ts'
import { visitStoppedSigningPages } from './stopped-signing-pages.ts'
import { visitOrganizationPages } from './organization-pages.ts'
import { openSigningApp, type SigningApp } from '../apps/signing-app.ts'
import { visitSigningKeyPages } from '../fixtures/signing-keys.ts'
import { openStage, type TestEnvironment } from '../fixtures/environment.ts'
import type { Window } from '../fixtures/windows.ts'

let stage: TestEnvironment
let approvals: SigningApp
let notes: KeyedApp
let assistant: ActingApp

/** Tests every page in some windows: the common widths and color schemes, in every language. */
export function testPages(windows: Window[]): void {
  before(async () => {
    stage = await openStage()
    approvals = await openSigningApp(stage.service)
    notes = await openKeyedApp(stage.service)
    assistant = await openActingApp(stage.service)
    await assistant.offer(calendar)
  })
  after(async () => {
    await Promise.all([approvals.close(), notes.close(), assistant.close()])
    await stage.close()
  })
  for (const { colorScheme, width, locale, also } of windows) {
    const language = locale.slice(0, 2)
    const first = `${colorScheme}, ${width} pixels, ${language}`
    test(`every page is accessible and stable: ${first}`, async () => {
      const person = await stage.invite({ colorScheme, locale, viewport: { width, height: 740 } })
      const { look, faults } = await watch(person, { language, shown: { colorScheme, width }, ...(also && { also }) })
      await visitPages(person, `walker-${language}-${colorScheme}-${width}`, look)
      assert.deepEqual(faults, [])
      await person.leave()
    })
  }
}

/** Visits every page and every step of it, in the order in which a user might. */
async function visitPages(
  person: Person,
  handle: string,
  look: (name: string, window?: Page) => Promise<void>,
): Promise<void> {
  const { page } = person
  const at = (path: string) => page.goto(stage.service.authUrl + path)
  await at('/')
  await look('landing')
  await at('/register')
  await look('register')
  await person.press('create-account')
  await page.locator('[aria-invalid="true"]').first().waitFor()
  await look('register-invalid')
  const code = await person.createAccount({ handle, displayName: 'Ada Lovelace' })
  await look('recovery-code')
  await person.press('confirm-recovery-saved')
  await page.waitForURL(/\/account/)
  await visitPagesAfterSignIn(person, look)
  await at('/account')
  for (const visit of [
    () => visitAccountPages(person, handle, look),
    () => visitSigningPages(person, look),
    () => visitDeveloperPages(person, stage.service, look),
    () => visitOrganizationPages(person, stage, look),
    () => visitAppKeyPages(person, { service: stage.service, app: notes, handle, code }, look),
    () => visitConnectorPages(person, { service: stage.service, app: assistant, handle }, look),
    () => visitAdminPages(person, stage, handle, look),
    () => visitRecoveryPages(person, stage.service, look),
  ]) {
    await visit()
    await usePasskey(person, stage.service)
  }
  await visitSignInPages(person, look)
  await visitPlaygroundPages(person, code, look)

  await visitEnterprisePages(person, stage.service, look)
  await at('/signin?client_id=app_nobody')
  await look('error')
  await at('/nowhere')
  await look('not-found')
  // The typefaces of this host. How pages move when these come late is measured in slow-fonts.test.ts.
  await page.goto(`${stage.service.baseUrl}/docs`)
  await page.waitForFunction(() => document.fonts.status === 'loaded')
  // A window that the browser opened for an app: what it shows if it cannot continue, or does not close.
  for (const [name, path] of Object.entries({
    'fedcm-error': 'error?code=unauthorized_client',
    'fedcm-over': 'resolve',
  })) {
    await page.goto(`${stage.service.baseUrl}/fedcm/${path}`)
    await page.locator('main .lead').waitFor()
    await look(name)
  }
}

/** An invitation that the user can accept, and one for which they need the link of its mail. */
const invitations = [true, false].map((canJoin, nth) => ({
  organizationId: `00000000-0000-4000-8000-00000000000${nth}`,
  invitationId: `00000000-0000-4000-8000-00000000001${nth}`,
  organization: { name: 'The Society for Analytical Engines', slug: `engines-${nth}`, logoUrl: null },
  invitedBy: { displayName: 'Charles Babbage', handle: 'charles', avatarUrl: null },
  role: 'signer',
  email: canJoin ? null : 'ada@analytical-engines.example',
  createdAt: '2026-11-01T09:00:00.000Z',
  expiresAt: '2099-11-08T09:00:00.000Z',
  identityIds: ['00000000-0000-4000-8000-000000000020'],
  canJoin,
}))

async function visitAccountPages(person: Person, handle: string, look: (name: string) => Promise<void>): Promise<void> {
  const { page } = person
  const dialog = page.getByRole('dialog')
  await page.locator('.page-head').waitFor()
  await page.locator('.list.compact li').first().waitFor()
  await look('account-home')
  await page.route('**/api/account/invitations', (route) => route.fulfill({ json: { invitations } }))
  await page.reload()
  await person.control('answer-invitation').first().waitFor()
  await look('account-home-invited')
  await page.unroute('**/api/account/invitations')
  await page.goto(`${stage.service.authUrl}/account/identities`)
  await person.control('new-identity').waitFor()
  await look('account-names')
  await person.press('new-identity')
  await dialog.waitFor()
  await look('account-add-name')
  await person.write('handle', `${handle}-2`)
  await person.write('displayName', 'The Countess')
  await person.press('add-identity')
  await dialog.waitFor({ state: 'detached' })
  await visitIdentityPages(person, look)
  await visitSigningKeyPages(person, { handle, service: stage.service }, look)
  await page.goto(`${stage.service.authUrl}/account/apps`)
  await page.locator('.empty').first().waitFor()
  await look('account-no-apps')
  await page.goto(`${stage.service.authUrl}/account/activity`)
  await page.locator('.timeline li').first().waitFor()
  await look('account-activity')
  await page.goto(`${stage.service.authUrl}/account/data`)
  await person.control('leave').waitFor()
  await look('account-data')
  await person.press('leave')
  await person.press('delete-account')
  await dialog.locator('[aria-invalid="true"]').waitFor()
  await look('account-delete')
  await page.goto(`${stage.service.authUrl}/account/passkeys`)
  await person.control('unlock').waitFor()
  await look('account-passkeys')
  await person.press('unlock')
  await person.control('confirm-recovery-saved').waitFor()
  await look('account-new-code')
  await person.press('cancel')
  await visitPasskeyPages(person, look)
  // Its replacement can no longer unlock the keys.
  await person.authenticator.replace()
  await person.press('unlock')
  await page.locator('input[name="recoveryCode"]').waitFor()
  await look('account-enter-code')
}

/** Adds a passkey that cannot unlock keys, and cancels everything that could be done to it. */
async function visitPasskeyPages(person: Person, look: (name: string) => Promise<void>): Promise<void> {
  const { page } = person
  const dialog = page.getByRole('dialog')
  const choose = async (which: 'first' | 'last') => {
    await person.control('passkey-menu').first().click()
    await page.locator('.menu-panel:popover-open button')[which]().click()
  }
  await person.press('add-passkey')
  await person.control('make-passkey').waitFor()
  await look('account-make-passkey')
  const first = await person.authenticator.credentials()
  await person.authenticator.exchange({ prf: false })
  await person.press('make-passkey')
  await person.control('go-without').waitFor()
  await look('account-signs-in-only')
  await person.press('go-without')
  await person.control('add-passkey').waitFor()
  await look('account-two-passkeys')
  await choose('first')
  await dialog.waitFor()
  await look('account-rename-passkey')
  await person.press('cancel')
  await choose('last')
  await dialog.waitFor()
  await look('account-remove-passkey')
  await person.press('cancel')
  await person.press('add-passkey')
  await page.locator('input[name="recoveryCode"]').waitFor()
  await look('account-code-for-passkey')
  await person.press('cancel')
  await person.authenticator.exchange({ prf: true })
  await person.authenticator.take(first)

  await page.goto(`${stage.service.authUrl}/account/sessions`)
  await page.locator('[data-session-id]').first().waitFor()
  await look('account-sessions')
  await page.goto(`${stage.service.authUrl}/recover`)
  await person.control('recover').waitFor()
  await look('recover')
  await person.press('recover')
  await page.locator('[aria-invalid="true"]').first().waitFor()
  await look('recover-invalid')
  await page.goto(`${stage.service.authUrl}/account/passkeys`)
  await person.control('unlock').waitFor()
}

async function visitIdentityPages(person: Person, look: (name: string) => Promise<void>): Promise<void> {
  const { page } = person
  const dialog = page.getByRole('dialog')
  const ask = (about: string) => person.control(`${about}-of-identity`).last().click()
  await look('account-two-names')
  await ask('change')
  await dialog.waitFor()
  await look('account-change-name')
  await person.press('cancel')
  await ask('email')
  await dialog.waitFor()
  await look('account-email')
  await person.write('email', 'ada.lovelace@analytical-engine.example')
  // Visits in other windows leave mails.
  while (stage.mailbox.count() > 0) await stage.mailbox.take()
  await person.press('send-code')
  await person.control('verify-email').waitFor()
  await look('account-email-code')
  await person.write('code', 'wrong')
  await person.press('verify-email')
  await dialog.locator('.problem').waitFor()
  await look('account-email-wrong')
  await person.write('code', codeIn(await stage.mailbox.take()))
  await person.press('verify-email')
  await dialog.waitFor({ state: 'detached' })
  await ask('email')
  await dialog.waitFor()
  await look('account-email-new')
  await person.press('cancel')
  await ask('delete')
  await dialog.waitFor()
  await look('account-delete-name')
  await person.press('cancel')
}

async function visitSignInPages(person: Person, look: (name: string) => Promise<void>): Promise<void> {
  const { page } = person
  await page.goto(`${stage.shop.origin}/sign-in`)
  await person.control('choose-identity').first().waitFor()
  await look('signin-choose')
  await person.control('choose-identity').first().click()
  await person.control('approve').waitFor()
  await look('signin-consent')
  await person.press('approve')
  await page.locator('#name').waitFor()

  await visitOrganizationChoice(person, { service: stage.service, shop: stage.shop.origin }, look)
  await page.goto(`${stage.service.authUrl}/account/apps`)
  await person.control('revoke').waitFor()
  await look('account-apps')
  await person.press('revoke')
  await page.getByRole('dialog').waitFor()
  await look('account-disconnect')
  await person.press('cancel')
  await visitSignOutPages(person, look)

  person.offerPasskeys(false)
  await page.goto(`${stage.service.authUrl}/sign?requestId=${noRequest}`)
  await person.control('sign-in').waitFor()
  await look('sign-authenticate')
  await page.goto(`${stage.service.authUrl}/login`)
  await person.control('sign-in').waitFor()
  await look('login')
  await page.goto(`${stage.shop.origin}/sign-in`)
  await person.control('sign-in').waitFor()
  await look('signin-authenticate')
}

async function visitSignOutPages(person: Person, look: (name: string) => Promise<void>): Promise<void> {
  const { page } = person
  await page.goto(`${stage.service.authUrl}/logout`)
  await person.control('stay').waitFor()
  await look('logout')
  await person.press('stay')
  await person.press('sign-out')
  await page.waitForURL(`${stage.service.authUrl}/`)
  await page.goto(`${stage.service.authUrl}/logout`)
  await page.locator('main .lead').waitFor()
  await look('logout-signed-out')
  await page.goto(`${stage.shop.origin}/sign-out-everywhere?post_logout_redirect_uri=${stage.shop.origin}/unregistered`)
  await page.locator('main .lead').waitFor()
  await look('logout-refused')
}

/** A text with many invisible characters, and long enough to scroll. */
const hostileText = [
  'Pay \u202E001\u202C € to P\u0430per\u200BShop\r',
  `<b>z${'\u0301'.repeat(60)}</b>\t \x1B[31m שלום 100 \u{E0041}\u{E0042} 1\uFE0F \uE000`,
  'aVeryLongWordWithoutAnyPlaceWhereItCouldBeBroken'.repeat(4),
  ...Array.from({ length: 30 }, (_, line) => `  ${line + 1}. And so on.`),
].join('\n')

/** Shows the signing page, and returns its URL. */
async function showSigningPage(person: Person, payload: string): Promise<string> {
  const { identities } = await person.call(stage.service.baseUrl, 'GET /api/auth/session')
  const { requestId } = await approvals.ask({ identityId: identities[0]?.identityId ?? '', payload })
  const address = `${stage.service.authUrl}/sign?requestId=${requestId}`
  await person.page.goto(address)
  await person.control('deny').waitFor()
  return address
}

async function visitPagesAfterSignIn(
  person: Person,
  look: (name: string, window?: Page) => Promise<void>,
): Promise<void> {
  const address = await showSigningPage(person, 'Pay 100.00 € to Paper Shop\nfor invoice 2026/118.')
  await look('sign')
  await visitStoppedSigningPages(person, address, look)
  await person.page.goto(address)
  await person.page.locator('[data-action="sign"][aria-disabled="false"]').click()
  await person.page.locator('.ended').waitFor()
  await look('sign-signed')
}

/** No passkey unlocks the keys of this user any more. */
async function visitSigningPages(person: Person, look: (name: string) => Promise<void>): Promise<void> {
  const { page } = person
  const address = await showSigningPage(person, 'Pay 100.00 € to Paper Shop.')
  await person.press('sign')
  await page.locator('input[name="recoveryCode"]').waitFor()
  await look('sign-enter-code')
  await person.press('cancel')
  const passkeys = await person.authenticator.credentials()
  await person.authenticator.exchange({ prf: true })
  await person.press('sign')
  await person.control('use-code').waitFor()
  await look('sign-no-passkey')
  await person.authenticator.take(passkeys)
  await page.goto(`${address}&embed=1`)
  await person.control('deny').waitFor()
  await look('sign-embedded')
  await person.press('deny')
  await page.locator('.ended').waitFor()
  await look('sign-denied')
  await showSigningPage(person, hostileText)
  await look('sign-hostile')
  await showSigningPage(person, 'b5bb9d8014a0f9b1d61e21e796d78dccdf1352f23cd32812f4850b878ae4944c')
  await look('sign-unreadable')
  await page.goto(`${stage.service.authUrl}/sign?requestId=${noRequest}`)
  await person.control('sign-out').waitFor()
  await look('sign-unknown')
}

async function visitPlaygroundPages(
  person: Person,
  code: string,
  look: (name: string) => Promise<void>,
): Promise<void> {
  const { page } = person
  await page.goto(`${stage.service.authUrl}/playground`)
  await look('playground')
  await person.press('start')
  await person.control('deny').first().click()
  await page.locator('.note code').waitFor()
  await look('playground-refused')
  await person.press('start')
  await person.press('sign-in')
  await person.control('choose-identity').first().click()
  await person.press('approve')
  await person.control('refresh').waitFor()
  await look('playground-result')
  await page.goto(`${stage.service.authUrl}/playground#encryption`)
  await person.press('get-key')
  await person.press('approve')
  await person.write('recoveryCode', code)
  await person.press('unlock')
  await person.press('encrypt-note')
  await page.locator('.decrypted').waitFor()
  await look('playground-encrypted')
}
