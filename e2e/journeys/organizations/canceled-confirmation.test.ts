/** A change asks for another confirmation that it is the user, who cancels it: nothing changes, and nothing is lost. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openOwner } from '../../apps/acting-owner.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'

let stage: TestEnvironment
before(async () => {
  stage = await openStage()
})
after(() => stage.close())

test('a canceled confirmation leads back to the form, with what was entered', async () => {
  const { person, page, settings } = await openOwner(stage, 'ada-cancels')
  const sso = settings.replace('settings', 'sso')
  await page.goto(sso)
  await person.press('add-connection')
  await person.write('issuer', 'https://login.example')
  await person.write('clientId', 'engines')
  await person.write('clientSecret', 'a secret')
  // Minutes later the service asks for the passkey once more.
  await page.route('**/sso-connections?*', (route) => {
    const json = { error: 'reauthentication_required', error_description: 'Authenticate again.' }
    return route.request().method() === 'POST' ? route.fulfill({ status: 403, json }) : route.fallback()
  })
  await person.press('create-connection')
  await person.control('prove').waitFor()
  await person.press('cancel')
  await person.control('create-connection').waitFor()
  assert.equal(page.url(), sso)
  const values = ['issuer', 'clientId'].map((name) => page.locator(`input[name="${name}"]`).inputValue())
  assert.deepEqual(await Promise.all(values), ['https://login.example', 'engines'])
  assert.equal(await page.evaluate(() => sessionStorage.getItem('input')), null)
  await person.leave()
})

test('a canceled confirmation opens no dialog that comes after it', async () => {
  const { person, page, settings } = await openOwner(stage, 'ada-stays')
  await page.goto(`${stage.service.authUrl}/login?return=${encodeURIComponent(`${settings}#delete`)}&prove`)
  await person.press('cancel')
  await person.control('end-organization').waitFor()
  assert.equal(page.url(), settings)
  assert.equal(await page.getByRole('dialog').count(), 0)
  await person.leave()
})
