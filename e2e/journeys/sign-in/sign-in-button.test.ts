import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { generateServerKey, openAppKey } from '../../../sdk/src/encryption/server-key.ts'
import { playgroundMessages as playground } from '../../../web/locales/en/pages/playground.ts'
import { openButtonApp } from '../../apps/button-app.ts'
import { pressLast, watchDialogs, type BrowserDialog } from '../../apps/fedcm-app.ts'
import { watch } from '../../fixtures/visual-checks.ts'
import type { Person } from '../../fixtures/person.ts'
import { openFederatedStage, type TestEnvironment } from '../../fixtures/environment.ts'

type App = Awaited<ReturnType<typeof openButtonApp>>

let stage: TestEnvironment
let app: App
before(async () => {
  execFileSync(process.execPath, [join(import.meta.dirname, '../../../sdk/build.ts')])
  stage = await openFederatedStage()
  app = await openButtonApp(stage.service)
})
after(() => Promise.all([stage.close(), app?.close()]))

const button = (page: Page) => page.getByRole('button', { name: 'Sign in with Countersign' })
const said = (page: Page, words: RegExp | string) => page.locator('output').filter({ hasText: words }).waitFor()

/** The page of an app in another tab of a signed-in user, and the dialogs of their browser there. */
async function visit({ context }: Person, { origin } = app) {
  const page = await context.newPage()
  const dialogs = await watchDialogs(page)
  await page.goto(origin)
  return { page, dialogs }
}

/** Chooses the account in the dialog, and consents in the window that the browser opens for that. */
async function agree({ context }: Person, dialogs: Awaited<ReturnType<typeof watchDialogs>>, shown: BrowserDialog) {
  const [opened] = await Promise.all([context.waitForEvent('page'), dialogs.choose(shown)])
  await pressLast(opened, 'approve')
}

function forgetDialogs({ page }: Person): Promise<unknown> {
  return page.addInitScript(() => Reflect.deleteProperty(globalThis, 'IdentityCredential'))
}

test('the button signs in without leaving the page: with consent in a window only the first time', async () => {
  const ada = await stage.enroll({ handle: 'ada', displayName: 'Ada Lovelace' })
  const { page, dialogs } = await visit(ada)
  await button(page).click()
  await agree(ada, dialogs, await dialogs.next())
  await said(page, /^Hello Ada Lovelace, by a dialog, with openid profile$/)
  assert.equal(page.url(), `${app.origin}/`)

  await page.reload()
  await button(page).click()
  await dialogs.choose(await dialogs.next())
  await said(page, /^Hello Ada Lovelace, by a dialog/)

  const { identities } = await ada.call(stage.service.baseUrl, 'GET /api/auth/session')
  assert.ok(await page.evaluate(disconnect, identities[0]?.identityId ?? ''))
  await page.reload()
  await button(page).click()
  assert.deepEqual(
    (await dialogs.next()).accounts.map(({ loginState }) => loginState),
    ['SignUp'],
  )
  await ada.leave()
})

test('in a browser without such dialogs the same button leads to the sign-in page, and back to any URI', async (t) => {
  const bea = await stage.enroll({ handle: 'bea', displayName: 'Bea' })
  const { page } = bea
  await forgetDialogs(bea)
  await page.goto(app.origin)
  await button(page).click()
  await bea.press('deny')
  await said(page, /^declined$/)
  assert.equal(page.url(), `${app.origin}/callback`)

  await button(page).click()
  await bea.press('approve')
  await said(page, /^Hello Bea, by a redirect, with openid profile$/)
  assert.equal(page.url(), `${app.origin}/callback`)
  assert.deepEqual(await page.evaluate(() => Object.keys(sessionStorage)), [])

  await page.goto(`${app.origin}/callback?code=c&state=made-up&iss=${encodeURIComponent(stage.service.authUrl)}`)
  await said(page, /^refused state_mismatch$/)
  assert.equal(page.url(), `${app.origin}/callback`)

  for (const callback of ['', '?from=countersign']) {
    const pathless = await openButtonApp(stage.service, { callback })
    t.after(() => pathless.close())
    await page.goto(pathless.origin)
    await button(page).click()
    await bea.press('approve')
    await said(page, /^Hello Bea, by a redirect/)
    assert.equal(page.url(), `${pathless.origin}/${callback}`)
  }
  await bea.leave()
})

test('a browser whose dialogs cannot request scopes, as in the first versions, leads to the sign-in page', async () => {
  const page = await (await stage.browser.newContext()).newPage()
  await page.addInitScript(() => {
    CredentialsContainer.prototype.get = (options) =>
      new Promise((_, reject) => options?.signal?.addEventListener('abort', () => reject(options.signal?.reason)))
  })
  await page.goto(app.origin)
  await button(page).click()
  await page.waitForURL(`${stage.service.authUrl}/signin?**`)
  await page.context().close()
})

test('returning with the back button to a cached page signs no user in', async () => {
  const page = await (await stage.browser.newContext()).newPage()
  await page.addInitScript(() => Reflect.deleteProperty(globalThis, 'IdentityCredential'))
  await page.goto(app.origin)
  // A response without content leaves the page where it is.
  await page.route(`${stage.service.authUrl}/signin**`, (route) => route.fulfill({ status: 204 }))
  const left = page.waitForRequest(/\/signin\?/)
  await button(page).click()
  await left
  assert.equal(await page.locator('countersign-button button').getAttribute('aria-disabled'), 'true')
  await page.evaluate(() => dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })))
  await said(page, /^declined$/)
  assert.equal(await page.locator('countersign-button button').getAttribute('aria-disabled'), null)
  await page.context().close()
})

test('a user who stops the navigation to the sign-in page can press the button again', async () => {
  const page = await (await stage.browser.newContext()).newPage()
  await page.addInitScript(() => Reflect.deleteProperty(globalThis, 'IdentityCredential'))
  await page.goto(app.origin)
  await page.route(`${stage.service.authUrl}/signin**`, () => {})
  const left = page.waitForRequest(/\/signin\?/)
  await button(page).click({ noWaitAfter: true })
  await left
  await (await page.context().newCDPSession(page)).send('Page.stopLoading')
  await said(page, /^declined$/)
  const again = page.waitForRequest(/\/signin\?/)
  await button(page).click({ noWaitAfter: true })
  await again
  await page.context().close()
})

test('a page without storage gets an error, and so does one that is not of the app', async () => {
  const eve = await stage.enroll({ handle: 'eve', displayName: 'Eve' })
  const kept = await eve.context.newPage()
  await kept.addInitScript(() => {
    Reflect.deleteProperty(globalThis, 'IdentityCredential')
    Object.defineProperty(globalThis, 'sessionStorage', {
      get() {
        throw new DOMException('Access is denied for this document.', 'SecurityError')
      },
    })
  })
  await kept.goto(app.origin)
  await button(kept).click()
  await said(kept, /^refused storage_unavailable$/)
  assert.equal(await kept.locator('countersign-button button').getAttribute('aria-disabled'), null)

  const other = await openButtonApp(stage.service)
  const { page, dialogs } = await visit(eve, other)
  await page.locator('countersign-button').evaluate((node, id) => node.setAttribute('client-id', id), app.clientId)
  await button(page).click()
  await dialogs.choose(await dialogs.next())
  await dialogs.press(await dialogs.next(), 'ErrorGotIt')
  await said(page, /^refused fedcm_rejected$/)
  await Promise.all([eve.leave(), other.close()])
})

test('closing the dialog leaves the page as it is, and pressing again leads to the sign-in page', async () => {
  const cleo = await stage.enroll({ handle: 'cleo', displayName: 'Cleo' })
  const { page, dialogs } = await visit(cleo)
  await button(page).click()
  await dialogs.dismiss(await dialogs.next())
  await said(page, /^declined$/)
  assert.equal(page.url(), `${app.origin}/`)
  await button(page).click()
  await page.locator('[data-action="approve"]').click()
  await said(page, /^Hello Cleo, by a redirect/)
  await cleo.leave()
})

test('a page can let the browser prompt automatically, which redirects no user against their will', async (t) => {
  const passive = await openButtonApp(stage.service, { attributes: 'passive' })
  t.after(() => passive.close())
  const dan = await stage.enroll({ handle: 'dan', displayName: 'Dan' })
  const { page, dialogs } = await visit(dan, passive)
  await dialogs.dismiss(await dialogs.next())
  await said(page, /^declined$/)
  assert.equal(page.url(), `${passive.origin}/`)

  await button(page).click()
  await agree(dan, dialogs, await dialogs.next())
  await said(page, /^Hello Dan, by a dialog/)

  await forgetDialogs(dan)
  await dan.page.goto(passive.origin)
  await said(dan.page, /^unsupported$/)
  assert.equal(dan.page.url(), `${passive.origin}/`)
  await dan.leave()
})

test('FED-18 an app with end-to-end encryption gets its key by a redirect, even if there is a dialog', async (t) => {
  const notes = await openButtonApp(stage.service, { supportsE2ee: true, attributes: 'app-key passive' })
  t.after(() => notes.close())
  const fay = await stage.enroll({ handle: 'fay', displayName: 'Fay' })
  const { page } = fay
  await page.goto(notes.origin)
  await said(page, /^unsupported$/)
  await button(page).click()
  await fay.press('approve')
  await said(page, /^Hello Fay, by a redirect.*, and a key$/)
  const sealed = await page.evaluate(seal)

  await page.goto(notes.origin)
  await said(page, /^unsupported$/)
  await button(page).click()
  await fay.press('unlock')
  await said(page, /^Hello Fay, by a redirect.*, and a key$/)
  assert.equal(await page.evaluate(open, sealed), 'Milk')
  await fay.leave()
})

test('FED-27 a key for the server of the app comes by a redirect first, and then by the dialog', async (t) => {
  const server = await generateServerKey()
  const attributes = `app-key app-key-recipient-jwk="${server.publicJwk}"`
  const appKeyRecipientJwk = server.publicJwk
  const notes = await openButtonApp(stage.service, { supportsE2ee: true, attributes, appKeyRecipientJwk })
  t.after(() => notes.close())
  const gwen = await stage.enroll({ handle: 'gwen', displayName: 'Gwen' })
  const { page } = gwen
  const received = async (fingerprint?: string) => {
    const sealed = await page.evaluate(() => String(Reflect.get(globalThis, 'sealedKey')))
    return (await openAppKey(server.privateJwk, sealed, { fingerprint })).fingerprint
  }
  await page.goto(notes.origin)
  const dialogs = await watchDialogs(page)
  await button(page).click()
  const first = await dialogs.next()
  const [consenting] = await Promise.all([gwen.context.waitForEvent('page'), dialogs.choose(first)])
  await pressLast(consenting, 'approve')
  // The dialog has brought no key: the button continues with a redirect.
  await gwen.press('approve')
  await said(page, /^Hello Gwen, by a redirect.*, and a key$/)
  const fingerprint = await received()

  await page.goto(notes.origin)
  await button(page).click()
  const second = await dialogs.next()
  const [opened] = await Promise.all([gwen.context.waitForEvent('page'), dialogs.choose(second)])
  await opened.locator('[data-action="use-code"]').click()
  await opened.locator('[name="recoveryCode"]').fill(gwen.code)
  await pressLast(opened, 'unlock')
  await said(page, /^Hello Gwen, by a dialog.*, and a key$/)
  assert.equal(await received(fingerprint), fingerprint)
  await gwen.leave()
})

for (const [attributes, maxAge] of [
  ['max-age="60"', '60'],
  ['prompt="login"', '0'],
] as const)
  test(`with ${attributes} a sign-in uses a redirect with these parameters`, async (t) => {
    const bank = await openButtonApp(stage.service, { attributes })
    t.after(() => bank.close())
    const person = await stage.enroll({ handle: `hal-${maxAge}`, displayName: 'Hal' })
    const { page } = person
    await page.goto(bank.origin)
    person.offerPasskeys(false)
    await button(page).click()
    await page.waitForURL(/\/signin\?/)
    assert.equal(new URL(page.url()).searchParams.get('max_age'), maxAge)
    if (maxAge === '0') await person.press('sign-in')
    await person.press('approve')
    await said(page, /^Hello Hal, by a redirect/)
    await person.leave()
  })

test('the button is accessible: by keyboard, on a narrow screen, enlarged, light and dark, in German', async (t) => {
  const german = await openButtonApp(stage.service, { language: 'de', attributes: 'name="Paper & Ink Identity"' })
  t.after(() => german.close())
  const shown = { colorScheme: 'light', width: 320 } as const
  const gil = await stage.invite({ colorScheme: shown.colorScheme, viewport: { width: shown.width, height: 640 } })
  await forgetDialogs(gil)
  const { look, faults } = await watch(gil, { language: 'de', shown, also: { ...shown, colorScheme: 'dark' } })
  await gil.page.goto(german.origin)
  const pressed = gil.page.getByRole('button', { name: 'Mit Paper & Ink Identity anmelden' })
  await pressed.waitFor()
  await look('button')
  assert.deepEqual(faults, [])

  await gil.page.evaluate(() => (document.documentElement.style.fontSize = '200%'))
  const box = await pressed.boundingBox()
  assert.ok(box && box.height >= 44 && box.x >= 0 && box.x + box.width <= shown.width, JSON.stringify(box))
  await gil.page.keyboard.press('Tab')
  await gil.page.keyboard.press('Enter')
  await gil.page.waitForURL(`${stage.service.authUrl}/signin?**`)
  await gil.leave()
})

test('the playground shows what an app receives from the dialog, and how it verifies it', async () => {
  const hal = await stage.enroll({ handle: 'hal', displayName: 'Hal' })
  const page = await hal.context.newPage()
  const dialogs = await watchDialogs(page)
  await page.goto(`${stage.service.authUrl}/playground`)
  await page.locator('[data-action="start-here"]').click()
  await dialogs.dismiss(await dialogs.next())
  await page.getByText(playground.declined).waitFor()
  await page.locator('[data-action="start-here"]').click()
  await agree(hal, dialogs, await dialogs.next())
  await page.getByRole('heading', { name: playground.gotTitle }).waitFor()
  assert.equal(await page.locator('.checks .okay').count(), 5)
  assert.equal(page.url(), `${stage.service.authUrl}/playground`)
  await hal.leave()
})

/** In the page of an app, which has no data of this identity afterwards. */
async function disconnect(identityId: string): Promise<boolean> {
  const sdk = await import(`${location.origin}/sign-in.js`)
  return sdk.disconnect(Reflect.get(Object(document.querySelector('countersign-button')), 'app'), identityId)
}

/** In the page of an app: what its key encrypts, with the chosen initialization vector. */
async function seal(): Promise<number[][]> {
  const { key } = Reflect.get(globalThis, 'broughtKey')
  const iv = crypto.getRandomValues(new Uint8Array(12))
  const content = await crypto.subtle.encrypt({ name: 'AES-GCM', iv }, key, new TextEncoder().encode('Milk'))
  return [[...iv], [...new Uint8Array(content)]]
}

async function open([iv = [], content = []]: number[][]): Promise<string> {
  const { key } = Reflect.get(globalThis, 'broughtKey')
  const algorithm = { name: 'AES-GCM', iv: Uint8Array.from(iv) }
  return new TextDecoder().decode(await crypto.subtle.decrypt(algorithm, key, Uint8Array.from(content)))
}
