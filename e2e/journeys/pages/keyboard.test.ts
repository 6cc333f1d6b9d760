import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'
import { tabTo } from '../../fixtures/windows.ts'

let stage: TestEnvironment
before(async () => {
  stage = await openStage()
})
after(() => stage.close())

test('an account, a sign-in and a consent need no mouse', async () => {
  const { shop } = stage
  const ada = await stage.invite()
  const { page } = ada
  const { keyboard } = page
  await page.goto(shop.origin)
  await tabTo(page.locator('#sign-in'))
  await keyboard.press('Enter')
  await tabTo(page.locator('main a[href^="/register"]'))
  await keyboard.press('Enter')
  await tabTo(page.locator('input[name="handle"]'))
  await keyboard.type('ada')
  await keyboard.press('Tab')
  await keyboard.type('Ada Lovelace')
  await keyboard.press('Enter')
  await tabTo(ada.control('confirm-recovery-saved'))
  ada.offerPasskeys(false)
  await keyboard.press('Enter')
  await tabTo(ada.control('approve'))
  await keyboard.press('Enter')
  assert.equal(await page.locator('#name').innerText(), 'Ada Lovelace')

  await page.goto(`${stage.service.authUrl}/account`)
  await page.locator('.page-head').waitFor()
  await tabTo(ada.control('account-menu'))
  await keyboard.press('Enter')
  await tabTo(ada.control('sign-out'))
  await keyboard.press('Enter')
  await page.waitForURL(`${stage.service.authUrl}/`)
  await page.goto(`${shop.origin}/sign-out`)
  await tabTo(page.locator('#sign-in'))
  await keyboard.press('Enter')
  await tabTo(page.locator('input[name="handle"]'))
  await keyboard.press('Enter')
  assert.equal(await page.locator('#name').innerText(), 'Ada Lovelace')
  await ada.leave()
})
