/**
 * An operator who wants a user's app key, against unmodified pages and SDK. The dialogs of FedCM need a whole browser.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { CompactEncrypt, decodeJwt, importJWK } from 'jose'
import type { Browser, Page } from 'playwright-core'
import { formatAppKeyFragment } from '@countersign/protocol/formats/encryption/app-key-fragment'
import { generateServerKey, openAppKey, type ServerKey } from '../../sdk/src/encryption/server-key.ts'
import { openFederatedApp, pressLast, watchDialogs, type FederatedApp } from '../apps/fedcm-app.ts'
import { keyIn, openKeyedApp, type KeyedApp } from '../apps/keyed-app.ts'
import { launchWholeBrowser } from '../fixtures/environment.ts'
import { openScene, type Scene, type Signer } from './scene.ts'
import { consentMessages as consent } from '../../web/locales/en/pages/sign-in/consent.ts'

let browser: Browser
let scene: Scene
let ada: Signer
before(async () => {
  browser = await launchWholeBrowser()
})
after(() => browser.close())

/** Opens what all tests of a group use. */
function onScene(open: () => Promise<{ close: () => Promise<void> }[]>): void {
  let opened: { close: () => Promise<void> }[]
  before(async () => {
    scene = await openScene(browser)
    opened = await open()
    ada = await scene.enroll('ada')
  })
  after(async () => {
    await ada.leave()
    for (const each of opened) await each.close()
    await scene.close()
  })
}

/** Every URL of the pages that a user visits, with its fragment. */
function recordPlaces(page: Page): string[] {
  const places: string[] = []
  page.on('framenavigated', (frame) => places.push(frame.url()))
  return places
}

describe('an app key is to go to another address', () => {
  let app: KeyedApp
  let thief: KeyedApp
  onScene(async () => {
    app = await openKeyedApp(scene.operator)
    thief = await openKeyedApp(scene.operator)
    return [app, thief]
  })

  const elsewhere = () => `${thief.origin}/callback`
  /** Signs in to the app, which gets its key. */
  const signIn = async (action: string) => {
    await ada.page.goto(app.signInUrl())
    await ada.press(action)
    const { fragment } = await app.answerIn(ada.page)
    assert.ok(keyIn(fragment))
    await ada.page.goto('about:blank')
    return fragment
  }

  test('LIE-01 a redirect URI that the operator has added gets no key unless the user confirms it', async () => {
    const fragment = await signIn('approve')
    const redirectUris = [`${app.origin}/callback`, elsewhere()]
    await scene.operator.lie('redirectUriAdded', { clientId: app.clientId, redirectUris })
    const places = recordPlaces(ada.page)
    await ada.page.goto(app.signInUrl({ redirect_uri: elsewhere() }))
    await ada.press('unlock')
    await ada.page.getByRole('heading', { name: consent.signin.place.title }).waitFor()
    await ada.page.getByText(elsewhere(), { exact: true }).waitFor()
    await ada.press('deny')
    assert.equal((await thief.answerIn(ada.page)).fragment, '')
    for (const place of places) assert.doesNotMatch(place, /app_key/)
    assert.equal(await signIn('unlock'), fragment, 'nothing has changed for the app')
  })

  test('LIE-02 a response that leads to another site brings no key', async () => {
    await scene.operator.lie('responseRedirected', { from: app.origin, to: thief.origin })
    const places = recordPlaces(ada.page)
    const before = thief.received.length
    await ada.page.goto(app.signInUrl())
    await ada.press('unlock')
    await ada.page.getByRole('heading', { name: consent.signin.stopped.title }).waitFor()
    assert.equal(thief.received.length, before)
    for (const place of places) assert.doesNotMatch(place, /app_key/)
  })
})

describe('the recipient of an app key is changed', () => {
  let app: FederatedApp
  let server: ServerKey
  onScene(async () => {
    server = await generateServerKey()
    const recipient = { supportsE2ee: true, appKeyRecipientJwk: server.publicJwk }
    app = await openFederatedApp(scene.operator, { name: 'Notes', ...recipient })
    return [app]
  })
  let fingerprint: string

  /** Signs in by a redirect, with a key for the app's server. */
  const byRedirect = async () => {
    const query = new URLSearchParams({
      ...{ client_id: app.clientId, redirect_uri: `${app.origin}/callback`, scope: 'openid profile' },
      ...{ code_challenge: 'c'.repeat(43), code_challenge_method: 'S256', app_key_jwk: server.publicJwk },
    })
    await ada.page.goto(`${scene.operator.authUrl}/signin?${query}`)
    await ada.press('approve')
    await ada.page.waitForURL((url) => url.origin === app.origin)
    return new URL(ada.page.url()).hash.replace('#app_key_jwe=', '')
  }

  /** Signs in by the dialog of the browser; returns the address of its window, and the key for the app's server. */
  const byDialog = async () => {
    const page = await ada.context.newPage()
    await page.goto(app.origin)
    const dialogs = await watchDialogs(page)
    await app.requestSignIn(page, { scope: 'openid profile', appKeyJwk: server.publicJwk })
    const chooser = await dialogs.next()
    const [shown] = await Promise.all([ada.context.waitForEvent('page'), dialogs.choose(chooser)])
    // Only the first tab of a test has a passkey.
    await shown.locator('[data-action="use-code"]').click()
    await shown.locator('[name="recoveryCode"]').fill(ada.code)
    const address = shown.url()
    await pressLast(shown, 'unlock')
    const outcome = await app.outcome(page)
    assert.ok('token' in outcome, JSON.stringify(outcome))
    await page.close()
    return { address, sealed: decodeJwt(outcome.token)['app_key'] }
  }

  const open = (sealed: unknown, known?: string) =>
    openAppKey(server.privateJwk, String(sealed), { fingerprint: known })

  before(async () => {
    fingerprint = (await open(await byRedirect())).fingerprint
    assert.equal((await open((await byDialog()).sealed, fingerprint)).fingerprint, fingerprint)
  })

  test('LIE-03 the page delivers no key to another recipient', async () => {
    const operator = await generateServerKey()
    await scene.operator.lie('recipientChanged', { from: server.publicJwk, to: operator.publicJwk })
    const sent: string[] = []
    ada.context.on('request', (request) => {
      if (request.url().endsWith('/finalize')) sent.push(request.postData() ?? '')
    })
    const { address, sealed } = await byDialog()
    assert.ok(address.includes(operator.publicJwk), 'the window names the key of the operator')
    assert.equal(sealed, undefined)
    assert.equal(sent.length, 1)
    assert.doesNotMatch(sent[0] ?? '', /appKeyJwe/)
    await scene.operator.lie('recipientChanged', { from: server.publicJwk, to: server.publicJwk })
  })

  test('LIE-04 the server of an app accepts no other key of the user than the one that it has received', async () => {
    const planted = formatAppKeyFragment({ appKey: { mode: 'symmetric', key: new Uint8Array(32).fill(8) } })
    await scene.operator.lie('appKeyPlanted', { appKeyJwe: await sealTo(server.publicJwk, planted) })
    const { sealed } = await byDialog()
    assert.notEqual((await open(sealed)).fingerprint, fingerprint, 'it is encrypted to the server')
    await assert.rejects(open(sealed, fingerprint), { code: 'app_key_changed' })
  })
})

/** Encrypts to the key of an app's server, as the page does. */
async function sealTo(publicJwk: string, plaintext: string): Promise<string> {
  const key = await importJWK(JSON.parse(Buffer.from(publicJwk, 'base64url').toString()), 'ECDH-ES')
  const header = { alg: 'ECDH-ES', enc: 'A256GCM', ctx: 'app-key-fragment' }
  return new CompactEncrypt(Buffer.from(plaintext)).setProtectedHeader(header).encrypt(key)
}
