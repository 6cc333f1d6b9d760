import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { watch } from '../../fixtures/visual-checks.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'

let stage: TestEnvironment
before(async () => {
  stage = await openStage()
})
after(() => stage.close())

test('APS-05 a developer sets the requirements of an app, and where its server receives logout tokens', async () => {
  const ada = await stage.enroll({ handle: 'ada', displayName: 'Ada Lovelace' })
  const seen = await watch(ada, { language: 'en' })
  const { page } = ada
  await page.goto(`${stage.service.authUrl}/developers`)
  await ada.press('new-app')
  await ada.write('name', 'Ledger')
  await page.locator('textarea').fill('http://127.0.0.1/callback')
  await page.locator('input[name="kind"][value="public"]').check()
  await ada.press('create-app')
  await ada.press('tab-settings')
  await page.locator('input[name="backchannelLogoutUri"]').fill('not an address')
  await ada.press('save-app')
  await page.locator('input[name="backchannelLogoutUri"][aria-invalid="true"]').waitFor()
  await page.locator('input[name="backchannelLogoutUri"]').fill('https://ledger.example/logout')
  for (const value of ['requireAuthTime', 'email', 'allowAnyLoopbackPort', 'backchannelLogoutSessionRequired'])
    await page.locator(`input[value="${value}"]:not([name="allowedScopes"])`).check()
  await page.locator('input[value="idTokenClaims"]').uncheck()
  await page.locator('input[name="organizationAccess"][value="read"]').check()
  await seen.look('app-settings-en')
  await ada.press('save-app')
  await page.getByText('Saved.').waitFor()
  const { apps } = await ada.call(stage.service.baseUrl, 'GET /api/developer/apps')
  const [app] = apps
  assert.deepEqual(
    {
      requireAuthTime: app?.requireAuthTime,
      idTokenClaims: app?.idTokenClaims,
      requiredClaims: app?.requiredClaims,
      organizationAccess: app?.organizationAccess,
      backchannelLogoutUri: app?.backchannelLogoutUri,
      backchannelLogoutSessionRequired: app?.backchannelLogoutSessionRequired,
      allowAnyLoopbackPort: app?.allowAnyLoopbackPort,
    },
    {
      requireAuthTime: true,
      idTokenClaims: false,
      requiredClaims: ['email'],
      organizationAccess: 'read',
      backchannelLogoutUri: 'https://ledger.example/logout',
      backchannelLogoutSessionRequired: true,
      allowAnyLoopbackPort: true,
    },
  )
  assert.deepEqual(seen.faults, [])
  await ada.leave()
})
