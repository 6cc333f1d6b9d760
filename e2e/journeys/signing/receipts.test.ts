import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import type { Download, Page } from 'playwright-core'
import { words } from '../../pages/words.ts'
import { receiptMessages } from '../../../web/locales/en/pages/receipts.ts'
import { addVirtualAuthenticator } from '../../fixtures/authenticator.ts'
import { watch } from '../../fixtures/visual-checks.ts'
import type { Person } from '../../fixtures/person.ts'
import { openSigningApp, type SigningApp } from '../../apps/signing-app.ts'
import { forEachViewport, windowOfAll, type Window } from '../../fixtures/windows.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'

let stage: TestEnvironment
let app: SigningApp
let folder: string
before(async () => {
  stage = await openStage({ RATE_LIMITS: 'off' })
  app = await openSigningApp(stage.service)
  folder = await mkdtemp(join(tmpdir(), 'countersign-receipts-'))
})
after(async () => {
  await rm(folder, { recursive: true })
  await app.close()
  await stage.close()
})

const signPage = (requestId: string) => `${stage.service.authUrl}/sign?requestId=${requestId}`
const awake = (page: Page) => page.locator('[data-action="sign"][aria-disabled="false"]')
const history = (page: Page) => page.locator('.history [data-request-id]')
const titles = (page: Page) => page.locator('.history [data-request-id] p').filter({ hasText: '@' }).allInnerTexts()

/** Creates a signing request to the only identity of a user; returns its id. */
async function ask(person: Person, payload: string): Promise<string> {
  const { identities } = await person.call(stage.service.baseUrl, 'GET /api/auth/session')
  return (await app.ask({ identityId: identities[0]?.identityId ?? '', payload })).requestId
}

async function sign({ page }: Person, requestId: string): Promise<void> {
  await page.goto(signPage(requestId))
  await awake(page).click()
  await page.getByRole('heading', { name: words.sign.ends.signed }).waitFor()
}

async function deny({ page, press }: Person, requestId: string): Promise<void> {
  await page.goto(signPage(requestId))
  await press('deny')
  await page.locator('.ended').waitFor()
}

/** The same without opening it. */
async function denySoon({ context }: Person, requestId: string): Promise<void> {
  const { baseUrl, authUrl } = stage.service
  const url = `${baseUrl}/api/signing/requests/${requestId}/deny`
  const answer = await context.request.post(url, { headers: { origin: authUrl } })
  assert.equal(answer.status(), 200)
}

async function openHistory({ page }: Person): Promise<void> {
  await page.goto(`${stage.service.authUrl}/account/signing`)
  await history(page).first().waitFor()
}

/** Saves what a page downloads after a click; returns the path of the file. */
async function saved(page: Page, press: () => Promise<unknown>): Promise<string> {
  const [download] = await Promise.all([page.waitForEvent('download'), press()])
  return keep(download)
}

async function keep(download: Download): Promise<string> {
  const path = join(folder, download.suggestedFilename())
  await download.saveAs(path)
  return path
}

/** The output of `countersign verify` for saved files. */
async function verify(receipt: string, text: string): Promise<string> {
  const program = join(import.meta.dirname, '../../../cli/main.ts')
  const env = { PATH: process.env['PATH'], BASE_URL: stage.service.baseUrl }
  const given = [program, 'verify', receipt, '--payload-file', text]
  return (await promisify(execFile)(process.execPath, given, { env })).stdout
}

test('a signer saves a receipt and the text, and countersign verify accepts both files', async () => {
  const ada = await stage.enroll({ handle: 'ada', displayName: 'Ada Lovelace' })
  const { page } = ada
  const payload = '\r\nÜberweise 10 €\r\n\tan \u202EboB 👩‍🚀\n'
  const requestId = await ask(ada, payload)
  await sign(ada, requestId)
  const receipt = await saved(page, () => ada.press('save-receipt'))
  assert.equal(receipt, join(folder, `receipt-${requestId}.jws`))

  await openHistory(ada)
  await history(page).locator('summary').click()
  const text = await saved(page, () => ada.press('save-text'))
  assert.equal(await readFile(text, 'utf8'), payload)
  assert.match(await verify(receipt, text), new RegExp(`^ada \\(.+\\) signed this text.[^]+${requestId}`))
  const again = await saved(page, () => ada.press('save-receipt'))
  assert.match(await verify(again, text), /^ada .+ signed this text/)
  await assert.rejects(verify(again, receipt), /for another payload/)
  await ada.leave()
})

test('a receipt is a page that verifies it, and anyone verifies the saved files without a session', async () => {
  const eve = await stage.enroll({ handle: 'eva', displayName: 'Eva Lovelace' })
  const { page } = eve
  const payload = 'Pay 12 €\r\nto Paper Shop'
  const requestId = await ask(eve, payload)
  await sign(eve, requestId)
  await page.locator('[data-action="show-receipt"]').click()
  await page.locator(`[data-verified="${requestId}"]`).waitFor()
  await page.locator('.facts dd').filter({ hasText: 'Approvals' }).waitFor()
  const receipt = await saved(page, () => eve.press('save-receipt'))
  const text = await saved(page, () => eve.press('save-text'))

  const frank = await stage.invite()
  await frank.page.goto(`${stage.service.authUrl}/verify`)
  await frank.press('verify')
  await frank.page.getByText(receiptMessages.chooseReceipt).waitFor()
  await frank.page.locator('input[name="files"]').setInputFiles([receipt, text])
  await frank.press('verify')
  await frank.page.locator(`[data-verified="${requestId}"]`).waitFor()
  await frank.press('again')
  await frank.page.locator('input[name="files"]').setInputFiles([receipt])
  await frank.page.locator('textarea[name="text"]').fill('Pay 12 €\nto Paper Shop')
  await frank.press('verify')
  await frank.page.locator('[data-flaw="payload_mismatch"]').waitFor()
  const uploads = (await frank.sent()).filter(({ body }) => body.length > 0)
  assert.deepEqual(uploads, [], 'nothing of the files leaves the browser')

  await frank.page.goto(`${stage.service.authUrl}/account/signing/receipts/${requestId}`)
  await frank.control('sign-in').waitFor()
  const stranger = await stage.enroll({ handle: 'greta', displayName: 'Greta' })
  await stranger.page.goto(`${stage.service.authUrl}/account/signing/receipts/${requestId}`)
  await stranger.page.getByText(receiptMessages.noneWhy).waitFor()
  await Promise.all([eve.leave(), frank.leave(), stranger.leave()])
})

test('SIG-64 the page verifies files byte for byte, as countersign verify does', async () => {
  const ivy = await stage.enroll({ handle: 'ivy', displayName: 'Ivy' })
  const { page } = ivy
  const check = async (files: string[], expected: string) => {
    await page.goto(`${stage.service.authUrl}/verify`)
    await page.locator('input[name="files"]').setInputFiles(files)
    await ivy.press('verify')
    await page.locator(expected).waitFor()
  }
  const added = join(folder, 'added.txt')
  for (const payload of ['\uFEFFPay 13 € to the Paper Shop', 'www.example.com']) {
    const requestId = await ask(ivy, payload)
    await sign(ivy, requestId)
    await page.locator('[data-action="show-receipt"]').click()
    await page.locator(`[data-verified="${requestId}"]`).waitFor()
    const receipt = await saved(page, () => ivy.press('save-receipt'))
    const text = await saved(page, () => ivy.press('save-text'))
    await check([receipt, text], `[data-verified="${requestId}"]`)
    await check([text, receipt], `[data-verified="${requestId}"]`)
    await writeFile(added, `\uFEFF${payload}`)
    await check([receipt, added], '[data-flaw="payload_mismatch"]')
    await assert.rejects(verify(receipt, added), /for another payload/)
    await writeFile(added, Buffer.from([0x50, 0xff]))
    await check([receipt, added], '[role="alert"] .problem')
    await page.getByText(receiptMessages.notText).waitFor()
  }
  await ivy.leave()
})

/** Makes a window ignore that its page closes it: a test may be slower than a user. Returns what ends that. */
async function keepOpen(popup: Page): Promise<() => Promise<void>> {
  await popup.evaluate(() => {
    const { close } = globalThis
    Object.assign(globalThis, { close: () => {}, closeAgain: close })
  })
  return () => popup.evaluate(() => void Object.assign(globalThis, { close: Reflect.get(globalThis, 'closeAgain') }))
}

test('in a popup the receipt can be saved on request, and the window closes nevertheless', async () => {
  const bea = await stage.invite()
  await bea.page.goto(`${stage.service.authUrl}/register`)
  const code = await bea.createAccount({ handle: 'bea', displayName: 'Bea' })
  await bea.press('confirm-recovery-saved')
  await bea.page.waitForURL(/\/account/)
  const requestId = await ask(bea, 'Pay 10 €')
  await bea.page.goto(app.origin)
  const [popup] = await Promise.all([bea.page.waitForEvent('popup'), bea.page.evaluate(`openSigning('${requestId}')`)])
  await (await addVirtualAuthenticator(popup, { prf: true })).take(await bea.authenticator.credentials())
  await awake(popup).click()
  await popup.locator('input[name="recoveryCode"]').fill(code)
  const letClose = await keepOpen(popup)
  await popup.locator('[data-action="unlock"]').click()
  const closed = popup.waitForEvent('close')
  const link = popup.locator('[data-action="save-receipt"]')
  const receipt = await saved(popup, () => link.click())
  assert.match(await readFile(receipt, 'utf8'), /^[\w-]+\.[\w-]+\.[\w-]+$/)
  await letClose()
  await popup.mouse.move(0, 0)
  await closed
  await bea.leave()
})

test('the history shows the newest first, page by page, including requests answered elsewhere meanwhile', async () => {
  const cara = await stage.enroll({ handle: 'cara', displayName: 'Cara' })
  for (let number = 1; number <= 21; number += 1) await denySoon(cara, await ask(cara, `Pay ${number} €`))
  await sign(cara, await ask(cara, 'Pay 22 €'))
  await openHistory(cara)
  const firstLines = () => history(cara.page).locator('summary').allInnerTexts()
  const numbers = Array.from({ length: 22 }, (_, index) => `Pay ${22 - index} €`)
  assert.deepEqual(await firstLines(), numbers.slice(0, 20))
  assert.match((await titles(cara.page))[0] ?? '', /^Signed .+ · @cara$/)
  assert.equal(await cara.control('save-receipt').count(), 1)
  await cara.press('more')
  await history(cara.page).nth(21).waitFor()
  assert.deepEqual(await firstLines(), numbers)
  assert.equal(await cara.control('more').count(), 0)

  const requestId = await ask(cara, 'Pay 23 €')
  await cara.page.getByText(words.signing.waiting(1)).waitFor()
  const elsewhere = await cara.context.newPage()
  await elsewhere.goto(signPage(requestId))
  await elsewhere.locator('[data-action="deny"]').click()
  await elsewhere.locator('.ended').waitFor()
  await elsewhere.close()
  await history(cara.page).nth(22).waitFor()
  assert.deepEqual(await firstLines(), ['Pay 23 €', ...numbers])
  await cara.leave()
})

test('SIG-19 a text with hidden or reordering characters is shown as it is in the history', async () => {
  const dora = await stage.enroll({ handle: 'dora', displayName: 'Dora' })
  const payload = `Pay \u202E001\u202C € to P\u0430per\n${'and so on '.repeat(900)}\n<b>z${'\u0301'.repeat(60)}</b>`
  await deny(dora, await ask(dora, payload))
  await openHistory(dora)
  const [entry] = await history(dora.page).all()
  const marked = ['U+202E', 'U+202C', 'а Cyrillic']
  assert.deepEqual(await entry?.locator('summary .odd').allInnerTexts(), marked)
  await entry?.locator('summary').click()
  await entry?.locator('.exact-text').waitFor()
  assert.deepEqual(await entry?.locator('.exact-text .odd').allInnerTexts(), [...marked, 'U+0301 ×57'])
  assert.equal(await entry?.locator('.exact-text b').count(), 0)
  assert.match((await entry?.locator('.exact-text').innerText()) ?? '', /<b>z/)
  assert.equal(await dora.control('save-receipt').count(), 0)
  await dora.leave()
})

const windows: Window[] = [
  windowOfAll,
  ...forEachViewport({ colorScheme: 'dark', width: 1280, locale: 'en-GB' }),
  ...forEachViewport({ colorScheme: 'light', width: 360, locale: 'en-GB' }),
]

for (const { colorScheme, width, locale, also } of windows) {
  const language = locale.slice(0, 2)
  test(`the history is accessible and stable: ${colorScheme}, ${width} pixels, ${language}`, async () => {
    const person = await stage.invite({ colorScheme, locale, viewport: { width, height: 740 } })
    const { look, faults } = await watch(person, { language, shown: { colorScheme, width }, ...(also && { also }) })
    const { page } = person
    await page.goto(`${stage.service.authUrl}/register`)
    await person.createAccount({ handle: `reader-${width}`, displayName: 'Ada Lovelace' })
    await person.press('confirm-recovery-saved')
    await page.waitForURL(/\/account/)
    await page.goto(signPage(await ask(person, 'Pay 100.00 € to Paper Shop\nfor invoice 2026/118.')))
    await awake(page).click()
    await page.locator('.ended').waitFor()
    await deny(person, await ask(person, `Pay \u202E001\u202C € to ${'P\u0430per'.repeat(20)}\nand so on.`))
    await openHistory(person)
    await look('account-history-closed')
    for (const summary of await history(page).locator('summary').all()) await summary.click()
    await look('account-history-open')
    assert.deepEqual(faults, [])
    await person.leave()
  })
}
