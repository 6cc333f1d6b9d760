import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { freePorts, startService, type Service } from '../server/testing/service.ts'
import { businessEn as words } from '../web/messages/business-en.ts'
import { invite, type Person } from './person.ts'
import { launchBrowser } from './stage.ts'

/** Each host has a name of its own, as in production: no cookie reaches another, and passkeys are of one alone. */
let service: Service
let browser: Browser
before(async () => {
  const [api, auth, business] = await freePorts(3)
  const environment = {
    BASE_URL: `http://api.countersign.localhost:${api}`,
    AUTH_URL: `http://auth.countersign.localhost:${auth}`,
    BUSINESS_URL: `http://business.countersign.localhost:${business}`,
  }
  ;[service, browser] = await Promise.all([startService({ environment }), launchBrowser()])
})
after(async () => {
  await browser.close()
  await service.close()
})

/** Somebody who follows a link to the pages of organizations, has no account yet, and makes one. */
async function arrive(at: string, wanted: Parameters<Person['createAccount']>[0]): Promise<Person> {
  const person = await invite(browser)
  const { page } = person
  person.offerPasskeys(false)
  await page.goto(`${service.businessUrl}${at}`)
  await page.getByRole('link', { name: 'Create an account' }).click()
  await person.createAccount(wanted)
  await person.press('confirm-recovery-saved')
  await page.waitForURL(`${service.businessUrl}/**`)
  return person
}

test('an owner makes an organization, renames it, and deletes it', async () => {
  const ada = await arrive('/', { handle: 'ada', displayName: 'Ada Lovelace' })
  const { page } = ada
  await page.getByText(words.none).waitFor()
  await ada.press('new-organization')
  await ada.write('name', 'Analytical Engines')
  await ada.press('create-organization')
  await ada.control('save-organization').waitFor()
  await ada.write('name', 'Engines & Sons')
  await ada.press('save-organization')
  await page.getByText(words.saved).waitFor()
  await page.goto(`${service.businessUrl}/`)
  await ada.control('switch-organization').getByText('Engines & Sons').waitFor()

  await page.getByRole('link', { name: words.account }).click()
  await page.waitForURL(`${service.authUrl}/account`)
  await page.getByRole('link', { name: words.title }).click()
  await page.getByRole('link', { name: 'Engines & Sons' }).click()

  await ada.press('end-organization')
  await ada.write('confirmation', 'Engines')
  await ada.press('delete-organization')
  await page.getByText(words.deletion.mismatch).waitFor()
  await ada.write('confirmation', 'Engines & Sons')
  await ada.press('delete-organization')
  await page.getByText(words.none).waitFor()
  await ada.leave()
})

test('who proves again that it is them, on the host of the passkeys, comes back to the question', async () => {
  const grace = await arrive('/organizations/new', { handle: 'grace', displayName: 'Grace Hopper' })
  const { page } = grace
  await grace.write('name', 'Compilers')
  await grace.press('create-organization')
  await grace.control('save-organization').waitFor()
  const question = `${page.url()}#delete`
  await page.goto(`${service.authUrl}/login?return=${encodeURIComponent(question)}&prove`)
  await grace.press('prove')
  await page.getByRole('dialog').waitFor()
  assert.equal(page.url(), question)
  await grace.leave()
})

test('nothing of the session is kept on the host of organizations', async () => {
  const alan = await arrive('/organizations/new', { handle: 'alan', displayName: 'Alan Turing' })
  const { page, context } = alan
  await alan.write('name', 'Machines')
  await alan.press('create-organization')
  await alan.control('save-organization').waitFor()
  assert.deepEqual(await context.cookies(service.businessUrl), [])
  const kept = await page.evaluate(() => JSON.stringify([localStorage, sessionStorage].map(Object.entries)))
  assert.doesNotMatch(kept, /eyJ|cs_/)
  await page.goto(`${service.authUrl}/account`)
  await alan.press('sign-out')
  await page.waitForURL(`${service.authUrl}/`)
  await page.goto(`${service.businessUrl}/`)
  await alan.control('sign-in').waitFor()
  assert.equal(new URL(page.url()).origin, service.authUrl)
  await alan.leave()
})
