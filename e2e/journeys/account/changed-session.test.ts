import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { unwrapMasterKey } from '@countersign/keys/master-key'
import { deriveKeyFromRecoveryCode } from '@countersign/keys/recovery-code'
import { words } from '../../pages/words.ts'
import { changedMessages as changed } from '../../../web/locales/en/pages/session-changed.ts'
import { addVirtualAuthenticator } from '../../fixtures/authenticator.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'
import type { Person } from '../../fixtures/person.ts'
import { watch } from '../../fixtures/visual-checks.ts'

let stage: TestEnvironment
before(async () => {
  stage = await openStage()
})
after(() => stage.close())

/** Signs the user out in another tab, and registers another account there. The first tab stays as it is. */
async function registerInAnotherTab({ context }: Person, handle: string) {
  const { authUrl, baseUrl } = stage.service
  const tab = await context.newPage()
  await addVirtualAuthenticator(tab, { prf: true })
  const control = (action: string) => tab.locator(`[data-action="${action}"]`)
  await tab.goto(`${authUrl}/account`)
  await control('account-menu').click()
  await control('sign-out').click()
  await tab.waitForURL(`${authUrl}/`)
  await tab.goto(`${authUrl}/register`)
  await tab.locator('input[name="handle"]').fill(handle)
  await tab.locator('input[name="displayName"]').fill(handle)
  await control('create-account').click()
  const code = await tab.locator('output[name="recoveryCode"]').innerText()
  await control('confirm-recovery-saved').click()
  await tab.waitForURL(/\/account/)
  const read = async (path: string) =>
    tab.evaluate(async (url) => (await fetch(url, { credentials: 'include' })).json(), `${baseUrl}${path}`)
  return { code, read }
}

/** Waits until the page notices that another user is signed in, and stays on the page. */
async function stay(person: Person): Promise<void> {
  await person.page.getByRole('dialog', { name: changed.title }).waitFor()
  await person.press('keep-page')
}

const refusal = (page: Page) => page.getByRole('alert').getByText(changed.refused)

test('SES-20 an account page deletes no account of a user who signed in later, and keeps what was typed', async () => {
  const ada = await stage.enroll({ handle: 'ada', displayName: 'Ada' })
  const { page } = ada
  const { look, faults } = await watch(ada, { language: 'en' })
  await page.goto(`${stage.service.authUrl}/account/data`)
  await ada.press('leave')
  await ada.write('confirmation', 'ada')
  const bob = await registerInAnotherTab(ada, 'bob')

  await page.getByRole('dialog', { name: changed.title }).waitFor()
  await look('session-changed')
  // The browser itself notes each refused request. Until here, the page also read while no user was signed in.
  assert.deepEqual(
    faults.splice(0).filter((fault) => !/status of (?:401|409)/.test(fault)),
    [],
  )
  await ada.press('keep-page')
  assert.equal(await page.locator('input[name="confirmation"]').inputValue(), 'ada')
  await ada.press('delete-account')
  await refusal(page).waitFor()
  await look('session-changed-refusal')
  assert.deepEqual(
    faults.filter((fault) => !fault.includes('status of 409')),
    [],
  )
  assert.equal((await bob.read('/api/auth/session')).identities[0].handle, 'bob')

  await page.reload()
  await ada.press('leave')
  await page.getByText(words.data.typeHandle('bob')).waitFor()
  await ada.leave()
})

test('SES-20 a recovery code of one account never replaces that of a user who signed in later', async () => {
  const ada = await stage.enroll({ handle: 'adele', displayName: 'Adele' })
  await ada.page.goto(`${stage.service.authUrl}/account/passkeys`)
  await ada.press('unlock')
  await ada.page.locator('output[name="recoveryCode"]').waitFor()
  const bob = await registerInAnotherTab(ada, 'bert')
  await stay(ada)
  await ada.press('confirm-recovery-saved')
  await refusal(ada.page).waitFor()

  const { user } = await bob.read('/api/auth/session')
  const { keyWraps } = await bob.read('/api/account/key-wraps')
  const { ciphertext } = keyWraps.find(({ kind }: { kind: string }) => kind === 'recovery_code')
  await unwrapMasterKey(ciphertext, await deriveKeyFromRecoveryCode(bob.code), user.userId)
  await ada.leave()
})

test('SES-20 a registration that was left open saves no recovery code for a user who signed in later', async () => {
  const ada = await stage.invite()
  await ada.page.goto(`${stage.service.authUrl}/register`)
  await ada.createAccount({ handle: 'alma', displayName: 'Alma' })
  const bob = await registerInAnotherTab(ada, 'burt')
  await ada.press('confirm-recovery-saved')
  await ada.page.getByRole('dialog', { name: changed.title }).waitFor()

  const { user } = await bob.read('/api/auth/session')
  const { keyWraps } = await bob.read('/api/account/key-wraps')
  const { ciphertext } = keyWraps.find(({ kind }: { kind: string }) => kind === 'recovery_code')
  await unwrapMasterKey(ciphertext, await deriveKeyFromRecoveryCode(bob.code), user.userId)
  await ada.leave()
})

test('SES-20 an account page says of no identity that it was deleted after another user signed in', async () => {
  const ada = await stage.enroll({ handle: 'anna', displayName: 'Anna' })
  const { page } = ada
  await page.goto(`${stage.service.authUrl}/account/identities`)
  await ada.press('new-identity')
  await ada.write('handle', 'anna-two')
  await ada.write('displayName', 'Anna Two')
  await ada.press('add-identity')
  await page.getByRole('heading', { name: 'Anna Two' }).waitFor()
  await registerInAnotherTab(ada, 'bill')
  await stay(ada)
  await page.locator('[data-action="delete-of-identity"]').last().click()
  await ada.press('delete-identity')
  await refusal(page).waitFor()
  await page.getByRole('heading', { name: 'Anna Two' }).waitFor()
  await ada.leave()
})
