import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { words } from '../../pages/words.ts'
import { findApprovalError } from '@countersign/protocol/signing/approvals'
import { nodeSuite } from '@countersign/protocol/signing/receipt-verification'
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

/** By how much the clock of the product is ahead. */
let aheadSeconds = 0

/** Lets the clock of the user's device run as that of the product does now. */
const setClock = ({ page }: Person) => page.clock.install({ time: Date.now() + aheadSeconds * 1000 })

/** Makes the user's authentication too old, and waits until the product reports that. */
async function letProofAge(person: Person): Promise<void> {
  const ageOf = async () => (await person.call(stage.service.baseUrl, 'GET /api/auth/session')).secondsSinceAuthTime
  aheadSeconds += 301
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

type Status = Awaited<ReturnType<SigningApp['read']>>

/** Verifies the approval as the app does, with what it knows by itself. */
function errorOf({ approval, publicKey = '' }: Status, request: { requestId: string; identityId: string }) {
  const expected = { ...request, clientId: app.app.clientId, issuer: new URL(stage.service.authUrl).origin, payload }
  assert.ok(approval)
  return findApprovalError(nodeSuite, approval, {
    ...expected,
    ...{ role: 'self', publicKey, keyVersion: 1, requiresPresence: true },
  })
}

const pathsOf = async (person: Person) => (await person.sent()).map(({ url }) => new URL(url).pathname)

for (const age of ['recent', 'old'])
  test(`SGN-04 with an authentication that is ${age}, one passkey use unlocks the key and approves`, async () => {
    const { person, identityId } = await enroll(`ada-${age}`)
    const { page } = person
    if (age === 'old') await letProofAge(person)
    await setClock(person)
    const { requestId } = await app.ask({ identityId, payload })
    await page.goto(`${stage.service.authUrl}/sign?requestId=${requestId}`)
    await awake(page).waitFor()
    await countTouches(page)
    await awake(page).click()
    await page.getByRole('heading', { name: words.sign.ends.signed }).waitFor()
    assert.equal(await touches(page), 1)
    assert.ok(!(await pathsOf(person)).includes('/api/auth/reauthenticate/finish'))
    const status = await app.read(requestId)
    assert.ok(app.accepts(status, payload))
    assert.equal(errorOf(status, { requestId, identityId }), undefined)
    await person.leave()
  })

test('SGN-04 a user who unlocks the keys with the recovery code uses the passkey once, before it', async () => {
  const { person, identityId } = await enroll('cora')
  const { page } = person
  await letProofAge(person)
  await setClock(person)
  await person.authenticator.replace()
  const { requestId } = await app.ask({ identityId, payload, expiresInSeconds: 3600 })
  await page.goto(`${stage.service.authUrl}/sign?requestId=${requestId}`)
  await awake(page).waitFor()
  await countTouches(page)
  await awake(page).click()
  await page.locator('input[name="recoveryCode"]').fill(person.code)
  await control(page, 'unlock').click()
  await page.getByRole('heading', { name: words.sign.ends.signed }).waitFor()
  assert.equal(await touches(page), 1)
  assert.equal(errorOf(await app.read(requestId), { requestId, identityId }), undefined)
  await person.leave()
})

test('SGN-28 an approval that took too long is started again', async () => {
  const { person, identityId } = await enroll('dana')
  const { page } = person
  await person.authenticator.replace()
  await setClock(person)
  const { requestId } = await app.ask({ identityId, payload, expiresInSeconds: 3600 })
  await page.goto(`${stage.service.authUrl}/sign?requestId=${requestId}`)
  await awake(page).click()
  await page.locator('input[name="recoveryCode"]').fill(person.code)
  await letProofAge(person)
  await control(page, 'unlock').click()
  await page.getByText(words.problem.refused.invalid_flow).waitFor()
  assert.equal((await app.read(requestId)).status, 'pending')
  await awake(page).click()
  await page.locator('input[name="recoveryCode"]').fill(person.code)
  await control(page, 'unlock').click()
  await page.getByRole('heading', { name: words.sign.ends.signed }).waitFor()
  await person.leave()
})
