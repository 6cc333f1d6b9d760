import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { decodeJwt } from 'jose'
import { en as words } from '../../../web/locales/en.ts'
import { foundOrganization } from '../../apps/organization-choice.ts'
import type { Person } from '../../fixtures/person.ts'
import { openStage, type Stage } from '../../fixtures/stage.ts'

let stage: Stage
let ada: Person
let acme: string
before(async () => {
  stage = await openStage()
  ada = await stage.enroll({ handle: 'ada', displayName: 'Ada Lovelace' })
  acme = await foundOrganization(ada, stage.service, 'Acme')
})
after(() => stage.close())

const visitShop = async (query: string) => {
  await ada.page.goto(`${stage.shop.origin}/sign-out`)
  await ada.page.goto(`${stage.shop.origin}/sign-in?${query}`)
}
const choice = (name: string) => ada.control('choose-organization').filter({ hasText: name })

/** The organization that the shop is told of the person, where it is told of one. */
async function toldInShop(): Promise<unknown> {
  assert.equal(await ada.page.locator('#name').innerText(), 'Ada Lovelace')
  const [customer] = [...stage.shop.customers.values()]
  assert.ok(customer)
  return (await stage.shop.readUserinfo(customer)).organization
}
const idIn = (told: unknown) => (typeof told === 'object' && told !== null && 'id' in told ? told.id : undefined)

test('ORG-11 an app that asks for no organization asks nothing about any', async () => {
  await visitShop('scope=openid+profile')
  await ada.control('approve').waitFor()
  assert.equal(await choice('Acme').count(), 0)
  await ada.press('approve')
  assert.equal(await toldInShop(), undefined)
  const [customer] = [...stage.shop.customers.values()]
  assert.equal(decodeJwt(customer?.idToken ?? '')['organization'], undefined)
})

test('a person chooses for whom they use an app, and sees what it is told', async () => {
  await visitShop('scope=openid+profile&organization_id=select')
  await choice('Acme').click()
  await ada.control('approve').waitFor()
  const shown = await ada.page.locator('main').innerText()
  assert.ok(shown.includes(words.signin.organizationValue('Acme')), shown)
  await ada.press('approve')
  assert.equal(idIn(await toldInShop()), acme)
})

test('an app that acts for an organization gets it again without a question, also with prompt=none', async () => {
  const before = ada.clicks()
  await visitShop(`scope=openid+profile&organization_id=${acme}`)
  assert.equal(idIn(await toldInShop()), acme)
  await visitShop(`scope=openid+profile&organization_id=${acme}&prompt=none`)
  assert.equal(idIn(await toldInShop()), acme)
  assert.equal(ada.clicks(), before)
})

test('an app that asks for another organization than it acts for has the person asked, or gets none', async () => {
  const globex = await foundOrganization(ada, stage.service, 'Globex')
  await visitShop(`scope=openid+profile&organization_id=${globex}&prompt=none`)
  assert.equal(await ada.page.locator('#error').innerText(), 'consent_required')
  await visitShop(`scope=openid+profile&organization_id=${globex}`)
  await ada.page.getByRole('button', { name: words.signin.change }).click()
  await choice(words.signin.yourself).click()
  assert.equal(await toldInShop(), undefined, 'as themselves they have agreed before')
})

test('who is not in the organization that an app names learns that, and can say no', async () => {
  await visitShop('scope=openid+profile&organization_id=00000000-0000-4000-8000-000000000000')
  await choice('Acme').waitFor()
  assert.ok((await ada.page.locator('main').innerText()).includes(words.signin.noSuchOrganization('ada')))
  await ada.press('deny')
  assert.equal(await ada.page.locator('#error').innerText(), 'access_denied')
})
