/** Pages with the display settings of users with low vision: high contrast. */
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
