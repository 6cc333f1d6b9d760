import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { landingMessages as landing } from '../../../web/locales/en/pages/landing.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'
import { watch } from '../../fixtures/visual-checks.ts'

let stage: TestEnvironment
before(async () => {
  stage = await openStage()
})
after(() => stage.close())

test('visitors see the start page, and users their account, without an error in the console', async () => {
  const ada = await stage.invite()
  const { page } = ada
  const seen = await watch(ada, { language: 'en' })
  const errors: string[] = []
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()))
  const home = `${stage.service.authUrl}/`

  await page.goto(home)
  await page.getByRole('heading', { name: landing.title }).waitFor()
  await seen.look('landing-visitor')
  assert.deepEqual([errors, seen.faults], [[], []])
  await page.getByRole('link', { name: landing.register }).click()
  await ada.createAccount({ handle: 'ada', displayName: 'Ada Lovelace' })
  await ada.press('confirm-recovery-saved')
  await page.waitForURL(/\/account/)
  await page.waitForFunction(() => localStorage.getItem('signed-in') === 'yes')
  errors.length = 0

  await page.goto(home)
  await page.waitForURL(/\/account/)
  assert.deepEqual(errors, [])
  await page.locator('.page-head').waitFor()
  // Answers on their way would set the cookie again, or lead to a sign-in.
  await page.goto('about:blank')
  await ada.context.clearCookies()
  await page.goto(home)
  await page.getByRole('heading', { name: landing.title }).waitFor()
  errors.length = 0
  await page.goto(home)
  await page.getByRole('heading', { name: landing.title }).waitFor()
  assert.deepEqual(errors, [])
  await ada.leave()
})
