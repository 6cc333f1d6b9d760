import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'

/** Sum of layout shifts of a page (https://web.dev/articles/cls) that a reader does not notice. */
const shiftMax = 0.02

/** An hour of each part of the day: the account page greets its user. */
const greetedHours = [9, 14, 20]

let stage: TestEnvironment
before(async () => {
  stage = await openStage()
})
after(() => stage.close())

/** In a page: resolves when what is laid out now has been drawn. */
const twoFrames = () =>
  new Promise<void>((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve())))

/**
 * Opens a page whose typefaces arrive only after its text was drawn in others. Returns the sum of the layout shifts.
 */
async function openWithLateFonts(page: Page, url: string): Promise<number> {
  const drawn = Promise.withResolvers<void>()
  await page.route('**/*.woff2', async (route) => {
    await drawn.promise
    await route.continue()
  })
  await page.goto(url, { waitUntil: 'commit' })
  await page.locator('h1').first().waitFor()
  await page.waitForFunction(() => document.querySelector('[aria-busy="true"]') === null)
  await page.evaluate(() => {
    Object.assign(globalThis, { shifted: 0 })
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as (PerformanceEntry & { value: number })[])
        Object.assign(globalThis, { shifted: Number(Reflect.get(globalThis, 'shifted')) + entry.value })
    }).observe({ type: 'layout-shift', buffered: true })
  })
  // A page that the server wrote has its heading before its stylesheet, which is where typefaces are named.
  await page.waitForFunction(() => document.fonts.status === 'loading')
  await page.evaluate(twoFrames)
  drawn.resolve()
  await page.evaluate(() => document.fonts.ready.then(() => true))
  await page.evaluate(twoFrames)
  await page.unrouteAll()
  return page.evaluate(() => Number(Reflect.get(globalThis, 'shifted')))
}

for (const [width, locale] of [
  [1280, 'en-GB'],
  [360, 'en-GB'],
  [360, 'de-DE'],
  [360, 'ar-EG'],
] as const)
  test(`pages move by less than ${shiftMax} when typefaces come late: ${width} pixels, ${locale}`, async () => {
    const person = await stage.invite({ locale, timezoneId: 'UTC', viewport: { width, height: 740 } })
    const { authUrl, baseUrl, businessUrl } = stage.service
    const shifts: Record<string, number> = {}
    const visit = async (paths: string[]) => {
      for (const url of paths) shifts[url] = await openWithLateFonts(person.page, url)
    }
    await visit(['/', '/login', '/register', '/help', '/playground'].map((path) => authUrl + path))
    await visit([`${baseUrl}/docs`])
    await person.page.goto(`${authUrl}/register`)
    await person.createAccount({ handle: `late-fonts-${width}-${locale.toLowerCase()}`, displayName: 'Ada Lovelace' })
    await person.press('confirm-recovery-saved')
    await person.page.waitForURL(/\/account/)
    await visit(['/security', '/activity', '/signing'].map((path) => `${authUrl}/account${path}`))
    for (const hour of greetedHours) {
      await person.page.clock.setFixedTime(new Date().setUTCHours(hour))
      await visit([`${authUrl}/account?at=${hour}`])
    }
    await visit([`${businessUrl}/organizations`, `${authUrl}/developers`])
    assert.deepEqual(
      Object.entries(shifts).filter(([, shift]) => shift >= shiftMax),
      [],
    )
    await person.leave()
  })
