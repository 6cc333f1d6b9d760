/** A user leaves a form to sign its change, and does not sign it: the form is as they left it. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openOwner } from '../../apps/acting-owner.ts'
import { declineAct, readAct, signForValues } from '../../apps/signed-actions.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'

let stage: TestEnvironment
before(async () => {
  stage = await openStage()
})
after(() => stage.close())

test('settings that were not signed are still in the form, and nothing of it stays in the tab', async () => {
  const { person, page, settings } = await openOwner(stage, 'ada-cancels')
  await person.write('name', 'Difference Engines')
  await person.write('slug', 'difference')
  await person.press('save-organization')
  await declineAct(page)
  const values = () => Promise.all(['name', 'slug'].map((name) => page.locator(`input[name="${name}"]`).inputValue()))
  assert.deepEqual(await values(), ['Difference Engines', 'difference'])
  assert.equal(await page.evaluate(() => sessionStorage.getItem('input')), null)

  await person.press('save-organization')
  await readAct(page)
  // Without an answer the change may be done.
  await page.goto(settings)
  await person.control('save-organization').waitFor()
  assert.equal((await values())[0], 'Engines')
  await person.leave()
})

test('an invitation that was not signed is still in its dialog, and a signed one is not', async () => {
  const { person, page, settings } = await openOwner(stage, 'ada-thinks')
  await page.goto(settings.replace('settings', 'members'))
  await person.press('invite')
  await person.write('invitees', 'mina@example.com')
  await page.locator('input[name="role"][value="viewer"]').check()
  await person.press('send-invitation')
  await declineAct(page)
  assert.equal(await page.locator('[name="invitees"]').inputValue(), 'mina@example.com')
  assert.equal(await page.locator('input[name="role"][value="viewer"]').isChecked(), true)
  await signForValues(person, 'send-invitation')
  await person.control('invite').waitFor()
  assert.equal(await person.control('send-invitation').count(), 0)
  await person.leave()
})
