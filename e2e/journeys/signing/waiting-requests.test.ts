import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Locator } from 'playwright-core'
import { openSigningApp, type SigningApp } from '../../apps/signing-app.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'
import { watch } from '../../fixtures/visual-checks.ts'

let stage: TestEnvironment
let app: SigningApp
before(async () => {
  stage = await openStage({ RATE_LIMITS: 'off' })
  app = await openSigningApp(stage.service)
})
after(async () => {
  await app.close()
  await stage.close()
})

const shown = { width: 320, colorScheme: 'light' } as const
const also = { width: 1280, colorScheme: 'dark' } as const

/** The direction of a line, whether it is cut, and how many lines it takes. */
function readLine(title: Locator) {
  return title.locator('.line').evaluate((line) => ({
    direction: getComputedStyle(line).direction,
    isCut: line.scrollWidth > line.clientWidth,
    lines: Math.round(line.clientHeight / Number.parseFloat(getComputedStyle(line).lineHeight)),
  }))
}

test('a waiting request shows the first line of its text, with marks instead of characters that mislead', async () => {
  const ada = await stage.enroll({ handle: 'ada', displayName: 'Ada Lovelace' })
  const { page } = ada
  const { authUrl, baseUrl } = stage.service
  const { identities } = await ada.call(baseUrl, 'GET /api/auth/session')
  const [identity] = identities
  assert.ok(identity)
  const arabic = 'ادفع 10 يورو إلى متجر الورق ثمن ورق وأقلام وحبر ومكتبين وكرسي على ثلاث دفعات'
  const texts = ['\r\n<b>Pay 10 €</b>\nto Paper Shop', `${arabic}\n…`, 'Pay \u202E001\u0007 €\nApproved']
  for (const [index, payload] of texts.entries())
    await app.ask({ identityId: identity.identityId, payload, expiresInSeconds: 600 + index })

  const { look, faults } = await watch(ada, { language: 'en', shown, also })
  await page.setViewportSize({ width: shown.width, height: 740 })
  const titles = page.locator('.request-title')
  for (const section of ['', '/signing']) {
    await page.goto(`${authUrl}/account${section}`)
    await titles.nth(2).locator('.line').waitFor()
    assert.deepEqual(await readLine(titles.nth(1)), { direction: 'rtl', isCut: true, lines: 1 })
    await look(`account${section.replace('/', '-')}-waiting`)
    assert.equal((await titles.nth(0).innerText()).trim(), '<b>Pay 10 €</b>')
    assert.match(await titles.nth(2).innerText(), /U\+202E.*U\+0007/s)
    assert.doesNotMatch(await titles.nth(2).innerText(), /Approved/)
  }
  assert.deepEqual(faults, [])
  await ada.leave()
})
