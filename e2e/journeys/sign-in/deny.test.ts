import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { en as words } from '../../../web/locales/en/messages.ts'
import type { Person } from '../../fixtures/person.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'

let stage: TestEnvironment
before(async () => {
  stage = await openStage()
})
after(() => stage.close())

/** `openid-client` has compared `state` and `iss` with its own before the app shows the error. */
async function assertRefusedAtShop(person: Person): Promise<void> {
  assert.equal(await person.page.locator('#error').innerText(), 'access_denied')
  const { error, state, iss, code } = Object.fromEntries(stage.shop.answers.at(-1)?.searchParams ?? [])
  assert.deepEqual({ error, iss, code }, { error: 'access_denied', iss: stage.service.authUrl, code: undefined })
  assert.ok(state)
}

test('AUZ-16 denying at sign-in or consent returns an error to the app, and the user can try again', async () => {
  const { shop } = stage
  const ada = await stage.invite()
  await ada.page.goto(`${shop.origin}/sign-in`)
  await ada.press('deny')
  await assertRefusedAtShop(ada)

  await ada.page.goto(`${shop.origin}/sign-in`)
  await ada.page.getByRole('link', { name: words.login.register }).click()
  await ada.createAccount({ handle: 'ada', displayName: 'Ada Lovelace' })
  await ada.press('confirm-recovery-saved')
  await ada.press('deny')
  await assertRefusedAtShop(ada)
  assert.equal(shop.customers.size, 0)
  const { authorizations } = await authorizationsOf(ada)
  assert.deepEqual(authorizations, [], 'the app was granted nothing')

  await ada.page.goto(`${shop.origin}/sign-in`)
  await ada.press('approve')
  assert.equal(await ada.page.locator('#name').innerText(), 'Ada Lovelace')
  await ada.leave()
})

async function authorizationsOf(person: Person) {
  await person.page.goto(`${stage.service.authUrl}/account/apps`)
  return person.call(stage.service.baseUrl, 'GET /api/oauth/authorizations')
}
