import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { en as words } from '../../../web/locales/en/messages.ts'
import { addVirtualAuthenticator } from '../../fixtures/authenticator.ts'
import type { Person } from '../../fixtures/person.ts'
import { openSigningApp, type SigningApp } from '../../apps/signing-app.ts'
import { openStageWithProcess, type ProcessStage } from '../../fixtures/environment.ts'

/** Advances the clock of the product by the lifetime of a re-authentication, at each signal. */
const turningClock = `
  let ahead = 0
  const now = Date.now
  Date.now = () => now() + ahead
  globalThis.Date = class extends Date {
    constructor(...given) {
      given.length === 0 ? super(Date.now()) : super(...given)
    }
  }
  process.on('SIGUSR2', () => (ahead += 301_000))`

let stage: ProcessStage
let app: SigningApp
before(async () => {
  stage = await openStageWithProcess({
    RATE_LIMITS: 'off',
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(turningClock)}`,
  })
  app = await openSigningApp(stage.service)
})
after(async () => {
  await app.close()
  await stage.close()
})

const payload = 'Pay 100 €'
const control = (page: Pick<Page, 'locator'>, action: string) => page.locator(`[data-action="${action}"]`)
const awake = (page: Pick<Page, 'locator'>) => page.locator('[data-action="sign"][aria-disabled="false"]')

async function enroll(handle: string) {
  const person = await stage.enroll({ handle, displayName: 'Ada Lovelace' })
  const { identities } = await person.call(stage.service.baseUrl, 'GET /api/auth/session')
  return { person, identityId: identities[0]?.identityId ?? '' }
}

/** Makes the user's authentication too old, and waits until the product reports that. */
async function letProofAge(person: Person): Promise<void> {
  const ageOf = async () => (await person.call(stage.service.baseUrl, 'GET /api/auth/session')).secondsSinceAuthTime
  stage.service.process.kill('SIGUSR2')
  while ((await ageOf()) <= 300) await new Promise((resolve) => setTimeout(resolve, 50))
}

/** Counts how often a page calls for a passkey. */
const countTouches = (page: Page) =>
  page.evaluate(() => {
    const calls: unknown[] = []
    Reflect.set(globalThis, 'touches', calls)
    const get = CredentialsContainer.prototype.get
    CredentialsContainer.prototype.get = function counted(options) {
      calls.push(options)
      return get.call(this, options)
    }
  })
const touches = (page: Page) => page.evaluate<number>('touches.length')

/** By keyboard, which reaches a frame as soon as it is rendered; a pointer does so a little later. */
const pressSign = (frame: Pick<Page, 'locator'>) => awake(frame).press('Enter')

const pathsOf = async (person: Person) => (await person.sent()).map(({ url }) => new URL(url).pathname)

for (const age of ['recent', 'old'])
  test(`SGN-04 with an authentication that is ${age}, one passkey use re-authenticates and signs`, async () => {
    const { person, identityId } = await enroll(`ada-${age}`)
    const { page } = person
    if (age === 'old') await letProofAge(person)
    const { requestId } = await app.ask({ identityId, payload })
    await page.goto(`${stage.service.authUrl}/sign?requestId=${requestId}`)
    await awake(page).waitFor()
    await countTouches(page)
    await awake(page).click()
    await page.getByRole('heading', { name: words.sign.ends.signed }).waitFor()
    assert.equal(await touches(page), 1)
    assert.ok((await pathsOf(person)).includes('/api/auth/reauthenticate/finish'))
    assert.ok(app.accepts(await app.read(requestId), payload))
    await person.leave()
  })

test('SGN-04 a frame signs with a recent authentication; otherwise it leads to its window, which signs', async () => {
  const { person, identityId } = await enroll('kate')
  const { page } = person
  const { requestId: first } = await app.ask({ identityId, payload })
  const frame = page.frameLocator('iframe')
  await page.goto(`${app.sameSite}/frame?requestId=${first}`)
  await pressSign(frame)
  await frame.getByRole('heading', { name: words.sign.ends.signed }).waitFor()

  await page.goto(stage.service.authUrl)
  await letProofAge(person)
  const { requestId } = await app.ask({ identityId, payload })
  await page.goto(`${app.sameSite}/frame?requestId=${requestId}`)
  await pressSign(frame)
  await frame.getByText(words.sign.inAWindowWhy).waitFor()
  assert.equal((await app.read(requestId)).status, 'pending')

  const opened = page.waitForEvent('popup')
  await control(frame, 'open-window').click()
  const popup = await opened
  const authenticator = await addVirtualAuthenticator(popup, { prf: true })
  await authenticator.take(await person.authenticator.credentials())
  await awake(popup).click()
  // A passkey that tests copy to another tab loses its PRF, so it re-authenticates and unlocks no key.
  await popup.locator('input[name="recoveryCode"]').fill(person.code)
  await control(popup, 'unlock').click()
  await frame.getByRole('heading', { name: words.sign.ends.signed }).waitFor()
  assert.ok(app.accepts(await app.read(requestId), payload))
  await person.leave()
})

test('SGN-04 a user who unlocks the keys with the recovery code after a while re-authenticates then', async () => {
  const { person, identityId } = await enroll('cora')
  const { page } = person
  await letProofAge(person)
  await person.authenticator.replace()
  const { requestId } = await app.ask({ identityId, payload, expiresInSeconds: 3600 })
  await page.goto(`${stage.service.authUrl}/sign?requestId=${requestId}`)
  await awake(page).click()
  await page.locator('input[name="recoveryCode"]').fill(person.code)
  await letProofAge(person)
  await countTouches(page)
  await control(page, 'unlock').click()
  await page.getByRole('heading', { name: words.sign.ends.signed }).waitFor()
  assert.equal(await touches(page), 1)
  await person.leave()
})
