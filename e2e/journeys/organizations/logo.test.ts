import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, test } from 'node:test'
import { twoColors } from '../../../server/testing/pictures.ts'
import { openOwner } from '../../apps/acting-owner.ts'
import { returned, signAct } from '../../apps/signed-actions.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'

let stage: TestEnvironment
before(async () => {
  stage = await openStage()
})
after(() => stage.close())

test('PIC-12 an owner signs the picture that becomes the logo, and sees its SHA-256 before', async () => {
  const { person, page } = await openOwner(stage, 'ada')
  await page.locator('input[name="picture"]').setInputFiles({
    name: 'logo.png',
    mimeType: 'image/png',
    buffer: twoColors,
  })
  await person.press('save-picture')
  await page.locator('[data-action="sign"]').waitFor()
  const shown = await page.locator('main').innerText()
  if (process.env['SCREENSHOTS']) await page.screenshot({ path: `${process.env['SCREENSHOTS']}/act.png` })
  await signAct(page)
  await returned(page, 'done')
  const { organizations } = await person.call(stage.service.businessUrl, 'GET /api/organizations')
  const logoUrl = organizations[0]?.logoUrl ?? ''
  const picture = await fetch(`${logoUrl}/512`)
  const sha256 = createHash('sha256')
    .update(await picture.bytes())
    .digest('hex')
  assert.ok(shown.includes(sha256), `the page shows ${sha256}`)
  if (process.env['SCREENSHOTS']) await page.screenshot({ path: `${process.env['SCREENSHOTS']}/settings.png` })
  await person.leave()
})
