import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { en as words } from '../../../web/locales/en/messages.ts'
import { watch } from '../../fixtures/visual-checks.ts'
import type { Person } from '../../fixtures/person.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'

let stage: TestEnvironment
before(async () => {
  stage = await openStage()
})
after(() => stage.close())

async function addName(person: Person, handle: string, displayName: string): Promise<void> {
  await person.page.goto(`${stage.service.authUrl}/account/identities`)
  await person.press('new-identity')
  await person.write('handle', handle)
  await person.write('displayName', displayName)
  await person.press('add-identity')
  await person.page.getByRole('heading', { name: displayName }).waitFor()
}

const chosen = (person: Person, name: string) => person.control('choose-identity').filter({ hasText: name })

test('a second identity is another user to the app, and the first stays the same', async () => {
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

  await addName(ada, 'countess', 'The Countess')

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
  for (const handle of ['ada', 'countess']) await ada.page.getByText(`As @${handle} since`).waitFor()
  await ada.leave()
})

test('there is no layout shift when a passkey from autofill leads to the choice between two identities', async () => {
  const bob = await stage.enroll({ handle: 'bob', displayName: 'Bob' })
  await addName(bob, 'builder', 'The Builder')
  await bob.context.clearCookies()
  const { look, faults } = await watch(bob, { language: 'en' })
  await bob.page.goto(`${stage.shop.origin}/sign-in`)
  await chosen(bob, 'The Builder').waitFor()
  await look('choice')
  assert.deepEqual(faults, [])
  await bob.leave()
})

test('an identity whose creation got no response is found by the next try, and gets its display name', async () => {
  const eve = await stage.enroll({ handle: 'eve', displayName: 'Eve' })
  const { page } = eve
  await page.route(
    (url) => url.pathname === '/api/identities',
    async (route) => {
      await route.fetch()
      await route.abort()
    },
    { times: 1 },
  )
  await page.goto(`${stage.service.authUrl}/account/identities`)
  await eve.press('new-identity')
  await eve.write('handle', 'eve-two')
  await eve.write('displayName', 'Eve Two')
  await eve.press('add-identity')
  await page.getByRole('alert').getByText(words.problem.unreachable).waitFor()
  await eve.write('displayName', 'Eve the Second')
  await eve.press('add-identity')
  await page.getByRole('heading', { name: 'Eve the Second' }).waitFor()
  assert.equal(await page.getByRole('dialog').count(), 0)
  const { identities } = await eve.call(stage.service.baseUrl, 'GET /api/identities')
  assert.deepEqual(identities.map(({ handle }) => handle).toSorted(), ['eve', 'eve-two'])
  await eve.leave()
})
