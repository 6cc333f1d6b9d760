import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { words } from '../../pages/words.ts'
import { accountPageMessages as account } from '../../../web/locales/en/pages/account.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'

let stage: TestEnvironment
before(async () => {
  stage = await openStage()
})
after(() => stage.close())

test('a disconnected app loses all access to the identity, and must request consent again', async () => {
  const { shop, service } = stage
  const ada = await stage.invite()
  await ada.page.goto(`${shop.origin}/sign-in`)
  await ada.page.getByRole('link', { name: words.login.register }).click()
  await ada.createAccount({ handle: 'ada', displayName: 'Ada Lovelace' })
  await ada.press('confirm-recovery-saved')
  await ada.press('approve')
  const sub = await ada.page.locator('#sub').innerText()
  const known = shop.customers.get(sub)
  assert.ok(known)
  const customer = await shop.refresh(known)
  assert.equal((await shop.readUserinfo(customer)).name, 'Ada Lovelace')

  await ada.page.goto(`${service.authUrl}/account/apps`)
  await ada.press('revoke')
  await ada.page.getByRole('dialog').getByText(words.apps.revokeWhat(shop.app.name, 'ada')).waitFor()
  await ada.page.getByRole('dialog').locator('[data-action="revoke"]').click()
  await ada.page.getByText(account.apps.none).waitFor()

  await assert.rejects(shop.refresh(customer), { error: 'invalid_grant', status: 400 })
  await assert.rejects(shop.readUserinfo(customer), { status: 401 })

  await ada.page.goto(`${shop.origin}/sign-in`)
  await ada.press('approve')
  assert.equal(await ada.page.locator('#sub').innerText(), sub, 'after reconnecting the app sees the same user')
  await ada.leave()
})
