import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { en as words } from '../web/messages/en.ts'
import type { Person } from './person.ts'
import { openStage, type Stage } from './stage.ts'

let stage: Stage
before(async () => {
  stage = await openStage()
})
after(() => stage.close())

const chosen = (person: Person, name: string) => person.control('choose-identity').filter({ hasText: name })

test('a second name is another customer to the app, and the first stays who it was', async () => {
  const { shop, service } = stage
  const ada = await stage.invite()
  const subAtShop = () => ada.page.locator('#sub').innerText()
  const visitShop = async () => {
    await ada.page.goto(`${shop.origin}/sign-out`)
    await ada.page.locator('#sign-in').click()
  }

  await visitShop()
  await ada.page.getByRole('link', { name: words.login.register }).click()
  await ada.createAccount({ handle: 'ada', displayName: 'Ada Lovelace' })
  await ada.press('confirm-recovery-saved')
  await ada.press('approve')
  const first = await subAtShop()

  await ada.page.goto(`${service.authUrl}/account`)
  await ada.page.getByRole('button', { name: words.identities.add }).click()
  await ada.write('handle', 'countess')
  await ada.write('displayName', 'The Countess')
  await ada.press('add-identity')
  await ada.page.getByRole('heading', { name: 'The Countess' }).waitFor()

  await visitShop()
  await chosen(ada, 'The Countess').click()
  await ada.press('approve')
  assert.equal(await ada.page.locator('#name').innerText(), 'The Countess')
  const second = await subAtShop()
  assert.notEqual(second, first)

  await visitShop()
  await chosen(ada, 'Ada Lovelace').click()
  assert.equal(await ada.page.locator('#name').innerText(), 'Ada Lovelace')
  assert.equal(await subAtShop(), first)
  assert.equal(shop.customers.get(first)?.signIns, 2)
  assert.equal(shop.customers.get(second)?.signIns, 1)

  await ada.page.goto(`${service.authUrl}/account/apps`)
  for (const handle of ['ada', 'countess']) await ada.page.getByText(words.apps.as(handle)).waitFor()
  await ada.leave()
})
