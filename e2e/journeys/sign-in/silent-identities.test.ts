import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { foundOrganization } from '../../apps/organization-choice.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'
import type { Person } from '../../fixtures/person.ts'

let stage: TestEnvironment
let ada: Person
let acme: string
before(async () => {
  stage = await openStage()
  ada = await stage.enroll({ handle: 'ada', displayName: 'Ada Lovelace' })
  acme = await foundOrganization(ada, stage.service, 'Acme')
})
after(() => stage.close())

async function visitShop(query: Record<string, string> = {}) {
  await ada.page.goto(`${stage.shop.origin}/sign-out`)
  await ada.page.goto(`${stage.shop.origin}/sign-in?${new URLSearchParams({ scope: 'openid profile', ...query })}`)
}

async function silentError(query: Record<string, string> = {}): Promise<string> {
  await visitShop({ prompt: 'none', ...query })
  return ada.page.locator('#error').innerText()
}

async function connectAs(displayName: string) {
  await visitShop()
  await ada.control('choose-identity').filter({ hasText: displayName }).click()
  await ada.press('approve')
  assert.equal(await ada.page.locator('#name').innerText(), displayName)
}

test('AUZ-25 an app learns with prompt=none only of the identities that have connected it', async () => {
  for (const organization of ['select', acme])
    assert.equal(await silentError({ organization_id: organization }), 'consent_required')
  const { authUrl, baseUrl } = stage.service
  const data = { handle: 'countess', displayName: 'The Countess' }
  const made = await ada.context.request.post(`${baseUrl}/api/identities`, { headers: { origin: authUrl }, data })
  assert.equal(made.status(), 201)
  assert.equal(await silentError(), 'consent_required')
  await connectAs('The Countess')
  await visitShop({ prompt: 'none' })
  assert.equal(await ada.page.locator('#name').innerText(), 'The Countess')
  assert.equal(await silentError({ organization_id: acme }), 'account_selection_required')
  await connectAs('Ada Lovelace')
  assert.equal(await silentError(), 'account_selection_required')
})
