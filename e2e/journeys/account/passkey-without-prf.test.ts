import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { en as words } from '../../../web/locales/en/messages.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'

let stage: TestEnvironment
before(async () => {
  stage = await openStage()
})
after(() => stage.close())

test('a passkey without PRF shows that at once and signs in; only the recovery code unlocks the keys', async () => {
  const { service } = stage
  const ada = await stage.invite({ prf: false })
  await ada.page.goto(`${service.authUrl}/register`)
  const code = await ada.createAccount({ handle: 'ada', displayName: 'Ada Lovelace' })
  await ada.page.getByText(words.recovery.whyWithoutPrf).waitFor()
  await ada.press('confirm-recovery-saved')
  await ada.page.waitForURL(/\/account/)

  await ada.press('sign-out')
  await ada.page.waitForURL(`${service.authUrl}/`)
  await ada.page.goto(`${service.authUrl}/login`)
  await ada.page.waitForURL(/\/account/)
  const { keyWraps } = await ada.call(service.baseUrl, 'GET /api/account/key-wraps')
  assert.deepEqual(
    keyWraps.map(({ kind }) => kind),
    ['recovery_code'],
  )

  await ada.page.goto(`${service.authUrl}/account/passkeys`)
  await ada.page.getByText(words.passkeys.signsInOnly).waitFor()
  await ada.press('unlock')
  await ada.write('recoveryCode', '0000-0000-0000-0000-0000-0000-0000-0000')
  await ada.press('unlock')
  await ada.page.getByText(words.passkeys.codeWrong).waitFor()
  await ada.write('recoveryCode', code.toLowerCase().replaceAll('-', ' '))
  await ada.press('unlock')
  const next = await ada.page.locator('output[name="recoveryCode"]').innerText()
  assert.notEqual(next, code)
  await ada.press('confirm-recovery-saved')
  await ada.page.getByText(words.passkeys.renewed).waitFor()
  await ada.leave()
})
