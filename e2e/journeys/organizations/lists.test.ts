/** A user changes the filter of a list while an answer is still on its way. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { documentMessages as documents } from '../../../web/locales/en/pages/documents.ts'
import { organizationActivityMessages as activity } from '../../../web/locales/en/pages/organizations/activity.ts'
import { peopleMessages as people } from '../../../web/locales/en/pages/organizations/people.ts'
import { openOwner } from '../../apps/acting-owner.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'
import { holdFirst } from '../../fixtures/held-request.ts'

let stage: TestEnvironment
before(async () => {
  stage = await openStage()
})
after(() => stage.close())

test('lists of an organization show what was chosen last, also if an earlier answer arrives later', async () => {
  const { person, page, settings } = await openOwner(stage, 'ada-filters')
  const visible = (text: string) => page.getByText(text, { exact: true })

  const waiting = await holdFirst(page, /\/signing-requests\?.*state=waiting/)
  await page.goto(settings.replace('settings', 'documents'))
  await waiting.sent
  await page.getByRole('button', { name: documents.states.signed }).click()
  await visible(documents.empty.signed.title).waitFor()
  await waiting.release()
  assert.equal(await visible(documents.empty.signed.title).count(), 1)

  const all = await holdFirst(page, /\/audit\?(?!.*action=)/)
  await page.goto(settings.replace('settings', 'activity'))
  await all.sent
  await page.getByRole('combobox', { name: activity.kind }).selectOption('organization.domain')
  await visible(activity.noMatch).waitFor()
  await all.release()
  assert.equal(await visible(activity.noMatch).count(), 1)

  await page.goto(settings.replace('settings', 'members'))
  await person.control('search-members').waitFor()
  const found = await holdFirst(page, /\/members\?.*q=ada/)
  await person.control('search-members').fill('ada')
  await found.sent
  await person.control('search-members').fill('grace')
  await visible(people.noMatch).waitFor()
  await found.release()
  assert.equal(await visible(people.noMatch).count(), 1)
  await person.leave()
})
