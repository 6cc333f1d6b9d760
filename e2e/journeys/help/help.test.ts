import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { devMailMessages } from '../../../web/locales/en/pages/dev-mail.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'
import type { Person } from '../../fixtures/person.ts'

let stage: TestEnvironment
before(async () => {
  // Without a mail server, as on the computer of a developer.
  stage = await openStage({ SMTP_URL: '', MAIL_FROM: '' })
})
after(() => stage.close())

async function open(url: string, options?: Parameters<TestEnvironment['invite']>[0]): Promise<Person> {
  const reader = await stage.invite(options)
  await reader.page.goto(url)
  return reader
}

async function overflowOf(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
}

test('a reader finds a place in help by keyboard alone, and the index is loaded only then', async () => {
  const { page, leave } = await open(`${stage.service.authUrl}/help`)
  const requested: string[] = []
  page.on('request', (request) => requested.push(request.url()))
  await page.getByRole('heading', { level: 1, name: 'Help' }).waitFor()
  assert.deepEqual(requested, [])

  await page.keyboard.press('/')
  await page.keyboard.type('grace period')
  const first = page.getByRole('option').first()
  await first.locator('mark').first().waitFor()
  assert.ok(requested.some((url) => /\/assets\/help-index-[\w-]{8}\.json$/.test(url)))
  const input = page.getByRole('combobox')
  assert.equal(await input.getAttribute('aria-activedescendant'), await first.getAttribute('id'))
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowUp')
  const target = await first.getByRole('link', { includeHidden: true }).getAttribute('href')
  await page.keyboard.press('Enter')
  await page.waitForURL(`**${target}`)

  await page.keyboard.press('/')
  await page.keyboard.type('zzzz')
  await page.getByText('Nothing found for “zzzz”').waitFor()
  await page.keyboard.press('Escape')
  await page.locator('.found').waitFor({ state: 'hidden' })
  await leave()
})

test('a reader reaches every page of help without a script', async () => {
  const { page, leave } = await open(`${stage.service.authUrl}/help`, { javaScriptEnabled: false })
  await page.getByRole('main').getByRole('link', { name: 'Receive webhooks' }).click()
  await page.getByRole('heading', { level: 1, name: 'Receive webhooks' }).waitFor()
  await page.locator('a[rel=next]').click()
  await page.getByRole('heading', { level: 1, name: 'Receive back-channel logout' }).waitFor()
  await leave()
})

test('an app developer finds an operation in the API reference by keyboard', async () => {
  const { page, leave } = await open(`${stage.service.baseUrl}/docs`)
  await page.keyboard.press('/')
  await page.keyboard.type('requestToken')
  await page.getByRole('option').first().waitFor()
  await page.keyboard.press('Enter')
  await page.waitForURL('**/docs/oauth-and-openid-connect#requestToken')
  await page.locator('#requestToken').getByText('/api/oauth/token').first().waitFor()
  await leave()
})

test('help and API reference fit a phone of 320 pixels', async () => {
  const reader = await open(`${stage.service.authUrl}/help`, { viewport: { width: 320, height: 700 } })
  const { page } = reader
  for (const path of ['/help', '/help/concepts', '/help/operations/settings', '/help/guides/webhooks']) {
    await page.goto(stage.service.authUrl + path)
    assert.equal(await overflowOf(page), 0, path)
  }
  for (const path of ['/docs', '/docs/organizations']) {
    await page.goto(stage.service.baseUrl + path)
    assert.equal(await overflowOf(page), 0, path)
  }
  await reader.leave()
})

test('a visitor who opens the API in a browser arrives at the start page', async () => {
  const { page, leave } = await open(`${stage.service.baseUrl}/`)
  await page.waitForURL(`${stage.service.authUrl}/`)
  await leave()
})

test('a developer without a mail server reads the code of a mail at /dev/mail', async () => {
  const { page, context, press, write, leave } = await stage.enroll({ handle: 'ada', displayName: 'Ada Lovelace' })
  const inbox = await context.newPage()
  await inbox.goto(`${stage.service.authUrl}/dev/mail`)
  await inbox.getByText(devMailMessages.empty).waitFor()

  await page.goto(`${stage.service.authUrl}/account/identities`)
  await page.locator('[data-action="email-of-identity"]').first().click()
  await write('email', 'ada@example.com')
  await press('send-code')
  const link = page.locator('[data-action="open-dev-mail"]')
  await link.waitFor()
  assert.equal(await link.getAttribute('href'), `${stage.service.authUrl}/dev/mail`)

  const code = await inbox.locator('.mail-code code').innerText()
  await write('code', code)
  await press('verify-email')
  await page.getByText('ada@example.com').first().waitFor()
  await leave()
})
