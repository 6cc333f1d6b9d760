import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { en as words } from '../../../web/locales/en/messages.ts'
import type { Person } from '../../fixtures/person.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'

let stage: TestEnvironment
before(async () => {
  stage = await openStage()
})
after(() => stage.close())

/** Visits the shop, which posts its authorization request. */
async function visitShop({ page }: Person, query: Record<string, string> = {}) {
  await page.goto(`${stage.shop.origin}/sign-out`)
  await page.goto(`${stage.shop.origin}/post-sign-in?${new URLSearchParams({ scope: 'openid profile', ...query })}`)
}

const name = ({ page }: Person) => page.locator('#name').innerText()

test('a new user registers and returns to the app that posted its request', async () => {
  const ada = await stage.invite()
  await visitShop(ada)
  await ada.page.getByRole('link', { name: words.login.register }).click()
  await ada.page.getByText('Paper Shop').first().waitFor()
  await ada.createAccount({ handle: 'ada', displayName: 'Ada Lovelace' })
  await ada.press('confirm-recovery-saved')
  await ada.press('approve')
  assert.equal(await name(ada), 'Ada Lovelace')
  await ada.leave()
})

test('a user recovers access and returns to the app that posted its request', async () => {
  const { code } = await stage.enroll({ handle: 'bob', displayName: 'Bob' })
  const bob = await stage.invite()
  await visitShop(bob)
  await bob.page.getByRole('link', { name: words.login.recover }).click()
  await bob.write('handle', 'bob')
  await bob.write('recoveryCode', code)
  await bob.press('recover')
  await bob.press('confirm-recovery-saved')
  await bob.press('approve')
  assert.equal(await name(bob), 'Bob')
  await bob.leave()
})

test('a posted request with prompt=login survives a reload and asks for the passkey once', async () => {
  const eve = await stage.enroll({ handle: 'eve', displayName: 'Eve' })
  eve.offerPasskeys(false)
  await visitShop(eve, { prompt: 'login', login_hint: 'eve' })
  await eve.control('sign-in').waitFor()
  await eve.page.reload()
  await eve.press('sign-in')
  await eve.press('approve')
  assert.equal(await name(eve), 'Eve')
  await eve.leave()
})

test('no URL contains what an app posts', async () => {
  const idToken = [...stage.shop.customers.values()].at(-1)?.idToken ?? ''
  const eve = await stage.invite()
  await visitShop(eve, { id_token_hint: idToken })
  await eve.page.getByRole('link', { name: words.login.register }).click()
  await eve.page.waitForURL(/\/register/)
  assert.equal(eve.page.url().includes(idToken), false)
  await eve.page.goBack()
  await eve.control('sign-in').waitFor()
  await eve.leave()
})

test('a silent request by POST is answered at once', async () => {
  const fay = await stage.invite()
  await visitShop(fay, { prompt: 'none' })
  assert.equal(await fay.page.locator('#error').innerText(), 'login_required')
  await fay.leave()
})
