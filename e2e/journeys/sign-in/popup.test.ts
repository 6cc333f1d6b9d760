import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { en as words } from '../../../web/locales/en/messages.ts'
import { openSinglePage, type Manager } from '../../clients/single-page.ts'
import { addVirtualAuthenticator } from '../../fixtures/authenticator.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'
import type { Person } from '../../fixtures/person.ts'

/** How a sign-in in a popup ends, in the page of the app. */
declare global {
  var signedIn: Promise<string | undefined>
}

let stage: TestEnvironment
let app: Awaited<ReturnType<typeof openSinglePage>>
before(async () => {
  stage = await openStage()
  app = await openSinglePage(stage.service)
})
after(async () => {
  await app.close()
  await stage.close()
})

/** Starts `signinPopup` of oidc-client-ts in the page of the app, and returns the popup. */
async function openPopup({ page }: Person): Promise<Page> {
  await page.goto(app.origin)
  const opened = page.waitForEvent('popup')
  await page.evaluate(() => {
    // Without an opener, the library sees the popup as closed.
    const options = { popupAbortOnClose: true }
    const signingIn = (Reflect.get(globalThis, 'manager') as Manager).signinPopup(options)
    globalThis.signedIn = signingIn.then(({ profile }) => profile.name, String)
  })
  const popup = await opened
  await addVirtualAuthenticator(popup, { prf: true })
  return popup
}

/** The name that the page of the app receives from the popup, or the error. */
const outcomeOf = ({ page }: Person) => page.evaluate(() => globalThis.signedIn)
const control = (page: Page, action: string) => page.locator(`[data-action="${action}"]`)

test('HDR-01 oidc-client-ts signs a user in with a popup, which gives the response to its opener', async () => {
  const ada = await stage.enroll({ handle: 'ada', displayName: 'Ada Lovelace' })
  const popup = await openPopup(ada)
  const closed = popup.waitForEvent('close')
  await control(popup, 'approve').click()
  await closed
  assert.equal(await outcomeOf(ada), 'Ada Lovelace')
  await ada.leave()
})

test('HDR-01 a popup keeps its opener while a new user registers', async () => {
  const bob = await stage.invite()
  const popup = await openPopup(bob)
  await popup.getByRole('link', { name: words.login.register }).click()
  await popup.locator('input[name="handle"]').fill('bob')
  await popup.locator('input[name="displayName"]').fill('Bob')
  await control(popup, 'create-account').click()
  await control(popup, 'confirm-recovery-saved').click()
  const closed = popup.waitForEvent('close')
  await control(popup, 'approve').click()
  await closed
  assert.equal(await outcomeOf(bob), 'Bob')
  await bob.leave()
})

for (const [what, path] of [
  ['is redirected to the app with an error', '/sign-in?prompt=none'],
  ['posts an error to the app', '/sign-in?prompt=none&response_mode=form_post'],
  ['is redirected from a posted request to its page', '/post-sign-in?prompt=login'],
] as const)
  test(`HDR-01 a popup keeps its opener when it ${what}`, async () => {
    const eve = await stage.invite()
    const { origin } = stage.shop
    await eve.page.goto(origin)
    const opened = eve.page.waitForEvent('popup')
    await eve.page.evaluate((url) => void open(url, 'sign-in', 'popup'), origin + path)
    const popup = await opened
    if (path.startsWith('/post')) await control(popup, 'deny').click()
    await popup.locator('#error').waitFor()
    assert.equal(await popup.evaluate(() => opener !== null), true)
    await eve.leave()
  })
