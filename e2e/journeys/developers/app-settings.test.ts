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

test('two tabs of a developer keep the redirect URIs that the other one has registered', async () => {
  const grace = await stage.enroll({ handle: 'grace', displayName: 'Grace Hopper' })
  const { page } = grace
  await page.goto(`${stage.service.authUrl}/developers`)
  await grace.press('new-app')
  await grace.write('name', 'Compiler')
  const [first, second, third] = ['first', 'second', 'third'].map((name) => `https://compiler.example/${name}`)
  await page.locator('textarea').fill(String(first))
  await grace.press('create-app')
  await grace.press('confirm-secret-saved')
  const other = await grace.context.newPage()
  await other.goto(`${page.url()}/settings`)
  const otherUris = other.locator('textarea[name="redirectUris"]')
  await otherUris.waitFor()

  const registered = async () => {
    const { apps } = await grace.call(stage.service.baseUrl, 'GET /api/developer/apps')
    return apps[0]?.redirectUris
  }
  await grace.press('tab-settings')
  await page.locator('textarea[name="redirectUris"]').fill(`${first}\n${second}`)
  await grace.press('save-app')
  await page.getByText('Saved.').waitFor()
  await otherUris.fill(`${first}\n${third}`)
  await other.locator('[data-action="save-app"]').click()
  await other.getByText('Saved.').waitFor()
  assert.deepEqual(await registered(), [first, second, third])
  assert.equal(await otherUris.inputValue(), `${first}\n${second}\n${third}`)

  await grace.press('tab-quickstart')
  await grace.press('add-redirect-uri')
  await grace.control('add-redirect-uri').waitFor({ state: 'detached' })
  assert.deepEqual(await registered(), [first, second, third, 'http://localhost:3000/callback'])
  await grace.leave()
})
