import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Identity } from '@countersign/protocol/accounts/identities'
import { twoColors } from '../../../server/testing/pictures.ts'
import { pictureMessages as words } from '../../../web/locales/en/pages/pictures.ts'
import type { Person } from '../../fixtures/person.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'
import { loadPicture } from '../../fixtures/windows.ts'

let stage: TestEnvironment
before(async () => {
  stage = await openStage()
})
after(() => stage.close())

async function openEditor(handle: string): Promise<Person> {
  const person = await stage.invite({ viewport: { width: 1280, height: 900 } })
  await person.page.goto(`${stage.service.authUrl}/register`)
  await person.createAccount({ handle, displayName: 'Ada Lovelace' })
  await person.press('confirm-recovery-saved')
  await person.page.waitForURL(/\/account/)
  await person.page.goto(`${stage.service.authUrl}/account/identities`)
  await person.press('change-of-identity')
  return person
}

const choose = ({ page }: Person, name: string, mimeType: string, buffer: Buffer) =>
  page.locator('input[name="picture"]').setInputFiles({ name, mimeType, buffer })

/** The color in the middle of the picture that the service has now, by the page's own means. */
async function colorOf({ page, call }: Person): Promise<{ url: string; pixel: number[] }> {
  const { identities } = await call(stage.service.baseUrl, 'GET /api/identities')
  const [{ avatarUrl }] = identities as [Identity]
  const url = avatarUrl ?? ''
  const pixel = await page.evaluate(async (address) => {
    const picture = await createImageBitmap(await (await fetch(address)).blob())
    const canvas = document.createElement('canvas')
    canvas.width = 1
    canvas.height = 1
    const context = canvas.getContext('2d')
    context?.drawImage(picture, picture.width / 2, picture.height / 2, 1, 1, 0, 0, 1, 1)
    return [...(context?.getImageData(0, 0, 1, 1).data ?? [])]
  }, url)
  return { url, pixel }
}

test('a user chooses the part of a picture with the keyboard, and every page shows it', async () => {
  const ada = await openEditor('ada')
  const { page } = ada
  await choose(ada, 'ada.png', 'image/png', twoColors)
  const part = page.getByRole('group', { name: words.part })
  await part.waitFor()
  await part.focus()
  for (let presses = 0; presses < 30; presses += 1) await page.keyboard.press('ArrowRight')
  await page.getByLabel(words.zoom).fill('2')
  if (process.env['SCREENSHOTS']) await page.screenshot({ path: `${process.env['SCREENSHOTS']}/crop.png` })
  await ada.press('save-picture')
  await page.getByText(words.saved).waitFor()
  const { url, pixel } = await colorOf(ada)
  const [red = 0, , blue = 0] = pixel
  assert.ok(blue > 150 && red < 80, `${pixel.join(' ')} is the color of the right half`)

  await page.reload()
  const shown = page.locator('.identity-head img')
  await loadPicture(shown)
  assert.ok((await shown.getAttribute('src'))?.startsWith(`${url}/`))
  await ada.leave()
})

test('a pointer drags the part, another file is refused, and a picture is removed', async () => {
  const bea = await openEditor('bea')
  const { page } = bea
  await choose(bea, 'notes.png', 'image/png', Buffer.from('no picture'))
  await page.getByText(words.problems.unreadable).waitFor()
  await choose(bea, 'bea.png', 'image/png', twoColors)
  const box = await page.getByRole('group', { name: words.part }).boundingBox()
  assert.ok(box)
  await page.mouse.move(box.x + 100, box.y + 100)
  await page.mouse.down()
  await page.mouse.move(box.x + 300, box.y + 100, { steps: 8 })
  await page.mouse.up()
  await bea.press('save-picture')
  await page.getByText(words.saved).waitFor()
  const { pixel } = await colorOf(bea)
  assert.ok((pixel[0] ?? 0) > 150, `${pixel.join(' ')} is the color of the left half`)
  await bea.press('remove-picture')
  await page.getByText(words.removed).waitFor()
  const { identities } = await bea.call(stage.service.baseUrl, 'GET /api/identities')
  assert.equal(identities[0]?.avatarUrl, null)
  await bea.leave()
})

test('a tap centers the part without dragging', async () => {
  const cleo = await openEditor('cleo')
  const { page } = cleo
  await choose(cleo, 'cleo.png', 'image/png', twoColors)
  const part = page.getByRole('group', { name: words.part })
  const box = await part.boundingBox()
  assert.ok(box)
  await part.click({ position: { x: box.width - 10, y: box.height / 2 } })
  await cleo.press('save-picture')
  await page.getByText(words.saved).waitFor()
  const { pixel } = await colorOf(cleo)
  const [red = 0, , blue = 0] = pixel
  assert.ok(blue > 150 && red < 80, `${pixel.join(' ')} is the color of the right half`)
  await cleo.leave()
})
