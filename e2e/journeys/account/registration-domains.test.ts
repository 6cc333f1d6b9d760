import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { codeIn } from '../../../server/testing/mailbox.ts'
import { en } from '../../../web/locales/en/messages.ts'
import { accountMessages } from '../../../web/locales/en/account.ts'
import { mailNoteMessages as mailNote } from '../../../web/locales/en/pages/dev-mail.ts'
import { adminSettingsMessages as settings } from '../../../web/locales/en/pages/admin/service/settings.ts'
import { admissionMessages } from '../../../web/locales/en/pages/sign-in/admission.ts'
import { registrationEmailMessages as words } from '../../../web/locales/en/pages/sign-in/registration-email.ts'
import { registrationEmailMessages as german } from '../../../web/locales/de/pages/sign-in/registration-email.ts'
import { registrationEmailMessages as arabic } from '../../../web/locales/ar/pages/sign-in/registration-email.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'
import { watch } from '../../fixtures/visual-checks.ts'

let stage: TestEnvironment
before(async () => {
  stage = await openStage()
})
after(() => stage.close())

const views = { shown: { colorScheme: 'light', width: 1280 }, also: { colorScheme: 'dark', width: 360 } } as const
const refused = { ...en.problem.refused, ...words.refused }

/** Sends a request of the operator. */
async function operate(method: 'GET' | 'POST' | 'PATCH', path: string, body?: object, version?: number) {
  const { admin, baseUrl } = stage.service
  const headers = {
    ...admin,
    ...(body && { 'content-type': 'application/json' }),
    ...(version !== undefined && { 'if-match': `"${version}"` }),
  }
  const sent = { method, headers, ...(body && { body: JSON.stringify(body) }) }
  const answer = await fetch(`${baseUrl}/api/admin/${path}`, sent)
  assert.ok(answer.ok, path)
  return answer.json()
}

async function setDomains(domains: string[]): Promise<void> {
  const { revision } = await operate('GET', 'settings')
  const changed = { 'registration.mode': 'domains', 'registration.domains': domains }
  await operate('PATCH', 'settings', { settings: changed }, revision)
}

test('REG-03 an owner lists domains, and a colleague registers with an address of one, by keyboard', async () => {
  const olga = await stage.enroll({ handle: 'olga', displayName: 'Olga Owner' })
  await operate('POST', 'operators', { handle: 'olga', role: 'owner' })
  await olga.page.setViewportSize({ width: 1280, height: 900 })
  const operator = await watch(olga, { language: 'en', ...views })
  await olga.page.goto(`${stage.service.authUrl}/admin/settings`)
  await olga.page.getByLabel(settings.modes.domains.label).check()
  await olga.press('save-registration')
  await olga.page.getByText(settings.domainsMissing).waitFor()
  await olga.write('registration.domains', 'https://acme.example')
  await olga.page.getByText(settings.domainsHint).waitFor()
  await operator.look('admin-registration-domains')
  await olga.write('registration.domains', 'ACME.example\n*.labs.example')
  await olga.press('save-registration')
  await olga.page.getByText(settings.revision('1')).waitFor()
  await operator.look('admin-registration-domains-saved')
  assert.equal((await operate('GET', 'settings')).settings['registration.domains'].value.length, 2)
  await olga.leave()

  const ada = await stage.invite({ viewport: { width: 1280, height: 800 } })
  const { look, faults } = await watch(ada, { language: 'en', ...views })
  const { page } = ada
  await page.goto(`${stage.service.authUrl}/login`)
  await page.getByRole('link', { name: en.login.register }).click()
  const email = page.locator('input[name="email"]')
  await email.waitFor()
  assert.equal(await email.getAttribute('autocomplete'), 'email')
  await look('register-address')
  await page.keyboard.type('ada')
  await page.keyboard.press('Enter')
  await page.getByText(words.invalid).waitFor()
  await page.keyboard.type('@evil.example')
  await page.keyboard.press('Enter')
  await page.getByText(refused.email_domain_not_allowed).waitFor()
  await look('register-address-refused')
  await email.fill('ada@acme.example')
  await page.keyboard.press('Enter')
  const code = page.locator('input[name="code"]')
  await code.waitFor()
  assert.equal(await code.getAttribute('autocomplete'), 'one-time-code')
  await look('register-code')
  const mail = await stage.mailbox.take()
  assert.deepEqual(mail.to, ['ada@acme.example'])
  await page.keyboard.type('00000000')
  await page.keyboard.press('Enter')
  await page.getByText(refused.invalid_code).waitFor()
  await look('register-code-wrong')
  await code.fill(codeIn(mail))
  await page.keyboard.press('Enter')
  await page.locator('input[name="handle"]').waitFor()
  await look('register-username')
  await page.keyboard.type('ada')
  await page.keyboard.press('Tab')
  await page.keyboard.type('Ada Lovelace')
  await page.keyboard.press('Enter')
  await page.locator('output[name="recoveryCode"]').waitFor()
  await ada.press('confirm-recovery-saved')
  await page.waitForURL(/\/account/)
  const { identities } = await ada.call(stage.service.baseUrl, 'GET /api/identities')
  assert.deepEqual(
    identities.map((identity) => [identity.email, identity.emailVerified]),
    [['ada@acme.example', true]],
  )

  await page.goto(`${stage.service.authUrl}/account/identities`)
  await ada.press('email-of-identity')
  await ada.press('remove-email')
  await page.getByText(accountMessages.email.domainRequired).waitFor()
  // The browser reports the two answers that this user was refused with.
  const unmeant = faults.filter((fault) => !/^register-\w+-360-dark: .+ status of 4(?:03|09) \(\w+\)$/.test(fault))
  assert.deepEqual([...unmeant, ...operator.faults], [])
  await ada.leave()
})

test('REG-18 a user whose domain was removed meanwhile returns to the address, and another one admits', async () => {
  await setDomains(['acme.example', 'other.example'])
  const ada = await stage.invite()
  await ada.page.goto(`${stage.service.authUrl}/register`)
  await ada.write('email', 'grace@acme.example')
  await ada.press('send-code')
  await ada.write('code', codeIn(await stage.mailbox.take()))
  await ada.press('verify-email')
  await ada.write('handle', 'grace')
  await ada.write('displayName', 'Grace Hopper')
  await setDomains(['other.example'])
  await ada.press('create-account')
  await ada.page.getByText(refused.email_domain_not_allowed).waitFor()
  await ada.write('email', 'grace@other.example')
  await ada.press('send-code')
  await ada.press('other-address')
  assert.equal(await ada.page.locator('input[name="email"]').inputValue(), 'grace@other.example')
  await stage.mailbox.take()
  await ada.press('send-code')
  await ada.write('code', codeIn(await stage.mailbox.take()))
  await ada.press('verify-email')
  // What was typed before is still there.
  assert.equal(await ada.page.locator('input[name="handle"]').inputValue(), 'grace')
  await ada.press('create-account')
  await ada.page.locator('output[name="recoveryCode"]').waitFor()
  await ada.leave()
})

test('REG-02 an invited guest needs no code while only certain domains register', async () => {
  await setDomains(['acme.example'])
  const { url } = await operate('POST', 'invitations', { kind: 'link' })
  const guest = await stage.invite()
  await guest.page.goto(url)
  await guest.page.getByText(admissionMessages.invited).waitFor()
  await guest.createAccount({ handle: 'guest', displayName: 'A guest' })
  await guest.leave()
})

test('a new code is announced once it is sent, an error is reported, and the button keeps the focus', async () => {
  await setDomains(['acme.example'])
  const ada = await stage.invite()
  const { page } = ada
  await page.clock.install()
  await page.goto(`${stage.service.authUrl}/register`)
  await ada.write('email', 'kept@acme.example')
  await ada.press('send-code')
  await ada.control('resend-code').waitFor()
  await stage.mailbox.take()
  const announced = page.locator('[role="status"]').getByText(mailNote.resent)
  await page.clock.runFor(31_000)
  await page.route('**/api/auth/register/email', (route) => route.abort())
  await ada.control('resend-code').press('Enter')
  await page.locator('[role="alert"]').getByText(en.problem.unreachable).waitFor()
  assert.equal(await announced.count(), 0)
  await page.unroute('**/api/auth/register/email')
  await page.keyboard.press('Enter')
  await announced.waitFor()
  await page.locator('[data-action="resend-code"][aria-disabled="true"]:focus').waitFor()
  assert.deepEqual((await stage.mailbox.take()).to, ['kept@acme.example'])
  await ada.leave()
})

for (const [locale, language, { lead, enterCode }] of [
  ['de-DE', 'de', german],
  ['ar-EG', 'ar', arabic],
] as const)
  test(`a new user reads in ${language} what to enter`, async () => {
    await setDomains(['acme.example'])
    const ada = await stage.invite({ locale, viewport: { width: 1280, height: 800 } })
    const { look, faults } = await watch(ada, { language, ...views })
    await ada.page.goto(`${stage.service.authUrl}/register`)
    await ada.page.getByText(lead).waitFor()
    await look('register-address')
    await ada.write('email', `${language}@acme.example`)
    await ada.press('send-code')
    await ada.page.getByRole('heading', { name: enterCode }).waitFor()
    await look('register-code')
    await stage.mailbox.take()
    assert.deepEqual(faults, [])
    await ada.leave()
  })
