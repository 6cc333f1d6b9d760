import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { logoutMessages as german } from '../../../web/locales/de/pages/sign-in/logout.ts'
import type { Person } from '../../fixtures/person.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'

let stage: TestEnvironment
let ada: Person
before(async () => {
  stage = await openStage()
  ada = await arrive('ada')
})
after(() => stage.close())

/** A new user who is signed in to the provider and to the shop. */
async function arrive(handle: string): Promise<Person> {
  const person = await stage.invite()
  await person.page.goto(`${stage.service.authUrl}/register`)
  await person.createAccount({ handle, displayName: `The ${handle}` })
  await person.press('confirm-recovery-saved')
  await person.page.waitForURL(/\/account/)
  person.offerPasskeys(false)
  await person.page.goto(`${stage.shop.origin}/sign-in`)
  await person.press('approve')
  await person.page.locator('#name').waitFor()
  return person
}

/** Signs in to the shop as a user with earlier consent, by passkey if there is no session. */
async function signIn({ page, press }: Person) {
  await page.goto(`${stage.shop.origin}/sign-in`)
  await press('sign-in')
  await page.locator('#name').waitFor()
}

const leaveShop = ({ page }: Person, query: Record<string, string> = {}) =>
  page.goto(`${stage.shop.origin}/sign-out-everywhere?${new URLSearchParams(query)}`)

const words = ({ page }: Person) => page.locator('main').innerText()
const heading = ({ page }: Person) => page.locator('main h1').innerText()

async function isSignedIn({ page }: Person): Promise<boolean> {
  await page.goto(`${stage.shop.origin}/sign-in?prompt=none`)
  const answer = await page.locator('#name, #error').innerText()
  return answer !== 'login_required'
}

test('signing out in the app signs out here too, without a question, and returns to the app', async () => {
  const clicks = ada.clicks()
  await leaveShop(ada)
  await ada.page.waitForURL(`${stage.shop.origin}/signed-out?state=so+long`)
  assert.equal(ada.clicks(), clicks)
  const cookies = await ada.context.cookies(stage.service.baseUrl)
  assert.deepEqual(cookies, [])
  assert.equal(await isSignedIn(ada), false)
})

test('a user who is already signed out here returns to the app at once', async () => {
  await signIn(ada)
  await ada.page.goto(`${stage.service.authUrl}/account`)
  await ada.press('sign-out')
  await ada.page.waitForURL(`${stage.service.authUrl}/`)
  const clicks = ada.clicks()
  await leaveShop(ada)
  await ada.page.waitForURL(`${stage.shop.origin}/signed-out?state=so+long`)
  assert.equal(ada.clicks(), clicks)
})

test('a user who has signed in again since must confirm, and then returns to the app', async () => {
  await signIn(ada)
  await ada.page.goto(`${stage.service.authUrl}/account`)
  await ada.press('sign-out')
  await ada.page.waitForURL(`${stage.service.authUrl}/`)
  await ada.page.goto(`${stage.service.authUrl}/login`)
  await ada.press('sign-in')
  await ada.page.waitForURL(/\/account/)
  await leaveShop(ada)
  await ada.press('sign-out')
  await ada.page.waitForURL(`${stage.shop.origin}/signed-out?state=so+long`)
  assert.equal(await isSignedIn(ada), false)
})

test('another signed-in user must confirm, is named, and can stay signed in', async () => {
  await signIn(ada)
  const [customer] = [...stage.shop.customers.values()]
  const bob = await arrive('bob')
  await leaveShop(bob, { id_token_hint: customer?.idToken ?? '' })
  await bob.control('stay').waitFor()
  assert.match(await words(bob), /@bob/)
  assert.doesNotMatch(await words(bob), /ada/)
  await bob.press('stay')
  await bob.page.waitForURL(/\/account/)
  assert.equal(await isSignedIn(bob), true)
  await bob.leave()
})

test('a request without parameters must be confirmed, and signs out of the current session', async () => {
  const { page } = ada
  for (const query of ['', '?state=s1']) {
    await page.goto(`${stage.service.authUrl}/logout${query}`)
    await ada.control('sign-out').waitFor()
    assert.equal(await heading(ada), 'Sign out?')
    await page.locator('h1:focus').waitFor()
    await page.keyboard.press('Tab')
    assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('data-action')), 'sign-out')
    await page.keyboard.press('Enter')
    await page.getByText('You’re signed out').waitFor()
    await page.reload()
    await page.getByText('You’re signed out').waitFor()
    assert.ok(page.url().startsWith(stage.service.authUrl))
    assert.equal(await isSignedIn(ada), false)
    await signIn(ada)
  }
})

test('HDR-09 there is no redirect to an unregistered address, and the user learns why', async () => {
  await leaveShop(ada, { post_logout_redirect_uri: 'https://evil.example/' })
  await ada.page.getByText('You’re signed out').waitFor()
  assert.match(await words(ada), /hasn’t registered/)
  assert.ok(ada.page.url().startsWith(stage.service.authUrl))
  assert.equal(await isSignedIn(ada), false)
  await signIn(ada)
})

test('a page that could not reach the server shows that, and continues when it can', async () => {
  const { page } = ada
  await page.route('**/api/auth/session/end', (route) => route.abort())
  await leaveShop(ada)
  await page.locator('.problem').waitFor()
  await page.unroute('**/api/auth/session/end')
  await ada.press('retry')
  await page.waitForURL(`${stage.shop.origin}/signed-out?state=so+long`)
  await signIn(ada)
})

test('a late answer, after signing out in another tab, shows that the user is signed out', async () => {
  await ada.page.goto(`${stage.service.authUrl}/logout`)
  await ada.control('sign-out').waitFor()
  const other = await ada.context.newPage()
  await other.goto(`${stage.service.authUrl}/logout`)
  await other.locator('[data-action="sign-out"]').click()
  await other.getByText('You’re signed out').waitFor()
  await ada.press('sign-out')
  await ada.page.getByText('You’re signed out').waitFor()
  await other.close()
  await signIn(ada)
})

test('an app chooses the language of the confirmation', async () => {
  await leaveShop(ada, { id_token_hint: '', ui_locales: 'de' })
  await ada.control('stay').waitFor()
  assert.equal(await heading(ada), german.question)
})

test('signing out while the account is loading does not lead to the sign-in page', async () => {
  const { page } = ada
  const signedOut = Promise.withResolvers<void>()
  const turnedAway = page.waitForResponse((each) => each.url().endsWith('/passkeys') && each.status() === 401)
  await page.route('**/api/auth/passkeys', async (route) => {
    await signedOut.promise
    await route.continue()
  })
  await page.route(`${stage.service.authUrl}/`, async (route) => {
    signedOut.resolve()
    await turnedAway
    await route.continue()
  })
  await page.goto(`${stage.service.authUrl}/account`)
  await ada.press('sign-out')
  await page.waitForURL(`${stage.service.authUrl}/`)
  await page.locator('a[href="/login"]').waitFor()
})
