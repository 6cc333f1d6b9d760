import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { keyIn, openKeyedApp, type KeyedApp } from '../../apps/keyed-app.ts'
import type { Person } from '../../fixtures/person.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'
import { consentMessages as consent } from '../../../web/locales/en/pages/sign-in/consent.ts'

let stage: TestEnvironment
let app: KeyedApp
/** A site of the operator. */
let thief: KeyedApp
before(async () => {
  stage = await openStage({ RATE_LIMITS: 'off' })
  app = await openKeyedApp(stage.service)
  thief = await openKeyedApp(stage.service)
})
after(async () => {
  await thief.close()
  await app.close()
  await stage.close()
})

const callback = (path = '/callback', site = app) => new URL(path, site.origin).href

/** Changes the app's redirect URIs, as an operator can in the database. */
async function allow(redirectUris: string[]) {
  const { baseUrl, admin } = stage.service
  const answer = await fetch(`${baseUrl}/api/admin/apps/${app.clientId}`, {
    method: 'PATCH',
    headers: { ...admin, 'content-type': 'application/json' },
    body: JSON.stringify({ redirectUris: [callback(), ...redirectUris] }),
  })
  assert.equal(answer.status, 200)
}

let people = 0
/** A user who has connected the app, and the key that it has received. */
async function connect(scope = 'openid profile') {
  const person = await stage.enroll({ handle: `ada-${(people += 1)}`, displayName: 'Ada Lovelace' })
  await person.page.goto(app.signInUrl({ scope }))
  await person.press('approve')
  const { fragment } = await app.answerIn(person.page)
  await person.page.goto('about:blank')
  return { person, fragment }
}

/** Every URL of a page, with its fragment. */
function recordPlaces(page: Page): string[] {
  const places: string[] = []
  page.on('framenavigated', (frame) => places.push(frame.url()))
  return places
}

const question = ({ page }: Person) => page.getByRole('heading', { name: consent.signin.place.title }).waitFor()

for (const scope of ['openid profile', 'openid profile e2ee:asymmetric'])
  test(`APK-08 the key of ${scope} goes to a redirect URI of the operator after a confirmation only`, async () => {
    const { person: ada, fragment } = await connect(scope)
    const { page } = ada
    await allow([callback('/callback', thief)])
    const places = recordPlaces(page)
    const requested = { scope, redirect_uri: callback('/callback', thief) }
    await page.goto(app.signInUrl(requested))
    await ada.press('unlock')
    await question(ada)
    await page.getByText(callback(), { exact: true }).waitFor()
    await page.getByText(callback('/callback', thief), { exact: true }).waitFor()
    assert.equal(new URL(page.url()).origin, stage.service.authUrl)

    await ada.press('deny')
    const denied = await thief.answerIn(page)
    assert.deepEqual([denied.query.get('error'), denied.fragment], ['access_denied', ''])
    for (const place of places) assert.doesNotMatch(place, /app_key/)
    for (const each of thief.received) assert.doesNotMatch(each, /code=/)

    // Nothing has changed: the app receives its key where it did, and the other address is asked about again.
    await page.goto(app.signInUrl({ scope }))
    await ada.press('unlock')
    assert.equal((await app.answerIn(page)).fragment, fragment)
    await page.goto(app.signInUrl(requested))
    await ada.press('unlock')
    await question(ada)
    await ada.leave()
  })

test('APK-08 an address that the user has confirmed is asked about once, and the former one stays', async () => {
  const { person: bea, fragment } = await connect()
  await allow([callback('/new?tenant=1')])
  const requested = { redirect_uri: callback('/new?tenant=1') }
  await bea.page.goto(app.signInUrl(requested))
  await bea.press('unlock')
  await question(bea)
  await bea.press('confirm-place')
  const moved = await app.answerIn(bea.page)
  assert.equal(moved.fragment, fragment)
  assert.equal((await app.redeem(moved.query.get('code') ?? '', callback('/new?tenant=1'))).status, 200)
  for (const again of [{}, requested]) {
    await bea.page.goto('about:blank')
    await bea.page.goto(app.signInUrl(again))
    await bea.press('unlock')
    assert.equal((await app.answerIn(bea.page)).fragment, fragment)
  }
  await bea.leave()
})

test('APK-08 a pushed request with another redirect URI, which no address contains, is asked about', async () => {
  const { person: cid } = await connect()
  const elsewhere = callback('/callback', thief)
  await allow([elsewhere])
  const parameters = new URL(app.signInUrl({ redirect_uri: elsewhere })).searchParams
  const pushed = await fetch(`${stage.service.baseUrl}/api/oauth/par`, { method: 'POST', body: parameters })
  const { request_uri: requestUri }: { request_uri: string } = await pushed.json()
  const query = new URLSearchParams({ client_id: app.clientId, request_uri: requestUri })
  const places = recordPlaces(cid.page)
  await cid.page.goto(`${stage.service.authUrl}/signin?${query}`)
  await cid.press('unlock')
  await question(cid)
  for (const place of places) assert.doesNotMatch(place, /app_key/)
  await cid.leave()
})

test('APK-08 a reset delivers the former key only where it was delivered before', async () => {
  const { person: dora, fragment } = await connect()
  await allow([callback('/callback', thief)])
  const places = recordPlaces(dora.page)
  const requested = { scope: 'openid profile e2ee:reset', redirect_uri: callback('/callback', thief) }
  await dora.page.goto(app.signInUrl(requested))
  await dora.press('approve')
  await question(dora)
  for (const place of places) assert.doesNotMatch(place, /app_key/)
  await dora.page.goto(app.signInUrl())
  await dora.press('unlock')
  assert.equal((await app.answerIn(dora.page)).fragment, fragment, 'nothing was replaced')
  await dora.leave()
})

/** Makes the server say that the identity has no key yet, so that the page creates another one. */
async function hideKey(page: Page) {
  await page.route('**/api/oauth/authorization/*', async (route) => {
    if (route.request().method() !== 'GET') return route.continue()
    const response = await route.fetch()
    const answer: { authorization: object } = await response.json()
    const keys = { encryptionMode: null, encryptedAppKey: null, appPublicKey: null, encryptedAppPrivateKey: null }
    await route.fulfill({ response, json: { ...answer, authorization: { ...answer.authorization, ...keys } } })
  })
}

test('APK-08 a key that the server names only after the consent is asked about too', async () => {
  const { person: eve, fragment } = await connect()
  await allow([callback('/callback', thief), callback('/new')])
  const { page } = eve
  const places = recordPlaces(page)
  await hideKey(page)
  await page.goto(app.signInUrl({ redirect_uri: callback('/callback', thief) }))
  await eve.press('unlock')
  await question(eve)
  for (const place of places) assert.doesNotMatch(place, /app_key/)

  // The same in good faith: another tab was first. Then the confirmed answer brings the key that exists.
  await page.goto(app.signInUrl({ redirect_uri: callback('/new') }))
  await eve.press('unlock')
  await question(eve)
  await eve.press('confirm-place')
  assert.equal((await app.answerIn(page)).fragment, fragment)
  await eve.leave()
})

test('APK-09 the envelope of another app, identity or version, or an altered one, opens no key', async () => {
  const { person: fay } = await connect()
  const other = await openKeyedApp(stage.service)
  await fay.page.goto(other.signInUrl())
  await fay.press('approve')
  await other.answerIn(fay.page)
  await fay.page.goto(`${stage.service.authUrl}/account`)
  const { authorizations } = await fay.call(stage.service.baseUrl, 'GET /api/oauth/authorizations')
  const sealedFor = (clientId: string) =>
    authorizations.find((each) => each.clientId === clientId)?.encryptedAppKey ?? ''
  const own = sealedFor(app.clientId)
  const header = Buffer.from(JSON.stringify({ alg: 'dir', enc: 'A256GCM', ctx: 'app-key:x' })).toString('base64url')
  const altered = own.replace(/.{22}$/, (tag) => `${tag.startsWith('A') ? 'B' : 'A'}${tag.slice(1)}`)
  const falsified = [sealedFor(other.clientId), own.replace(/^[^.]+/, header), altered]
  const places = recordPlaces(fay.page)
  for (const sealed of falsified) {
    await fay.page.route('**/api/oauth/{authorize,authorization/*}', async (route) => {
      const response = await route.fetch()
      const text = await response.text()
      await route.fulfill({ response, body: text.replaceAll(own, sealed) })
    })
    await fay.page.goto(app.signInUrl())
    await fay.press('unlock')
    await fay.page.locator('[role=alert] .problem').waitFor()
    assert.equal(new URL(fay.page.url()).origin, stage.service.authUrl)
    await fay.page.unrouteAll()
  }
  for (const place of places) assert.doesNotMatch(place, /app_key/)
  await other.close()
  await fay.leave()
})

/** A user whose passkey cannot unlock keys, who uses the recovery code in each tab. */
async function enrollWithCode(handle: string) {
  const person = await stage.invite({ prf: false })
  await person.page.goto(`${stage.service.authUrl}/register`)
  const code = await person.createAccount({ handle, displayName: 'Hal' })
  await person.press('confirm-recovery-saved')
  await person.page.waitForURL(/\/account/)
  const unlock = async (page = person.page) => {
    await page.locator('[name="recoveryCode"]').fill(code)
    await page.locator('[data-action="unlock"]').click()
  }
  return { person, unlock }
}

test('APK-07 two tabs that add an address each lose neither', async () => {
  const { person: gil, unlock } = await enrollWithCode('gil')
  await gil.page.goto(app.signInUrl())
  await gil.press('approve')
  await unlock()
  const { fragment } = await app.answerIn(gil.page)
  await allow([callback('/one'), callback('/two')])
  const second = await gil.context.newPage()
  await gil.page.goto(app.signInUrl({ redirect_uri: callback('/one') }))
  await unlock()
  await question(gil)
  // The second tab stores its address between what the first has read and what it stores.
  let stored = 0
  await gil.page.route('**/app-key', async (route) => {
    if ((stored += 1) === 1) {
      await second.goto(app.signInUrl({ redirect_uri: callback('/two') }))
      await unlock(second)
      await second.locator('[data-action="confirm-place"]').click()
      assert.equal((await app.answerIn(second)).fragment, fragment)
    }
    await route.continue()
  })
  await gil.press('confirm-place')
  assert.equal((await app.answerIn(gil.page)).fragment, fragment)
  assert.equal(stored, 2, 'the first attempt came too late')
  for (const path of ['/callback', '/one', '/two']) {
    await gil.page.goto('about:blank')
    await gil.page.goto(app.signInUrl({ redirect_uri: callback(path) }))
    await unlock()
    assert.equal((await app.answerIn(gil.page)).fragment, fragment)
  }
  await gil.leave()
})

test('APK-08 who unlocks their key with the recovery code is asked too', async () => {
  const { person: hal, unlock } = await enrollWithCode('hal')
  await hal.page.goto(app.signInUrl())
  await hal.press('approve')
  await unlock()
  const { fragment } = await app.answerIn(hal.page)
  await allow([callback('/new')])
  await hal.page.goto(app.signInUrl({ redirect_uri: callback('/new') }))
  await unlock()
  await question(hal)
  await hal.press('confirm-place')
  const answer = await app.answerIn(hal.page)
  assert.equal(answer.fragment, fragment)
  assert.ok(keyIn(answer.fragment))
  await hal.leave()
})
