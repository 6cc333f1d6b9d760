import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { decodeJwt } from 'jose'
import type { Page } from 'playwright-core'
import { generateServerKey, openAppKey, type ServerKey } from '../../../sdk/src/encryption/server-key.ts'
import { openFederatedApp, pressLast, watchDialogs, type FederatedApp } from '../../apps/fedcm-app.ts'
import type { Person } from '../../fixtures/person.ts'
import { openFederatedStage, type TestEnvironment } from '../../fixtures/environment.ts'
import { consentMessages as consent } from '../../../web/locales/en/pages/sign-in/consent.ts'

let stage: TestEnvironment
let app: FederatedApp
let server: ServerKey
before(async () => {
  stage = await openFederatedStage({ RATE_LIMITS: 'off' })
  server = await generateServerKey()
  app = await openFederatedApp(stage.service, {
    name: 'Notes',
    supportsE2ee: true,
    appKeyRecipientJwk: server.publicJwk,
  })
})
after(() => Promise.all([stage.close(), app.close()]))

function signInUrl(requested: Record<string, string>): string {
  const query = new URLSearchParams({
    client_id: app.clientId,
    redirect_uri: `${app.origin}/callback`,
    scope: 'openid profile',
    state: 'from-notes',
    code_challenge: 'c'.repeat(43),
    code_challenge_method: 'S256',
    ...requested,
  })
  return `${stage.service.authUrl}/signin?${query}`
}

/** Signs in by a redirect, and returns what the app receives in the fragment. */
async function byRedirect({ page }: Person, presses: string[], requested: Record<string, string> = {}) {
  await page.goto(signInUrl(requested))
  for (const action of presses) await page.locator(`[data-action="${action}"]`).click()
  await page.waitForURL((url) => url.origin === app.origin)
  return new URL(page.url()).hash.slice(1)
}

/** Registers redirect URIs. */
async function allow(redirectUris: string[]) {
  const { baseUrl, admin } = stage.service
  const answer = await fetch(`${baseUrl}/api/admin/apps/${app.clientId}`, {
    method: 'PATCH',
    headers: { ...admin, 'content-type': 'application/json' },
    body: JSON.stringify({ redirectUris }),
  })
  assert.equal(answer.status, 200)
}

const sealedIn = (fragment: string) => fragment.replace(/^app_key_jwe=/, '')
const opened = (sealed: string, fingerprint?: string) => openAppKey(server.privateJwk, sealed, { fingerprint })

/**
 * Signs in by the dialog of the browser, in whose window the passkeys of a test do not unlock keys: the recovery code
 * does, if the window asks. Returns the app key in the assertion. `prepare` sees the window first.
 */
async function byDialog(person: User, { asks = true, prepare, press = 'unlock' }: DialogOptions = {}) {
  const page = await person.context.newPage()
  await page.goto(app.origin)
  const dialogs = await watchDialogs(page)
  const verifier = await app.requestSignIn(page, { scope: 'openid profile', appKeyJwk: server.publicJwk })
  const chooser = await dialogs.next()
  const choose = () => dialogs.choose(chooser)
  await (asks ? throughWindow(person, choose, { prepare, press }) : choose())
  const outcome = await app.outcome(page)
  assert.ok('token' in outcome, JSON.stringify(outcome))
  const tokens = await app.exchange(page, outcome.token, verifier)
  assert.ok(tokens.user, JSON.stringify(tokens))
  await page.close()
  return decodeJwt(outcome.token)['app_key']
}

type User = Person & { code: string }
type DialogOptions = { asks?: boolean; prepare?: ((shown: Page) => Promise<unknown>) | undefined; press?: string }

/** Only the first tab of a test has a passkey. */
async function fillCode(page: Page, { code }: User) {
  await page.locator('[data-action="use-code"]').click()
  await page.locator('[name="recoveryCode"]').fill(code)
}

async function throughWindow(person: User, choose: () => Promise<unknown>, { prepare, press }: DialogOptions) {
  const [shown] = await Promise.all([person.context.waitForEvent('page'), choose()])
  await prepare?.(shown)
  if (press === 'unlock') await fillCode(shown, person)
  await shown.locator(`[data-action="${press}"]`).waitFor()
  await pressLast(shown, press ?? '')
}

test('FED-22 a key that a redirect has bound to the server of the app comes by the dialog, for it alone', async () => {
  const ada = await stage.enroll({ handle: 'ada-k', displayName: 'Ada Lovelace' })
  const sent: string[] = []
  ada.context.on('request', (request) => sent.push(`${request.url()}\n${request.postData() ?? ''}`))
  const first = await opened(sealedIn(await byRedirect(ada, ['approve'], { app_key_jwk: server.publicJwk })))
  const sealed = await byDialog(ada)
  assert.ok(typeof sealed === 'string')
  const { fingerprint } = await opened(sealed, first.fingerprint)
  assert.equal(fingerprint, first.fingerprint)
  const another = await generateServerKey()
  await assert.rejects(openAppKey(another.privateJwk, sealed), { code: 'decryption_failed' })
  await assert.rejects(opened(sealed, 'x'.repeat(43)), { code: 'app_key_changed' })
  for (const each of sent) assert.doesNotMatch(each, /app_key=/)
})

test('FED-23 a recipient that the service changes in the URL of the window and its view gets no key', async () => {
  const bob = await stage.enroll({ handle: 'bob-k', displayName: 'Bob' })
  await byRedirect(bob, ['approve'], { app_key_jwk: server.publicJwk })
  const operator = await generateServerKey()
  // A page served by a test needs a permission to reach servers on this machine.
  await bob.context.grantPermissions(['local-network-access'], { origin: stage.service.authUrl })
  const sealed: string[] = []
  bob.context.on('request', (request) => {
    if (request.url().endsWith('/finalize')) sealed.push(request.postData() ?? '')
  })
  const prepare = async (shown: Page) => {
    await shown.locator('[data-action="use-code"]').waitFor()
    const there = new URL(shown.url())
    there.searchParams.set('app_key_jwk', operator.publicJwk)
    await shown.route('**/signin?*', async (route) => {
      const response = await route.fetch()
      const html = await response.text()
      await route.fulfill({
        response,
        body: html.replaceAll(server.publicJwk, operator.publicJwk),
      })
    })
    await shown.goto(there.href)
  }
  assert.equal(await byDialog(bob, { prepare }), undefined)
  for (const each of sealed) assert.doesNotMatch(each, /appKeyJwe/)
  assert.equal(sealed.length, 1)
  assert.equal(typeof (await byDialog(bob)), 'string', 'the right server still gets it')
})

test('FED-24 a key that is bound to no server comes by no dialog, and a first consent there binds none', async () => {
  const cid = await stage.enroll({ handle: 'cid-k', displayName: 'Cid' })
  assert.equal(await byDialog(cid, { press: 'approve' }), undefined)
  assert.equal(await byDialog(cid, { asks: false }), undefined, 'there is no key to unlock')
  const fragment = await byRedirect(cid, ['approve'])
  assert.match(fragment, /^app_key=/)
  assert.equal(await byDialog(cid), undefined)
  assert.equal(await byRedirect(cid, ['unlock']), fragment, 'still bound to none')
})

test('FED-28 a dialog of an origin where the app has never received the key brings none', async () => {
  const fay = await stage.enroll({ handle: 'fay-k', displayName: 'Fay' })
  await byRedirect(fay, ['approve'], { app_key_jwk: server.publicJwk })
  const prepare = async (shown: Page) => {
    await shown.locator('[data-action="use-code"]').waitFor()
    const there = new URL(shown.url())
    assert.equal(there.searchParams.get('fedcm_origin'), app.origin)
    there.searchParams.set('fedcm_origin', 'https://evil.example')
    await shown.goto(there.href)
  }
  await allow([`${app.origin}/callback`, 'https://evil.example/callback'])
  assert.equal(await byDialog(fay, { prepare }), undefined)
  assert.equal(typeof (await byDialog(fay)), 'string', 'its own page still gets it')
})

test('FED-25 a key is bound to a server, bound to another or released only if the user confirms it', async () => {
  const dora = await stage.enroll({ handle: 'dora-k', displayName: 'Dora' })
  const fragment = await byRedirect(dora, ['approve'])
  const bound = await byRedirect(dora, ['unlock', 'confirm-place'], { app_key_jwk: server.publicJwk })
  assert.ok((await opened(sealedIn(bound))).fingerprint)
  assert.match(await byRedirect(dora, ['unlock'], { app_key_jwk: server.publicJwk }), /^app_key_jwe=/, 'asked once')

  // A page of the app, or anyone who writes such a URL, asks for the key in clear or for another recipient.
  const another = await generateServerKey()
  for (const requested of [{}, { app_key_jwk: another.publicJwk }]) {
    assert.match(await byRedirect(dora, ['unlock', 'deny'], requested), /^$/)
    await dora.page.goto('about:blank')
  }
  assert.equal(typeof (await byDialog(dora)), 'string', 'still bound')
  assert.equal(await byRedirect(dora, ['unlock', 'confirm-place']), fragment)
  assert.equal(await byDialog(dora), undefined, 'released')
  await byRedirect(dora, ['unlock', 'confirm-place'], { app_key_jwk: server.publicJwk })
  await dora.page.goto('about:blank')
})

test('APK-10 the user sees where their key goes, and releases it from a server', async () => {
  const eve = await stage.enroll({ handle: 'eve-k', displayName: 'Eve' })
  await byRedirect(eve, ['approve'], { app_key_jwk: server.publicJwk })
  await eve.page.goto(`${stage.service.authUrl}/account/apps`)
  await eve.press('key-places')
  await eve.press('unlock')
  const dialog = eve.page.getByRole('dialog')
  await dialog.getByText(`${app.origin}/callback`, { exact: true }).waitFor()
  assert.equal(await dialog.locator('[data-action="remove-place"]').count(), 0, 'the last address stays')
  await eve.press('release-key')
  await dialog.locator('[data-action="release-key"]').waitFor({ state: 'detached' })
  await eve.press('cancel')
  assert.equal(await byDialog(eve), undefined)
  assert.match(await byRedirect(eve, ['unlock']), /^app_key=/)
})

test('APK-10 an address that the user has removed is asked about again', async () => {
  const hal = await stage.enroll({ handle: 'hal-k', displayName: 'Hal' })
  const added = `${app.origin}/added`
  await allow([`${app.origin}/callback`, added])
  const fragment = await byRedirect(hal, ['approve'])
  assert.equal(await byRedirect(hal, ['unlock', 'confirm-place'], { redirect_uri: added }), fragment)
  await hal.page.goto(`${stage.service.authUrl}/account/apps`)
  await hal.press('key-places')
  await hal.press('unlock')
  const dialog = hal.page.getByRole('dialog')
  await dialog.getByRole('button', { name: added }).click()
  await dialog.locator('[data-action="remove-place"]').first().waitFor({ state: 'detached' })
  assert.equal(await dialog.getByText(added, { exact: true }).count(), 0)
  assert.equal(await byRedirect(hal, ['unlock']), fragment, 'the other address stays')
  await hal.page.goto('about:blank')
  assert.match(await byRedirect(hal, ['unlock', 'deny'], { redirect_uri: added }), /^$/)
})

test('APK-12 a key released while another tab adds an address is not bound again without a question', async () => {
  const gil = await stage.enroll({ handle: 'gil-k', displayName: 'Gil' })
  await byRedirect(gil, ['approve'], { app_key_jwk: server.publicJwk })
  await allow([`${app.origin}/callback`, `${app.origin}/new`])
  // The second tab stores the released key between what the first has read and what it stores.
  let stored = 0
  await gil.page.route('**/app-key', async (route) => {
    if ((stored += 1) > 1) return route.continue()
    const second = await gil.context.newPage()
    await second.goto(signInUrl({}))
    await fillCode(second, gil)
    await second.locator('[data-action="unlock"]').click()
    await second.locator('[data-action="confirm-place"]').click()
    await second.waitForURL((url) => url.origin === app.origin)
    await route.continue()
  })
  await gil.page.goto(signInUrl({ redirect_uri: `${app.origin}/new`, app_key_jwk: server.publicJwk }))
  await gil.press('unlock')
  await gil.page.getByRole('heading', { name: consent.signin.place.title }).waitFor()
  await gil.press('confirm-place')
  await gil.page.getByRole('heading', { name: consent.signin.place.recipientTitle }).waitFor()
  await gil.press('deny')
  await gil.page.waitForURL((url) => url.origin === app.origin)
  assert.match(await byRedirect(gil, ['unlock']), /^app_key=/, 'released, and the address was added')
})
