import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ar } from '../../../web/locales/ar/messages.ts'
import { de } from '../../../web/locales/de/messages.ts'
import { en } from '../../../web/locales/en/messages.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'
import type { Person } from '../../fixtures/person.ts'

let stage: TestEnvironment
before(async () => {
  stage = await openStage()
  await (await stage.enroll({ handle: 'taken', displayName: 'Ada Lovelace' })).leave()
})
after(() => stage.close())

const words = en.register
const phone = { width: 360, height: 740 }
const desktop = { width: 1280, height: 800 }

async function openForm(person: Person): Promise<void> {
  await person.page.goto(`${stage.service.authUrl}/register`)
  await person.control('create-account').waitFor()
  await person.page.evaluate(() => document.fonts.ready)
}

async function boxOf(person: Person) {
  const box = await person.control('create-account').boundingBox()
  assert.ok(box)
  return box
}

for (const viewport of [phone, desktop])
  test(`the answer about a username ends no slow click on the button, at ${viewport.width} px`, async () => {
    const ada = await stage.invite({ viewport })
    await openForm(ada)
    await ada.write('handle', `slow-${viewport.width}`)
    await ada.write('displayName', 'Ada Lovelace')
    const { x, y, width } = await boxOf(ada)
    // At the upper edge, which would leave the pointer first.
    await ada.page.mouse.move(x + width / 2, y + 4)
    await ada.page.mouse.down()
    await ada.page.getByText(words.handleAvailable).waitFor()
    await ada.page.mouse.up()
    await ada.page.locator('output[name="recoveryCode"]').waitFor()
    await ada.leave()
  })

for (const [locale, { register }] of [['en-GB', en] as const, ['de-DE', de] as const, ['ar-EG', ar] as const])
  for (const viewport of [phone, desktop])
    test(`nothing moves while the form answers to a username, at ${viewport.width} px in ${locale}`, async () => {
      const ada = await stage.invite({ locale, viewport })
      await openForm(ada)
      const { y } = await boxOf(ada)
      // Its digits are those of the browser's locale.
      const rule = await ada.page.locator('.hint').innerText()
      const answers: [handle: string, answer: string][] = [
        ['free-name', register.handleAvailable],
        ['taken', register.handleTaken],
        ['ada lovelace', rule],
        ['-ada', register.handleEnds],
        ['ad', rule],
      ]
      for (const [handle, answer] of answers) {
        await ada.write('handle', handle)
        if (handle === 'ad') await ada.page.keyboard.press('Tab')
        await ada.page.getByText(answer, { exact: true }).waitFor()
        assert.equal((await boxOf(ada)).y, y, answer)
      }
      await ada.leave()
    })

test('a space in a username is reported at once, in place of the rule, and one after it is left out', async () => {
  const ada = await stage.invite()
  await openForm(ada)
  const handle = ada.page.locator('input[name="handle"]')
  const problem = ada.page.getByRole('alert').getByText(words.handleRule)
  await handle.pressSequentially('grace')
  assert.equal(await problem.count(), 0)
  await handle.press('Space')
  await problem.waitFor()
  assert.equal(await ada.page.getByText(words.handleRule).count(), 1, 'the rule is there once')
  assert.equal(await handle.getAttribute('aria-invalid'), 'true')
  await handle.pressSequentially('h')
  assert.equal(await problem.count(), 1)
  await handle.press('Backspace')
  await ada.write('displayName', 'Grace Hopper')
  await ada.page.getByText(words.handleAvailable).waitFor()
  assert.equal(await handle.inputValue(), 'grace')
  await handle.press('End')
  await handle.press('Space')
  await handle.press('Enter')
  await ada.press('confirm-recovery-saved')
  await ada.page.waitForURL(/\/account/)
  await ada.leave()
})

test('a username that is too short is reported when the user leaves it, and not before', async () => {
  const ada = await stage.invite()
  await openForm(ada)
  const handle = ada.page.locator('input[name="handle"]')
  const problem = ada.page.getByRole('alert').getByText(words.handleRule)
  await handle.pressSequentially('ad')
  assert.equal(await problem.count(), 0)
  await handle.press('Tab')
  await problem.waitFor()
  await ada.write('handle', 'adele')
  await ada.page.getByText(words.handleAvailable).waitFor()
  assert.equal(await problem.count(), 0)
  await ada.leave()
})
