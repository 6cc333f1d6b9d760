import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Person } from '../../fixtures/person.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'
import { consentMessages as consent } from '../../../web/locales/en/pages/sign-in/consent.ts'

let stage: TestEnvironment
let ada: Person
before(async () => {
  stage = await openStage()
  ada = await stage.enroll({ handle: 'ada', displayName: 'Ada Lovelace' })
  await visitShop('scope=openid+profile')
  await ada.press('approve')
  await ada.page.locator('#name').waitFor()
})
after(() => stage.close())

async function visitShop(query = 'scope=openid+profile') {
  await ada.page.goto(`${stage.shop.origin}/sign-out`)
  await ada.page.goto(`${stage.shop.origin}/sign-in?${query}`)
}

async function signOut() {
  await ada.page.goto(`${stage.service.authUrl}/account`)
  await ada.press('sign-out')
  await ada.page.waitForURL(`${stage.service.authUrl}/`)
}

/** The number of clicks at the provider until they are back in the shop by name. */
async function countClicks(work: () => Promise<unknown>): Promise<number> {
  const before = ada.clicks()
  await work()
  assert.equal(await ada.page.locator('#name').innerText(), 'Ada Lovelace')
  return ada.clicks() - before
}

test('a signed-in user with earlier consent returns to the app without a click', async () => {
  assert.equal(await countClicks(() => visitShop()), 0)
})

test('a signed-out user returns with one click, on the passkey', async () => {
  await signOut()
  const clicks = await countClicks(async () => {
    ada.offerPasskeys(false)
    await visitShop()
    await ada.press('sign-in')
  })
  assert.equal(clicks, 1)
})

test('a user who selects the passkey in the autofill needs no button', async () => {
  await signOut()
  ada.offerPasskeys(true)
  assert.equal(await countClicks(() => visitShop()), 0)
})

test('a signed-out user with additional scopes returns with two clicks, and sees the new ones separately', async () => {
  await signOut()
  const clicks = await countClicks(async () => {
    ada.offerPasskeys(false)
    await visitShop('scope=openid+profile+offline_access')
    await ada.press('sign-in')
    await ada.page.getByRole('heading', { name: consent.signin.alsoSees }).waitFor()
    await ada.press('approve')
  })
  assert.equal(clicks, 2)
})

test('the app recognizes them each time', () => {
  assert.deepEqual(
    [...stage.shop.customers.values()].map(({ signIns }) => signIns),
    [5],
  )
})
