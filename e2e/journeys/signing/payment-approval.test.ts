import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { verifySignature } from '../../../sdk/src/server/server.ts'
import { addVirtualAuthenticator } from '../../fixtures/authenticator.ts'
import { openExample } from '../../fixtures/guide.ts'
import type { Person } from '../../fixtures/person.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'

let stage: TestEnvironment
let app: Awaited<ReturnType<typeof openExample>>
let folder: Awaited<ReturnType<typeof mkdtempDisposable>>
const root = join(import.meta.dirname, '../../..')
before(async () => {
  execFileSync(process.execPath, [join(root, 'sdk/build.ts')])
  stage = await openStage()
  folder = await mkdtempDisposable(join(tmpdir(), 'countersign-trust-'))
  const file = join(folder.path, 'trust.json')
  const { baseUrl } = stage.service
  const init = [join(root, 'cli/main.ts'), 'trust', 'init', '--base-url', baseUrl, '--out', file]
  // This process serves the command, so it must not wait for it synchronously.
  await promisify(execFile)(process.execPath, init)
  const trust = { TRUST_FILE: file, TRUST_STATE: join(folder.path, 'state') }
  app = await openExample(stage.service, 'payment-approval', trust)
})
after(async () => {
  await app?.close()
  await stage.close()
  await folder[Symbol.asyncDispose]()
})

const payment = (page: Page, payee: string) => page.getByRole('listitem').filter({ hasText: payee })

/** A user who has signed in to the app, and the code that unlocks their keys. */
async function enroll(handle: string) {
  const person = await stage.invite()
  const { page } = person
  await page.goto(`${stage.service.authUrl}/register`)
  const code = await person.createAccount({ handle, displayName: 'Ada Lovelace' })
  await person.press('confirm-recovery-saved')
  await page.waitForURL(/\/account/)
  await page.goto(app.origin)
  await page.getByRole('button', { name: 'Sign in with Countersign' }).click()
  await person.press('approve')
  await page.waitForURL(`${app.origin}/`)
  return { person, page, code }
}

/** Clicks the button of a payment, and waits for the text to sign. */
async function ask({ page, authenticator }: Person, payee: string): Promise<Page> {
  const [popup] = await Promise.all([
    page.waitForEvent('popup'),
    payment(page, payee).getByRole('button', { name: 'Approve' }).click(),
  ])
  await (await addVirtualAuthenticator(popup, { prf: true })).take(await authenticator.credentials())
  await popup.locator('.exact-text').waitFor()
  return popup
}

/** Signs there, with the recovery code: passkeys of tests unlock keys only in the tab that created them. */
async function sign(popup: Page, code: string) {
  await popup.locator('[data-action="sign"][aria-disabled="false"]').click()
  await popup.locator('input[name="recoveryCode"]').fill(code)
  await popup.locator('[data-action="unlock"]').click()
}

test('the app pays what the user has signed, and stores the evidence', async () => {
  const { person, page, code } = await enroll('ada')
  const popup = await ask(person, 'Paper Shop')
  const text = await popup.locator('.exact-text').innerText()
  assert.match(text, /Pay €240\.00 to Paper Shop/)
  await sign(popup, code)
  await payment(page, 'Paper Shop').getByText('Paid', { exact: true }).waitFor()
  assert.equal(await payment(page, 'Turing Machines').getByText('Paid', { exact: true }).count(), 0)

  const signature = await payment(page, 'Paper Shop').locator('code').innerText()
  const { publicKey } = await (await fetch(`${stage.service.baseUrl}/api/signing/public-key/ada`)).json()
  const payload = 'Pay €240.00 to Paper Shop\nAccount: DE89 3704 0044 0532 0130 00\nPayment: 2026-0114'
  assert.ok(verifySignature({ payload, signature, publicKey }))
  await person.leave()
})

test('the app does not pay what the user denies, and shows that', async () => {
  const { person, page } = await enroll('bea')
  const popup = await ask(person, 'Paper Shop')
  await popup.locator('[data-action="deny"]').click()
  await payment(page, 'Paper Shop').getByText('You denied it.').waitFor()
  assert.equal(await page.getByText('Paid', { exact: true }).count(), 0)
  await ask(person, 'Paper Shop')
  await person.leave()
})

test('the app waits for a user who has closed the window, and for no second signature', async () => {
  const { person, page, code } = await enroll('cara')
  const popup = await ask(person, 'Paper Shop')
  const address = popup.url()
  const reloaded = page.waitForEvent('load')
  await popup.close()
  await reloaded
  assert.equal(await page.getByText('Paid', { exact: true }).count(), 0)
  const again = await ask(person, 'Paper Shop')
  assert.equal(again.url(), address)
  await sign(again, code)
  await payment(page, 'Paper Shop').getByText('Paid', { exact: true }).waitFor()
  await person.leave()
})

test('the app trusts no message of a page, and sends no request before its button is clicked', async () => {
  const { person, page } = await enroll('dora')
  const popup = await ask(person, 'Paper Shop')
  const requestId = new URL(popup.url()).searchParams.get('requestId')
  const forged = { type: 'countersign:signed', payload: { requestId, signature: 'c2ln', publicKey: 'a2V5' } }
  await page.evaluate((words) => globalThis.postMessage(words, '*'), forged)
  await popup.locator('[data-action="deny"]').click()
  await payment(page, 'Paper Shop').getByText('You denied it.').waitFor()

  const cookie = (await page.context().cookies(app.origin)).map(({ name, value }) => `${name}=${value}`).join('; ')
  const post = (headers: Record<string, string>) =>
    fetch(`${app.origin}/payments/2026-0115`, { method: 'POST', headers })
  assert.equal((await post({ cookie, origin: 'https://mallory.example' })).status, 403)
  assert.equal((await post({ cookie })).status, 403)
  assert.equal((await post({ origin: app.origin })).status, 404)
  await person.leave()
})
