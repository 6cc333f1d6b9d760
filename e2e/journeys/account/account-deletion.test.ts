import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import { words } from '../../pages/words.ts'
import { accountPageMessages as account } from '../../../web/locales/en/pages/account.ts'
import { landingMessages as landing } from '../../../web/locales/en/pages/landing.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'
import type { Person } from '../../fixtures/person.ts'

let stage: TestEnvironment
before(async () => {
  stage = await openStage()
})
after(() => stage.close())

test('a user reads their activity, exports their data, and deletes the account; apps keep no access', async () => {
  const { shop, service } = stage
  const ada = await stage.invite()
  const { page } = ada
  await page.goto(`${shop.origin}/sign-in`)
  await page.getByRole('link', { name: words.login.register }).click()
  await ada.createAccount({ handle: 'ada', displayName: 'Ada Lovelace' })
  await ada.press('confirm-recovery-saved')
  await ada.press('approve')
  const known = shop.customers.get(await page.locator('#sub').innerText())
  assert.ok(known)

  await page.goto(`${service.authUrl}/account`)
  await page.getByRole('link', { name: words.account.activity, exact: true }).click()
  await page.locator('.timeline').getByText(`Connected ${shop.app.name}`).waitFor()
  await page.getByText(words.activity.acts['account.created']).waitFor()

  await page.getByRole('link', { name: account.places.data }).click()
  await ada.press('leave')
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('dialog').locator('[data-action="export"]').click(),
  ])
  assert.equal(download.suggestedFilename(), words.data.fileName)
  const exported = JSON.parse(await readFile(await download.path(), 'utf8'))
  assert.equal(exported.identities[0].handle, 'ada')
  assert.equal(exported.authorizations[0].appName, shop.app.name)

  await ada.write('confirmation', 'somebody')
  await ada.press('delete-account')
  await page.getByText(words.data.mismatch).waitFor()
  await ada.write('confirmation', 'Ada')
  await ada.press('delete-account')
  await page.waitForURL(`${service.authUrl}/`)
  await page.getByRole('link', { name: landing.register }).waitFor()

  await assert.rejects(shop.readUserinfo(known), { status: 401 })
  await page.goto(`${service.authUrl}/account`)
  await page.waitForURL(/\/login/)
  await ada.control('sign-in').waitFor()
  assert.equal(await ada.control('continue-as').count(), 0)
  assert.deepEqual(await ada.authenticator.credentials(), [], 'the passkey is no longer offered')
  await ada.leave()
})

const isAccount = (url: URL) => url.pathname === '/api/account'

test('a user whose account was deleted leaves it, although the response to the deletion was lost', async () => {
  const bob = await stage.enroll({ handle: 'bob', displayName: 'Bob' })
  const { page } = bob
  await page.route(
    isAccount,
    async (route) => {
      await route.fetch()
      await route.abort()
    },
    { times: 1 },
  )
  await tryToDelete(bob, 'bob')
  await bob.press('delete-account')
  await page.waitForURL(`${stage.service.authUrl}/`)
  await page.goto(`${stage.service.authUrl}/login`)
  await bob.control('sign-in').waitFor()
  assert.equal(await bob.control('continue-as').count(), 0)
  assert.deepEqual(await bob.authenticator.credentials(), [])
  await bob.leave()
})

test('a user who was signed out before a deletion arrived keeps their account and their passkey', async () => {
  const eve = await stage.enroll({ handle: 'eve', displayName: 'Eve' })
  const { page } = eve
  await page.route(isAccount, (route) => route.abort(), { times: 1 })
  await tryToDelete(eve, 'eve')
  await rename(eve, 'evelyn')
  await eve.context.clearCookies()
  await eve.press('delete-account')
  await page.getByRole('alert').getByText(words.problem.refused.unauthorized).waitFor()
  assert.equal((await eve.authenticator.credentials()).length, 1)
  await page.goto(`${stage.service.authUrl}/login`)
  await eve.control('continue-as').waitFor()
  await eve.leave()
})

/** Renames the identity of a user, as another tab of theirs would. */
async function rename({ page }: Person, handle: string): Promise<void> {
  const status = await page.evaluate(
    async ([baseUrl, body]) => {
      const { identities } = await (await fetch(`${baseUrl}/api/identities`, { credentials: 'include' })).json()
      const headers = { 'content-type': 'application/json' }
      const url = `${baseUrl}/api/identities/${identities[0].identityId}`
      return (await fetch(url, { method: 'PATCH', credentials: 'include', headers, body })).status
    },
    [stage.service.baseUrl, JSON.stringify({ handle })] as const,
  )
  assert.equal(status, 200)
}

/** Deletes the account of a user who gets no response. */
async function tryToDelete(person: Person, handle: string): Promise<void> {
  await person.page.goto(`${stage.service.authUrl}/account/data`)
  await person.press('leave')
  await person.write('confirmation', handle)
  await person.press('delete-account')
  await person.page.getByRole('alert').getByText(words.problem.unreachable).waitFor()
}
