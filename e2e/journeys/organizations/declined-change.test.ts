/** An owner changes the role of a member, sees on the page that signs what it permits, and does not sign. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { businessMessages as words } from '../../../web/locales/en/pages/business.ts'
import { openOwner } from '../../apps/acting-owner.ts'
import { declineAct, readAct, signForValues } from '../../apps/signed-actions.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'
import { findBarriers } from '../../fixtures/visual-checks.ts'

let stage: TestEnvironment
before(async () => {
  stage = await openStage()
})
after(() => stage.close())

test('a change of a member that was not signed opens again with a note, on any page of the list', async () => {
  const { person, page, settings } = await openOwner(stage, 'mary')
  const charles = await stage.enroll({ handle: 'charles', displayName: 'Charles Babbage' })
  await page.goto(settings.replace('settings', 'members'))
  const ownTone = await page.locator('[data-action="switch-organization"]:visible .avatar').getAttribute('class')
  await person.press('invite')
  await person.write('invitees', '@charles')
  const [url = ''] = await signForValues(person, 'send-invitation')
  await charles.page.goto(url)
  const tone = await charles.page.locator('.invite-head .avatar').getAttribute('class')
  assert.equal(/tone-\d/.exec(tone ?? '')?.[0], /tone-\d/.exec(ownTone ?? '')?.[0])
  await charles.press('accept-invitation')
  await charles.page.waitForURL(/overview$|organizations\/[^/]+$/)
  await charles.leave()

  // A page of one member stands for one of fifty.
  await page.route('**/members?*limit=50*', (route) =>
    route.continue({ url: route.request().url().replace('limit=50', 'limit=1') }),
  )
  await page.goto(settings.replace('settings', 'members'))
  await person.control('member-menu').first().waitFor()
  assert.equal(await page.locator('tbody time').first().innerText(), 'Today')
  await person.press('more')
  const other = page.locator('tbody tr').filter({ hasText: '@charles' })
  await other.locator('[data-action="member-menu"]').click()
  await other.locator('[data-action="change-of-member"]').click()
  await page.getByRole('radio', { name: words.roles.admin }).check()
  await person.press('save-member')
  await readAct(page)
  const permission = page.locator('main').getByText(words.scopes.manage_identities)
  assert.equal(await permission.count(), 1)

  await declineAct(page)
  const dialog = page.getByRole('dialog')
  await dialog.locator('.returned-act:focus').waitFor()
  assert.deepEqual(await findBarriers(page), [])
  assert.ok(await page.getByRole('radio', { name: words.roles.admin }).isChecked())
  await person.press('cancel')
  await dialog.waitFor({ state: 'detached' })

  await page.goto(settings.replace('settings', 'keys'))
  await page.getByRole('heading', { name: words.keys.none }).waitFor()
  await person.control('make-key').waitFor()
  assert.deepEqual(await findBarriers(page), [])
  await person.leave()
})
