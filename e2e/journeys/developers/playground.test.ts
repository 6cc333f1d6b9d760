import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { en as words } from '../../../web/locales/en/messages.ts'
import { playgroundMessages as playground } from '../../../web/locales/en/pages/playground.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'

let stage: TestEnvironment
before(async () => {
  stage = await openStage()
})
after(() => stage.close())

test('a new user of the playground sees what an app receives, and the address bar keeps none of it', async () => {
  const { service } = stage
  const ada = await stage.invite()
  const { page } = ada
  await page.goto(`${service.authUrl}/playground`)
  await ada.press('start')
  await page.getByRole('link', { name: words.login.register }).click()
  await ada.createAccount({ handle: 'ada', displayName: 'Ada Lovelace' })
  await ada.press('confirm-recovery-saved')
  await ada.press('approve')

  await page.getByRole('heading', { name: playground.gotTitle }).waitFor()
  assert.equal(page.url(), `${service.authUrl}/playground`)
  assert.deepEqual(
    await page.locator('.checks dd').allInnerTexts(),
    Array.from({ length: 5 }, () => playground.passed),
  )

  const idToken = JSON.parse(
    await page.locator('details', { hasText: playground.idToken }).locator('pre').nth(1).innerText(),
  )
  assert.equal(idToken.iss, service.authUrl)
  assert.equal(idToken.preferred_username, 'ada')
  await page.getByText(playground.userinfo).click()
  const userinfo = JSON.parse(
    await page.locator('details', { hasText: playground.userinfo }).locator('pre').innerText(),
  )
  assert.deepEqual([userinfo.sub, userinfo.name], [idToken.sub, 'Ada Lovelace'])

  await ada.press('refresh')
  await page.getByText(playground.refreshed(1)).waitFor()
  await ada.press('refresh')
  await page.getByText(playground.refreshed(2)).waitFor()

  await page.goBack()
  assert.doesNotMatch(page.url(), /code=/)
  await ada.leave()
})
