import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openSigningApp, type SigningApp } from '../../apps/signing-app.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'
import type { Person } from '../../fixtures/person.ts'
import { tabTo } from '../../fixtures/windows.ts'

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

/** Requests a signature of a user; returns the address of the page that asks for it. */
async function askToSign(person: Person, payload: string): Promise<string> {
  const { identities } = await person.call(stage.service.baseUrl, 'GET /api/auth/session')
  const { requestId } = await app.ask({ identityId: identities[0]?.identityId ?? '', payload })
  return `${stage.service.authUrl}/sign?requestId=${requestId}`
}

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

test('after a sign-in, consent and a signing request begin with the focus in their heading', async () => {
  const ada = await stage.enroll({ handle: 'focused', displayName: 'Ada Lovelace' })
  const signPage = await askToSign(ada, 'Pay 40 euros')
  ada.offerPasskeys(false)
  for (const [address, answer, name] of [
    [`${stage.shop.origin}/sign-in`, 'approve', 'Paper Shop'],
    [signPage, 'deny', 'Approvals'],
  ] as const) {
    await ada.page.goto('about:blank')
    await ada.context.clearCookies()
    await ada.page.goto(address)
    await ada.press('sign-in')
    await ada.control(answer).waitFor()
    await ada.page.locator('main h1:focus').filter({ hasText: name }).waitFor()
  }
  await ada.leave()
})

for (const height of [640, 760])
  test(`keys alone read a visible text to its end in a window ${height} pixels high`, async () => {
    const ada = await stage.invite({ locale: 'de-DE' })
    const { page } = ada
    await page.goto(`${stage.service.authUrl}/register`)
    await ada.createAccount({ handle: `reader${height}`, displayName: 'Ada Lovelace' })
    await ada.press('confirm-recovery-saved')
    await page.waitForURL(/\/account/)
    const address = await askToSign(ada, 'Ich stimme zu.\n'.repeat(40))
    await page.setViewportSize({ width: 320, height })
    await page.goto(address)
    const text = page.locator('.exact-text')
    await tabTo(text)
    const isVisible = await text.evaluate((region) => {
      const { left, top } = region.getBoundingClientRect()
      return region.contains(document.elementFromPoint(left + 40, top + 40))
    })
    assert.ok(isVisible, 'the buttons cover the text')
    const scrolling = await text.evaluateHandle((region) => ({
      end: new Promise((resolve) => region.addEventListener('scrollend', () => resolve(null), { once: true })),
    }))
    await page.keyboard.press('End')
    await scrolling.evaluate(({ end }) => end)
    await page.keyboard.press('End')
    await page.locator('[data-action="sign"][aria-disabled="false"]').waitFor()
    await ada.leave()
  })
