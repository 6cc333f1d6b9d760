import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { codeIn } from '../../../server/testing/mailbox.ts'
import { words } from '../../pages/words.ts'
import { accountPageMessages as account } from '../../../web/locales/en/pages/account.ts'
import type { Person } from '../../fixtures/person.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'

let stage: TestEnvironment
before(async () => {
  stage = await openStage()
})
after(() => stage.close())

const entry = (person: Person, handle: string) =>
  person.page.locator('.card.identity').filter({ hasText: `@${handle}` })
const ask = (person: Person, handle: string, about: 'change' | 'email' | 'delete') =>
  entry(person, handle).locator(`[data-action="${about}-of-identity"]`).click()

async function register(handle: string, displayName: string): Promise<Person> {
  const person = await stage.invite()
  await person.page.goto(`${stage.service.authUrl}/register`)
  await person.createAccount({ handle, displayName })
  await person.press('confirm-recovery-saved')
  await person.page.waitForURL(/\/account/)
  await person.page.goto(`${stage.service.authUrl}/account/identities`)
  return person
}

test('the next app sees a new username, and no other user gets the old one', async () => {
  const ada = await register('ada', 'Ada Lovelace')
  await ask(ada, 'ada', 'change')
  await ada.write('handle', 'countess')
  await ada.press('save')
  await entry(ada, 'countess').waitFor()

  await ada.page.goto(`${stage.shop.origin}/sign-in`)
  await ada.press('approve')
  const sub = await ada.page.locator('#sub').innerText()
  const known = stage.shop.customers.get(sub)
  assert.ok(known)
  assert.equal((await stage.shop.readUserinfo(known)).preferred_username, 'countess')

  const eve = await stage.invite()
  await eve.page.goto(`${stage.service.authUrl}/register`)
  await eve.write('handle', 'Ada')
  await eve.write('displayName', 'Ada Lovelace')
  await eve.press('create-account')
  await eve.page.getByText(words.register.handleTaken).waitFor()
  await Promise.all([ada.leave(), eve.leave()])
})

test('an app that requests an e-mail address gets one that is added during its request', async () => {
  const dora = await register('dora', 'Dora')
  await dora.page.goto(`${stage.shop.origin}/sign-in?scope=openid+profile+email`)
  const opened = dora.context.waitForEvent('page')
  await dora.page.getByRole('link', { name: words.signin.addEmail }).click()
  const account = await opened
  await account
    .locator('.card.identity')
    .filter({ hasText: '@dora' })
    .locator('[data-action="email-of-identity"]')
    .click()
  await account.locator('input[name="email"]').fill('dora@example.com')
  await account.locator('[data-action="send-code"]').click()
  await account.locator('input[name="code"]').fill(codeIn(await stage.mailbox.take()))
  await account.locator('[data-action="verify-email"]').click()
  // The dialog names the address too, before it is verified.
  await account.locator('input[name="code"]').waitFor({ state: 'detached' })
  await account.getByText('dora@example.com').first().waitFor()
  await account.close()

  // Every tab of an automated browser believes to have the focus, so the event is sent explicitly.
  await dora.page.evaluate(() => dispatchEvent(new Event('focus')))
  await dora.page.getByText('dora@example.com').waitFor()
  await dora.press('approve')
  const sub = await dora.page.locator('#sub').innerText()
  const known = stage.shop.customers.get(sub)
  assert.ok(known)
  assert.equal((await stage.shop.readUserinfo(known)).email, 'dora@example.com')
  await dora.leave()
})

test('an address is verified by the code in the mail, in the language of the page, and can be removed', async () => {
  const ben = await register('ben', 'Ben')
  await entry(ben, 'ben').getByText(words.identities.addEmail, { exact: true }).waitFor()
  await ask(ben, 'ben', 'email')
  await ben.write('email', 'ben')
  await ben.press('send-code')
  await ben.page.getByText(words.email.invalid).waitFor()
  await ben.write('email', 'ben@example.com')
  await ben.press('send-code')
  const mail = await stage.mailbox.take()
  assert.deepEqual([mail.to, mail.subject], [['ben@example.com'], 'Your Countersign verification code'])
  await ben.write('code', codeIn(mail) === '000000' ? '111111' : '000000')
  await ben.press('verify-email')
  await ben.page.getByText(words.problem.refused.invalid_code).waitFor()
  await ben.write('code', codeIn(mail))
  await ben.page.keyboard.press('Enter')
  await entry(ben, 'ben').getByText('ben@example.com').waitFor()
  await entry(ben, 'ben').getByText(words.identities.changeEmail, { exact: true }).waitFor()

  await ben.press('language')
  await ben.page.getByRole('button', { name: 'Deutsch' }).click()
  await ben.page.locator('html[lang="de"]').waitFor()
  await ask(ben, 'ben', 'email')
  await ben.press('remove-email')
  await ben.page.getByRole('dialog').waitFor({ state: 'detached' })
  assert.equal((await stage.mailbox.take()).subject, 'Deine E-Mail-Adresse wurde bei Countersign entfernt')
  await ben.leave()
})

test('a deleted identity is gone for its apps; the last one cannot be deleted', async () => {
  const { shop, service } = stage
  const cleo = await register('cleo', 'Cleo')
  assert.equal(await cleo.control('delete-of-identity').count(), 0, 'the only identity')
  await cleo.press('new-identity')
  await cleo.write('handle', 'stage-name')
  await cleo.write('displayName', 'Stage Name')
  await cleo.press('add-identity')
  await entry(cleo, 'stage-name').waitFor()

  await cleo.page.goto(`${shop.origin}/sign-in`)
  await cleo.control('choose-identity').filter({ hasText: 'Stage Name' }).click()
  await cleo.press('approve')
  const known = shop.customers.get(await cleo.page.locator('#sub').innerText())
  assert.ok(known)

  await cleo.page.goto(`${service.authUrl}/account/identities`)
  await ask(cleo, 'stage-name', 'delete')
  await cleo.press('delete-identity')
  await cleo.page.getByRole('dialog').waitFor({ state: 'detached' })
  await cleo.page.locator('main h1:focus').waitFor()
  assert.equal(await entry(cleo, 'stage-name').count(), 0)
  assert.equal(await cleo.control('delete-of-identity').count(), 0)
  await assert.rejects(shop.readUserinfo(known), { status: 401 })
  await assert.rejects(shop.refresh(known), { error: 'invalid_grant', status: 400 })
  await cleo.page.getByRole('link', { name: words.account.apps, exact: true }).click()
  await cleo.page.getByText(account.apps.none).waitFor()
  await cleo.page.goto('about:blank')
  await cleo.context.clearCookies()
  cleo.offerPasskeys(false)
  await cleo.page.goto(`${service.authUrl}/login`)
  await cleo.page.getByText(words.login.continueAs('Cleo')).waitFor()
  await cleo.leave()
})
