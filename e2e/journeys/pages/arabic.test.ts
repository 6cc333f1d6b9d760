import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { signMessages as words } from '../../../web/locales/ar/sign.ts'
import { openSigningApp, type SigningApp } from '../../apps/signing-app.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'
import { watch } from '../../fixtures/visual-checks.ts'

let stage: TestEnvironment
let app: SigningApp
before(async () => {
  stage = await openStage()
  app = await openSigningApp(stage.service)
})
after(async () => {
  await app.close()
  await stage.close()
})

test('in Arabic, from right to left: a user registers, allows an app and signs a text', async () => {
  const shown = { colorScheme: 'light', width: 360 } as const
  const person = await stage.invite({ locale: 'ar-EG', viewport: { width: 360, height: 740 } })
  const { page } = person
  const also = { colorScheme: 'dark', width: 1280 } as const
  const { look, faults } = await watch(person, { language: 'ar', shown, also })
  await page.goto(stage.service.authUrl)
  await look('ar-landing')
  await page.goto(`${stage.service.authUrl}/register`)
  await person.write('handle', 'layla')
  await look('ar-register')
  await person.createAccount({ handle: 'layla', displayName: 'ليلى حدّاد' })
  await look('ar-recovery-code')
  await person.press('confirm-recovery-saved')
  await page.waitForURL(/\/account/)
  await page.locator('html[dir="rtl"] main').waitFor()

  await page.goto(`${stage.shop.origin}/sign-in`)
  await person.control('approve').waitFor()
  await look('ar-consent')
  await person.press('approve')
  await page.waitForURL((url) => url.origin === stage.shop.origin)

  await page.goto(`${stage.service.authUrl}/account`)
  const { identities } = await person.call(stage.service.baseUrl, 'GET /api/auth/session')
  const payload = 'ادفع 12.00 EUR إلى Paper & Ink'
  const { requestId } = await app.ask({ identityId: identities[0]?.identityId ?? '', payload })
  await page.goto(`${stage.service.authUrl}/sign?requestId=${requestId}`)
  await page.locator('.exact-text').waitFor()
  await look('ar-sign')
  await person.press('sign')
  await page.getByRole('heading', { name: words.sign.ends.signed }).waitFor()
  await look('ar-signed')
  assert.ok(app.accepts(await app.read(requestId), payload))

  for (const section of ['', '/identities', '/security', '/activity', '/apps', '/data']) {
    await page.goto(`${stage.service.authUrl}/account${section}`)
    await page.locator('main h1').waitFor()
    await look(`ar-account${section.replace('/', '-')}`)
  }
  assert.deepEqual(faults, [])
  await person.leave()
})
