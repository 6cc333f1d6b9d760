/** Pages with the display settings of users with low vision: high contrast, and 400 % zoom (WCAG 2.2 §1.4.10). */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Locator } from 'playwright-core'
import { askAdmin } from '../../fixtures/admin-api.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'
import type { Person, PersonOptions } from '../../fixtures/person.ts'

let stage: TestEnvironment
before(async () => {
  stage = await openStage()
})
after(() => stage.close())

async function enroll(handle: string, manner: PersonOptions): Promise<Person> {
  const person = await stage.invite(manner)
  await person.page.goto(`${stage.service.authUrl}/register`)
  await person.createAccount({ handle, displayName: 'Ada Lovelace' })
  await person.press('confirm-recovery-saved')
  await person.page.waitForURL(/\/account/)
  return person
}

const styleOf = (shown: Locator, property: string) =>
  shown.evaluate((element, name) => getComputedStyle(element).getPropertyValue(name), property)

test('with high contrast, a QR code can be scanned, and what is current is visible', async () => {
  const { page, leave } = await enroll('ada', {
    forcedColors: 'active',
    colorScheme: 'dark',
    viewport: { width: 1280, height: 900 },
  })
  await page.goto(`${stage.service.authUrl}/account/security`)
  const code = page.locator('.qr')
  await code.waitFor()
  assert.equal(await styleOf(code, 'background-color'), 'rgb(255, 255, 255)')
  assert.equal(await styleOf(code.locator('svg'), 'fill'), 'rgb(22, 25, 42)')
  for (const list of ['.rail-list', '.areas']) {
    assert.equal(await styleOf(page.locator(`${list} [aria-current]`), 'outline-style'), 'solid', list)
    assert.equal(await styleOf(page.locator(`${list} a:not([aria-current])`).first(), 'outline-style'), 'none', list)
  }
  await askAdmin(stage.service, 'POST', 'operators', { handle: 'ada', role: 'owner' })
  await page.goto(`${stage.service.authUrl}/admin/audit`)
  const borderOf = (tab: string) => styleOf(page.locator(`.tabs ${tab}`).first(), 'border-bottom-color')
  await page.locator('.tabs [aria-current]').waitFor()
  assert.equal(await borderOf('a:not([aria-current])'), await styleOf(page.locator('html'), 'background-color'))
  assert.notEqual(await borderOf('[aria-current]'), await borderOf('a:not([aria-current])'))
  await leave()
})

test('at 400 % zoom, nothing covers the field of a dialog or the focus on a page', async () => {
  const { page, press, leave } = await enroll('bea', { locale: 'de-DE', viewport: { width: 320, height: 256 } })
  for (const bar of ['.letterhead', '.tabbar'])
    assert.equal(await styleOf(page.locator(bar), 'position'), 'static', `${bar} scrolls with the page`)
  await page.goto(`${stage.service.authUrl}/account/data`)
  await press('leave')
  const field = page.locator('input[name="confirmation"]')
  await field.waitFor()
  await field.pressSequentially('Bea')
  assert.equal(await visiblePart(field), 1)
  await leave()
})

test('on a phone, the buttons of a long dialog do not cover what has the focus', async () => {
  const { page, press, leave } = await enroll('cleo', { locale: 'de-DE', viewport: { width: 320, height: 740 } })
  await askAdmin(stage.service, 'POST', 'operators', { handle: 'cleo', role: 'owner' })
  await page.goto(`${stage.service.authUrl}/admin/operators`)
  await press('tab-tokens')
  await press('ask-create-token')
  const choices = page.locator('dialog input[type="checkbox"]')
  await choices.first().focus()
  const hidden: string[] = []
  for (let left = await choices.count(); left > 0; left -= 1) {
    const focused = page.locator('dialog input:focus')
    if ((await visiblePart(focused)) < 1) hidden.push((await focused.getAttribute('name')) ?? '')
    await page.keyboard.press('Tab')
  }
  assert.deepEqual(hidden, [])
  await leave()
})

/** Returns which part of an element is neither covered nor outside of the window, from 0 to 1. */
function visiblePart(shown: Locator): Promise<number> {
  return shown.evaluate((element) => {
    const { left, top, width, height } = element.getBoundingClientRect()
    const parts = [0.1, 0.3, 0.5, 0.7, 0.9]
    const found = parts.flatMap((x) =>
      parts.map((y) => document.elementFromPoint(left + x * width, top + y * height) === element),
    )
    return found.filter(Boolean).length / found.length
  })
}
