import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import { words } from '../../pages/words.ts'
import { accountPageMessages as account } from '../../../web/locales/en/pages/account.ts'
import { landingMessages as landing } from '../../../web/locales/en/pages/landing.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'

let stage: TestEnvironment
before(async () => {
  stage = await openStage()
})
after(() => stage.close())

test('a user reads their activity, exports their data, and deletes the account; apps keep no access', async () => {
  const { shop, service } = stage
  const ada = await stage.invite()
  const { page } = ada
  await page.goto(`${shop.origin}/sign-in`)
  await page.getByRole('link', { name: words.login.register }).click()
  await ada.createAccount({ handle: 'ada', displayName: 'Ada Lovelace' })
  await ada.press('confirm-recovery-saved')
  await ada.press('approve')
  const known = shop.customers.get(await page.locator('#sub').innerText())
  assert.ok(known)

  await page.goto(`${service.authUrl}/account`)
  await page.getByRole('link', { name: words.account.activity, exact: true }).click()
  await page.locator('.timeline').getByText(`Connected ${shop.app.name}`).waitFor()
  await page.getByText(words.activity.acts['account.created']).waitFor()

  await page.getByRole('link', { name: account.places.data }).click()
  await ada.press('leave')
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('dialog').locator('[data-action="export"]').click(),
  ])
  assert.equal(download.suggestedFilename(), words.data.fileName)
  const exported = JSON.parse(await readFile(await download.path(), 'utf8'))
  assert.equal(exported.identities[0].handle, 'ada')
  assert.equal(exported.authorizations[0].appName, shop.app.name)

  await ada.write('confirmation', 'somebody')
  await ada.press('delete-account')
  await page.getByText(words.data.mismatch).waitFor()
  await ada.write('confirmation', 'Ada')
  await ada.press('delete-account')
  await page.waitForURL(`${service.authUrl}/`)
  await page.getByRole('link', { name: landing.register }).waitFor()

  await assert.rejects(shop.readUserinfo(known), { status: 401 })
  await page.goto(`${service.authUrl}/account`)
  await page.waitForURL(/\/login/)
  await ada.control('sign-in').waitFor()
  assert.equal(await ada.control('continue-as').count(), 0)
  assert.deepEqual(await ada.authenticator.credentials(), [], 'the passkey is no longer offered')
  await ada.leave()
})
