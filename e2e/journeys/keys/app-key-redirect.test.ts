import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { openKeyedApp, type KeyedApp } from '../../apps/keyed-app.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'
import { consentMessages as consent } from '../../../web/locales/en/pages/sign-in/consent.ts'

let stage: TestEnvironment
let app: KeyedApp
let thief: Awaited<ReturnType<typeof openThief>>
before(async () => {
  stage = await openStage({ RATE_LIMITS: 'off' })
  app = await openKeyedApp(stage.service)
  thief = await openThief()
})
after(async () => {
  await thief.close()
  await app.close()
  await stage.close()
})

/** A site to which a malicious server would send the key. */
async function openThief() {
  const received: string[] = []
  const server = createServer((request, response) => {
    received.push(request.url ?? '')
    response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Thief</title>')
  }).listen(0)
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the malicious site has no port')
  return {
    origin: `http://thief.localhost:${address.port}`,
    requested: received,
    async close() {
      server.closeAllConnections()
      await once(server.close(), 'close')
    },
  }
}

/** Every URL of a page, with its fragment. */
function recordPlaces(page: Page): string[] {
  const places: string[] = []
  page.on('framenavigated', (frame) => places.push(frame.url()))
  return places
}

const callback = () => new URL('/callback', app.origin).href

/** Makes the server falsify the response of `authorize`: the URL to which the browser takes the key. */
const attacks: Record<string, (right: string) => string> = {
  'another site': (right) => right.replace(app.origin, thief.origin),
  'another scheme': (right) => right.replace('http:', 'com.thief.app:'),
  'another page of the app': (right) => right.replace('/callback', '/open-redirect'),
  'a page of the service': (right) => right.replace(app.origin, stage.service.authUrl),
  'the app, with a further redirect target': (right) => `${right}&next=${encodeURIComponent(thief.origin)}`,
}

let people = 0

for (const [attack, falsify] of Object.entries(attacks))
  for (const scope of ['openid profile', 'openid profile e2ee:asymmetric'])
    test(`E2E-02 APK-01 if the server redirects to ${attack}, the key of ${scope} stays in the page`, async () => {
      const ada = await stage.enroll({ handle: `ada-${(people += 1)}`, displayName: 'Ada Lovelace' })
      const { page } = ada
      const places = recordPlaces(page)
      await page.route('**/api/oauth/authorize', async (route) => {
        if (route.request().method() !== 'POST') return route.continue()
        const response = await route.fetch()
        const answer: { redirectUrl: string } = await response.json()
        await route.fulfill({ response, json: { ...answer, redirectUrl: falsify(answer.redirectUrl) } })
      })
      await page.goto(app.signInUrl({ scope }))
      await ada.press('approve')
      await page.getByRole('heading', { name: consent.signin.stopped.title }).waitFor()
      assert.deepEqual(thief.requested, [])
      for (const place of places) assert.doesNotMatch(place, /app_key/)
      assert.equal(new URL(page.url()).origin, stage.service.authUrl)
      await ada.leave()
    })
test('APK-01 the previous key of a reset is withheld too', async () => {
  const bea = await stage.enroll({ handle: 'bea', displayName: 'Bea' })
  const { page } = bea
  await page.goto(app.signInUrl())
  await bea.press('approve')
  await app.answerIn(page)
  const places = recordPlaces(page)
  await page.route('**/api/oauth/authorize', async (route) => {
    if (route.request().method() !== 'POST') return route.continue()
    const response = await route.fetch()
    const answer: { redirectUrl: string } = await response.json()
    const redirectUrl = answer.redirectUrl.replace(app.origin, thief.origin)
    await route.fulfill({ response, json: { ...answer, redirectUrl } })
  })
  await page.goto(app.signInUrl({ scope: 'openid profile e2ee:reset' }))
  await bea.press('approve')
  await page.getByRole('heading', { name: consent.signin.stopped.title }).waitFor()
  assert.deepEqual(thief.requested, [])
  for (const place of places) assert.doesNotMatch(place, /app_key/)
  await bea.leave()
})

test('APK-03 a page whose response names another redirect URI than its URL hands over no key', async () => {
  const cid = await stage.enroll({ handle: 'cid', displayName: 'Cid' })
  const { page } = cid
  const places = recordPlaces(page)
  const elsewhere = `${thief.origin}/callback`
  // A page served by a test needs a permission to reach servers on this machine.
  await cid.context.grantPermissions(['local-network-access'], { origin: stage.service.authUrl })
  await page.route('**/signin?*', async (route) => {
    const response = await route.fetch()
    const html = await response.text()
    const original = `"redirectUri":${JSON.stringify(callback())}`
    assert.ok(html.includes(original))
    await route.fulfill({ response, body: html.replace(original, `"redirectUri":${JSON.stringify(elsewhere)}`) })
  })
  await page.goto(app.signInUrl())
  await cid.press('approve')
  await page.getByRole('heading', { name: consent.signin.stopped.title }).waitFor()
  await page.getByText(new URL(thief.origin).host).waitFor()
  assert.deepEqual(thief.requested, [])
  for (const place of places) assert.doesNotMatch(place, /app_key/)
  await cid.leave()
})
