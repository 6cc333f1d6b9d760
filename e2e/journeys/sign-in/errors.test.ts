import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { en as words } from '../../../web/locales/en/messages.ts'
import type { Person } from '../../fixtures/person.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'
import { errorMessages as faults } from '../../../web/locales/en/pages/sign-in/error.ts'

let stage: TestEnvironment
before(async () => {
  stage = await openStage()
})
after(() => stage.close())

async function createAccount(person: Person, handle: string) {
  await person.page.goto(`${stage.service.authUrl}/register`)
  await person.createAccount({ handle, displayName: handle })
  await person.press('confirm-recovery-saved')
  await person.page.waitForURL(/\/account/)
}

async function signOut(person: Person) {
  await person.press('sign-out')
  await person.page.waitForURL(`${stage.service.authUrl}/`)
}

const strangers: Record<string, { wrong: Record<string, string>; title: string }> = {
  'an unregistered app': { wrong: { client_id: 'app_nobody' }, title: faults.titles.invalid_client },
  'an unregistered redirect URI': {
    wrong: { redirect_uri: 'http://shop.localhost/elsewhere' },
    title: faults.titles.invalid_redirect_uri,
  },
}
for (const [what, { wrong, title }] of Object.entries(strangers))
  test(`a request of ${what} ends on an error page, without a redirect`, async () => {
    const { shop, service } = stage
    const ada = await stage.invite()
    const url = new URL('/signin', service.authUrl)
    const right = {
      client_id: shop.app.clientId,
      response_type: 'code',
      redirect_uri: `${shop.origin}/callback`,
      scope: 'openid',
      state: 's',
    }
    url.search = new URLSearchParams({ ...right, ...wrong }).toString()
    const response = await ada.page.goto(url.href)
    assert.equal(response?.status(), 400)
    assert.equal(ada.page.url(), url.href)
    await ada.page.getByRole('heading', { name: title }).waitFor()
    await ada.page.getByRole('link', { name: faults.home, exact: true }).waitFor()
    await ada.page.getByText(faults.forDevelopers).click()
    await ada.page.getByText(Object.values(wrong).join(), { exact: true }).waitFor()
    const origins = new Set((await ada.sent()).map((request) => new URL(request.url).origin))
    assert.deepEqual(origins, new Set([service.authUrl]))
    await ada.leave()
  })

test('the developer of an app that sends no redirect URI reads that, and gets to the settings of the app', async () => {
  const { shop, service } = stage
  const ada = await stage.invite()
  await ada.page.goto(`${service.authUrl}/signin?client_id=${shop.app.clientId}&response_type=code&scope=openid`)
  await ada.page.getByText(faults.nowhereToReturn(shop.app.name)).waitFor()
  await ada.page.getByText(faults.forDevelopers).click()
  await ada.page.getByText(faults.nothingReceived).waitFor()
  const settings = await ada.page.getByRole('link', { name: faults.openSettings }).getAttribute('href')
  assert.equal(settings, `${service.authUrl}/developers/apps/${shop.app.clientId}/settings`)
  await ada.leave()
})

test('a user who loses the network while signing in sees an error, and continues where they were', async () => {
  const { shop } = stage
  const ada = await stage.invite()
  await createAccount(ada, 'ada')
  await signOut(ada)
  ada.offerPasskeys(false)
  await ada.page.goto(`${shop.origin}/sign-in`)
  await ada.control('sign-in').waitFor()

  await ada.context.setOffline(true)
  await ada.press('sign-in')
  await ada.page.getByText(words.problem.unreachable).waitFor()
  await ada.context.setOffline(false)
  await ada.press('sign-in')

  await ada.control('approve').waitFor()
  await ada.context.setOffline(true)
  await ada.press('approve')
  await ada.page.getByText(words.problem.unreachable).waitFor()
  await ada.context.setOffline(false)
  await ada.press('approve')
  assert.equal(await ada.page.locator('#name').innerText(), 'ada')
  await ada.leave()
})

test('a failed passkey prompt shows an error, and can be repeated', async () => {
  const { shop } = stage
  const bob = await stage.invite()
  await createAccount(bob, 'bob')
  await signOut(bob)
  bob.offerPasskeys(false)
  await bob.authenticator.refuse()
  await bob.page.goto(`${shop.origin}/sign-in`)
  await bob.press('sign-in')
  await bob.page.getByText(words.problem.ceremony.declined).waitFor()

  await bob.authenticator.replace()
  await bob.press('sign-in')
  await bob.press('approve')
  assert.equal(await bob.page.locator('#name').innerText(), 'bob')
  await bob.leave()
})

test('a failed prompt for a new passkey creates no account, and can be repeated', async () => {
  const eve = await stage.invite()
  await eve.authenticator.refuse()
  await eve.page.goto(`${stage.service.authUrl}/register`)
  await eve.write('handle', 'eve')
  await eve.write('displayName', 'Eve')
  await eve.press('create-account')
  await eve.page.getByText(words.problem.ceremony.declined).waitFor()

  await eve.authenticator.replace()
  await eve.press('create-account')
  await eve.press('confirm-recovery-saved')
  await eve.page.waitForURL(/\/account/)
  await eve.leave()
})

test('the error for a taken username is shown at its field, and other input is preserved', async () => {
  const [carol, other] = [await stage.invite(), await stage.invite()]
  await createAccount(carol, 'carol')
  await other.page.goto(`${stage.service.authUrl}/register`)
  await other.write('handle', 'Carol')
  await other.write('displayName', 'Another Carol')
  await other.press('create-account')
  await other.page.getByText(words.register.handleTaken).waitFor()
  assert.equal(await other.page.locator('input[name="displayName"]').inputValue(), 'Another Carol')
  const focused = other.page.locator('input[name="handle"]:focus')
  await focused.fill('carol-2')
  await focused.press('Enter')
  await other.press('confirm-recovery-saved')
  await other.page.waitForURL(/\/account/)
  await Promise.all([carol.leave(), other.leave()])
})
