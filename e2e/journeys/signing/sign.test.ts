import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { words } from '../../pages/words.ts'
import { exactTextMessages } from '../../../web/locales/en/pages/exact-text.ts'
import { addVirtualAuthenticator } from '../../fixtures/authenticator.ts'
import type { Person } from '../../fixtures/person.ts'
import { openSigningApp, type SigningApp } from '../../apps/signing-app.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'

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

type Message = { origin: string; data: { type: string; payload: Record<string, string> } }

/** A user with an account, and the id of their identity. */
async function enroll(handle: string) {
  const person = await stage.enroll({ handle, displayName: 'Ada Lovelace' })
  return { person, identityId: await identityOf(person) }
}

async function identityOf(person: Person): Promise<string> {
  const { identities } = await person.call(stage.service.baseUrl, 'GET /api/auth/session')
  return identities[0]?.identityId ?? ''
}

const messagesOf = (page: Page) => page.evaluate<Message[]>('messages')
const signPage = (requestId: string) => `${stage.service.authUrl}/sign?requestId=${requestId}`
const control = (page: Pick<Page, 'locator'>, action: string) => page.locator(`[data-action="${action}"]`)
const awake = (page: Pick<Page, 'locator'>) => page.locator('[data-action="sign"][aria-disabled="false"]')
const heading = (page: Pick<Page, 'getByRole'>, name: string) => page.getByRole('heading', { name })

/** Watches a button from now on; returns which transitions are running when it becomes enabled. */
async function watchWaking(button: Locator): Promise<() => Promise<number>> {
  const watching = await button.evaluateHandle((element) => ({
    fading: new Promise<number>((resolve) => {
      const report = () => resolve(element.getAnimations().length)
      new MutationObserver(report).observe(element, { attributeFilter: ['aria-disabled'] })
    }),
  }))
  return () => watching.evaluate(({ fading }) => fading)
}

type Credentials = Awaited<ReturnType<Person['authenticator']['credentials']>>

/** Opens the popup, with copies of passkeys: those of tests belong to a tab. */
async function openPopup(page: Page, requestId: string, passkeys: Credentials = []): Promise<Page> {
  const opened = page.waitForEvent('popup')
  await page.evaluate(`openSigning('${requestId}')`)
  const popup = await opened
  await (await addVirtualAuthenticator(popup, { prf: true })).take(passkeys)
  await popup.locator('.exact-text').waitFor()
  return popup
}

test('SIG-19 a full page: the sent text is shown and signed byte for byte, whatever it contains', async () => {
  const { person, identityId } = await enroll('ada')
  const { page } = person
  const payload = [
    'Pay \u202E001\u202C € to P\u0430per\u200BShop\r',
    '<img src=x onerror="document.title = 1"><script>document.title = 2</script>\t \x1B[31mred',
    `z${'\u0301'.repeat(60)} e\u0301 \u00e9 👩‍👧`,
    '{{constructor.constructor("document.title = 3")()}}',
  ].join('\n')
  const { requestId } = await app.ask({ identityId, payload })
  // An app may keep IDs in capitals: the signature is for the same request.
  await page.goto(signPage(requestId.toUpperCase()))
  await page.locator('.exact-text').waitFor()
  assert.equal(await page.locator('.exact-text img, .exact-text script').count(), 0)
  const shown = await page.locator('.exact-text').innerText()
  for (const inert of ['<img src=x onerror="document.title = 1">', '<script>', '{{constructor.constructor('])
    assert.ok(shown.includes(inert), shown)
  const marked = await page.locator('.odd').allInnerTexts()
  assert.deepEqual(marked, ['U+202E', 'U+202C', 'а Cyrillic', 'U+200B', 'U+001B', 'U+0301 ×57'])
  await page.getByText(exactTextMessages.oddities.direction(2)).waitFor()
  await page.getByText(words.sign.notConnected).waitFor()
  await awake(page).click()
  await heading(page, words.sign.ends.signed).waitFor()
  const status = await app.read(requestId)
  assert.equal(status.status, 'signed')
  assert.ok(app.accepts(status, payload))
  assert.doesNotMatch(await page.title(), /[123]/)

  await page.reload()
  await heading(page, words.sign.ends.signed).waitFor()
  await person.leave()
})

test('a long text can be signed only after scrolling to its end', async () => {
  const { person, identityId } = await enroll('bea')
  const { page } = person
  const { requestId } = await app.ask({ identityId, payload: 'I agree.\n'.repeat(200) })
  await page.goto(signPage(requestId))
  await page.getByText(words.sign.readOn).waitFor()
  await control(page, 'sign').click({ force: true })
  assert.equal((await app.read(requestId)).status, 'pending')
  await page.locator('.exact-text').focus()
  const fadingOnceAwake = await watchWaking(control(page, 'sign'))
  await page.keyboard.press('End')
  assert.equal(await fadingOnceAwake(), 0, 'a button with a background transition is unreadable meanwhile')
  await awake(page).click()
  await heading(page, words.sign.ends.signed).waitFor()
  await person.leave()
})

test('an unreadable text is signed only after a confirmation', async () => {
  const { person, identityId } = await enroll('cara')
  const payload = 'b5bb9d8014a0f9b1d61e21e796d78dccdf1352f23cd32812f4850b878ae4944c'
  const { requestId } = await app.ask({ identityId, payload })
  await person.page.goto(signPage(requestId))
  await control(person.page, 'insist').waitFor()
  assert.equal(await control(person.page, 'sign').count(), 0)
  await person.press('insist')
  await awake(person.page).click()
  await heading(person.page, words.sign.ends.signed).waitFor()
  assert.ok(app.accepts(await app.read(requestId), payload))
  await person.leave()
})

test('SGN-07 a message that Countersign itself signs can only be denied, for any app', async () => {
  const { person, identityId } = await enroll('cleo')
  const { page } = person
  const { requestId } = await app.ask({ identityId, payload: 'I agree.' })
  const payload = '{"version":1,"action":"organization.deleted","details":{"organizationId":"x"}}'
  await page.route(`**/api/signing/requests/${requestId}`, async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, json: { ...(await response.json()), payload } })
  })
  await page.goto(signPage(requestId))
  await page.getByText(words.sign.reserved('Countersign')).waitFor()
  for (const action of ['sign', 'insist', 'use-code']) assert.equal(await control(page, action).count(), 0)
  await person.press('deny')
  await heading(page, words.sign.ends.denied).waitFor()
  await person.leave()
})

test('a popup: the user signs, the page gets a message, its server verifies, and the popup closes', async () => {
  const person = await stage.invite()
  const { page } = person
  await page.goto(`${stage.service.authUrl}/register`)
  const code = await person.createAccount({ handle: 'dora', displayName: 'Dora' })
  await person.press('confirm-recovery-saved')
  await page.waitForURL(/\/account/)
  const identityId = await identityOf(person)
  const payload = 'Pay 100 € to Paper Shop ✓'
  const { requestId, publicKey } = await app.ask({ identityId, payload })
  await page.goto(app.origin)
  const popup = await openPopup(page, requestId, await person.authenticator.credentials())
  // A passkey that tests copy to another tab loses its PRF, so it unlocks no key.
  await awake(popup).click()
  await popup.locator('input[name="recoveryCode"]').fill(code)
  const closed = popup.waitForEvent('close')
  await control(popup, 'unlock').click()
  await closed

  const status = await app.read(requestId)
  assert.ok(app.accepts(status, payload))
  assert.deepEqual(await messagesOf(page), [
    {
      origin: stage.service.authUrl,
      data: { type: 'countersign:signed', payload: { requestId, signature: status.signature, publicKey } },
    },
  ])
  await person.leave()
})

test('a popup: the passkey unlocks the key there, and the popup closes after the page gets a message', async () => {
  const { page, leave } = await stage.invite()
  await page.goto(app.origin)
  const opened = page.waitForEvent('popup')
  await page.evaluate(`void open('about:blank', 'sign', 'popup')`)
  const popup = await opened
  await enrollInPopup(popup, 'erin')
  const identityId = await popup.evaluate(async (url) => {
    const { identities } = await (await fetch(url, { credentials: 'include' })).json()
    return String(identities[0].identityId)
  }, `${stage.service.baseUrl}/api/auth/session`)
  const payload = 'Pay 100 € to Paper Shop ✓'
  const { requestId } = await app.ask({ identityId, payload })
  await page.evaluate(`openSigning('${requestId}')`)
  const closed = popup.waitForEvent('close')
  await awake(popup).click()
  await closed
  assert.ok(app.accepts(await app.read(requestId), payload))
  assert.deepEqual(
    (await messagesOf(page)).map(({ data }) => [data.type, data.payload['requestId']]),
    [['countersign:signed', requestId]],
  )
  await leave()
})

/**
 * Creates an account in the window in which the user will sign, because the PRF outputs of a test passkey stay in the
 * tab that created it. Of the pages before an account, only those that return to an app keep the opener.
 */
async function enrollInPopup(popup: Page, handle: string): Promise<void> {
  await addVirtualAuthenticator(popup, { prf: true })
  await popup.goto(`${stage.service.authUrl}/register?return=/signin`)
  await popup.locator('input[name="handle"]').fill(handle)
  await popup.locator('input[name="displayName"]').fill('Erin')
  await control(popup, 'create-account').click()
  await popup.locator('output[name="recoveryCode"]').waitFor()
}

test('a popup: the user denies without unlocking a key, and the app’s page gets a message', async () => {
  const { person, identityId } = await enroll('emma')
  const { requestId } = await app.ask({ identityId, payload: 'Pay 100 €' })
  await person.page.goto(app.origin)
  const popup = await openPopup(person.page, requestId)
  const closed = popup.waitForEvent('close')
  await control(popup, 'deny').click()
  await closed
  assert.deepEqual(
    (await messagesOf(person.page)).map(({ data }) => data),
    [{ type: 'countersign:denied', payload: { requestId } }],
  )
  assert.equal((await app.read(requestId)).status, 'denied')
  await person.leave()
})

test('a popup of a foreign page: it learns nothing of the signature', async () => {
  const { person, identityId } = await enroll('fay')
  const { requestId } = await app.ask({ identityId, payload: 'Pay 100 €' })
  await person.page.goto(app.foreign)
  const popup = await openPopup(person.page, requestId)
  const closed = popup.waitForEvent('close')
  await control(popup, 'deny').click()
  await closed
  assert.equal((await app.read(requestId)).status, 'denied')
  assert.deepEqual(await messagesOf(person.page), [])
  await person.leave()
})

test('a signed-out user signs in on the page, which then continues; a foreign request stays hidden', async () => {
  const { person, identityId } = await enroll('gina')
  const { requestId } = await app.ask({ identityId, payload: 'Pay 100 €' })
  const { person: other } = await enroll('hana')
  await other.page.goto(signPage(requestId))
  await heading(other.page, words.sign.unknownTitle).waitFor()
  assert.doesNotMatch(await other.page.content(), /Pay 100/)
  await other.leave()

  await person.press('sign-out')
  await person.page.waitForURL(`${stage.service.authUrl}/`)
  person.offerPasskeys(false)
  await person.page.goto(signPage(requestId))
  await person.press('sign-in')
  await awake(person.page).click()
  await heading(person.page, words.sign.ends.signed).waitFor()
  await person.leave()
})

test('a popup of an expiring request shows the expiry by itself, stays open, and sends nothing', async () => {
  const { person, identityId } = await enroll('iris')
  const { requestId } = await app.ask({ identityId, payload: 'Pay 100 €', expiresInSeconds: 60 })
  await person.context.clock.install()
  await person.page.goto(app.origin)
  const popup = await openPopup(person.page, requestId)
  await awake(popup).waitFor()
  await person.context.clock.fastForward(61_000)
  await heading(popup, words.sign.ends.expired).waitFor()
  assert.equal(await control(popup, 'sign').count(), 0)
  await person.context.clock.fastForward(10_000)
  assert.equal(popup.isClosed(), false)
  assert.deepEqual(await messagesOf(person.page), [])
  await person.leave()
})

test('SIG-25 a demonstration, which anyone can request, is labelled as one', async () => {
  const { person, identityId } = await enroll('ines')
  const created = await fetch(`${stage.service.baseUrl}/api/signing/demo/request`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ handle: 'ines', payload: 'Pay 100 €' }),
  })
  const { requestId } = (await created.json()) as { requestId: string }
  await person.page.goto(signPage(requestId))
  await person.page.getByText(words.sign.demonstration).waitFor()

  const { requestId: earnest } = await app.ask({ identityId, payload: 'Pay 100 €' })
  await person.page.goto(signPage(earnest))
  await awake(person.page).waitFor()
  assert.equal(await person.page.getByText(words.sign.demonstration).count(), 0)
  await person.leave()
})

test('a frame on the site of the app: its window signs, and the surrounding page gets a message', async () => {
  const { person, identityId } = await enroll('jane')
  const { page } = person
  const { requestId } = await app.ask({ identityId, payload: 'Pay 100 €' })
  await page.goto(`${app.origin}/frame?requestId=${requestId}`)
  const frame = page.frameLocator('iframe')
  const opened = page.waitForEvent('popup')
  await frame.locator('[data-action="open-window"]').click()
  const popup = await opened
  await popup.locator('.exact-text').waitFor()
  await control(popup, 'deny').click()
  await frame.getByRole('heading', { name: words.sign.ends.denied }).waitFor()
  assert.deepEqual(
    (await messagesOf(page)).map(({ data }) => data),
    [{ type: 'countersign:denied', payload: { requestId } }],
  )
  await person.leave()
})

test('SGN-04 a frame on our own site shows the text and denies; signing opens its window', async () => {
  const { person, identityId } = await enroll('kate')
  const { page } = person
  const payload = 'Pay 100 €'
  const ids: string[] = []
  for (const _ of [1, 2]) ids.push((await app.ask({ identityId, payload })).requestId)
  const [first = '', second = ''] = ids
  const frame = page.frameLocator('iframe')
  await page.goto(`${app.sameSite}/frame?requestId=${first}`)
  await frame.locator('.exact-text').waitFor()
  assert.equal(await control(frame, 'sign').count(), 0)
  await control(frame, 'deny').press('Enter')
  await frame.getByRole('heading', { name: words.sign.ends.denied }).waitFor()

  await page.goto(`${app.sameSite}/frame?requestId=${second}`)
  const opened = page.waitForEvent('popup')
  await control(frame, 'open-window').press('Enter')
  const popup = await opened
  const authenticator = await addVirtualAuthenticator(popup, { prf: true })
  await authenticator.take(await person.authenticator.credentials())
  await awake(popup).click()
  // A passkey that tests copy to another tab loses its PRF, so it unlocks no key.
  await popup.locator('input[name="recoveryCode"]').fill(person.code)
  await control(popup, 'unlock').click()
  await frame.getByRole('heading', { name: words.sign.ends.signed }).waitFor()
  assert.ok(app.accepts(await app.read(second), payload))
  assert.deepEqual(
    (await messagesOf(page)).map(({ data }) => data.type),
    ['countersign:signed'],
  )
  await person.leave()
})

test('HDR-06 a foreign page cannot show the page in a frame', async () => {
  const { person, identityId } = await enroll('lena')
  const { requestId } = await app.ask({ identityId, payload: 'Pay 100 €' })
  const refused = person.page.waitForEvent('console', (message) => /frame-ancestors/.test(message.text()))
  await person.page.goto(`${app.foreign}/frame?requestId=${requestId}`)
  await refused
  assert.equal(await person.page.frameLocator('iframe').locator('main').count(), 0)
  await person.leave()
})
