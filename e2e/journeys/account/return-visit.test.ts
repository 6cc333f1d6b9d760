import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { en as words } from '../../../web/locales/en.ts'
import type { Person } from '../../fixtures/person.ts'
import { openStage, type Stage } from '../../fixtures/stage.ts'

let stage: Stage
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

/** How many clicks they need at the provider to be back in the shop by name. */
async function countClicks(work: () => Promise<unknown>): Promise<number> {
  const before = ada.clicks()
  await work()
  assert.equal(await ada.page.locator('#name').innerText(), 'Ada Lovelace')
  return ada.clicks() - before
}

test('who is signed in and granted the app everything before is back in it without a click', async () => {
  assert.equal(await countClicks(() => visitShop()), 0)
})

test('who is signed out is back with one click, on the passkey', async () => {
  await signOut()
  const clicks = await countClicks(async () => {
    ada.offerPasskeys(false)
    await visitShop()
    await ada.press('sign-in')
  })
  assert.equal(clicks, 1)
})

test('who picks the passkey that the input offers needs no button', async () => {
  await signOut()
  ada.offerPasskeys(true)
  assert.equal(await countClicks(() => visitShop()), 0)
})

test('who is signed out and is asked for more is back with two clicks, and sees what is new apart', async () => {
  await signOut()
  const clicks = await countClicks(async () => {
    ada.offerPasskeys(false)
    await visitShop('scope=openid+profile+offline_access')
    await ada.press('sign-in')
    await ada.page.getByRole('heading', { name: words.signin.alsoSees }).waitFor()
    await ada.press('approve')
  })
  assert.equal(clicks, 2)
})

test('the app knows them again each time', () => {
  assert.deepEqual(
    [...stage.shop.customers.values()].map(({ signIns }) => signIns),
    [5],
  )
})
