import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { twoColors } from '../../../server/testing/pictures.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'
import { loadPicture } from '../../fixtures/windows.ts'

let stage: TestEnvironment
before(async () => {
  stage = await openStage({ BRAND_NAME: 'Example ID', BRAND_ACCENT: '#1a7f37', TERMS_URL: 'https://example.com/terms' })
})
after(() => stage.close())

test('the consent page shows the logo and color of the app, below the name of the operator', async () => {
  const { service, shop } = stage
  const ada = await stage.enroll({ handle: 'ada', displayName: 'Ada Lovelace' })
  const { page } = ada
  await page.goto(`${shop.origin}/sign-in`)
  await page.locator('.app-head').waitFor()
  const clientId = new URL(page.url()).searchParams.get('client_id') ?? ''
  const app = `${service.baseUrl}/api/admin/apps/${clientId}`
  const headers = service.admin
  const drawn = await fetch(`${app}/icon`, { method: 'PUT', headers, body: new Uint8Array(twoColors) })
  assert.equal(drawn.status, 200)
  const json = { ...headers, 'content-type': 'application/json' }
  const colored = await fetch(app, { method: 'PATCH', headers: json, body: JSON.stringify({ color: '#c0ffee' }) })
  assert.equal(colored.status, 200)

  await page.goto(`${shop.origin}/sign-in`)
  const logo = page.locator('.app-head img')
  await loadPicture(logo)
  assert.equal(await page.locator('.app-mark rect').getAttribute('fill'), '#c0ffee')
  assert.equal(await page.locator('.letterhead img').count(), 0)
  await page.locator('.letterhead').getByText('Example ID').waitFor()
  await page.locator('.foot a[href="https://example.com/terms"]').waitFor()
  assert.match(await page.title(), /Example ID/)
  const pen = await page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue('--pen'))
  assert.ok(!pen.includes('268'), pen)
  if (process.env['SCREENSHOTS']) await page.screenshot({ path: `${process.env['SCREENSHOTS']}/consent.png` })
  await ada.leave()
})
