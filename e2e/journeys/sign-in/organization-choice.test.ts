import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { decodeJwt } from 'jose'
import { en as words } from '../../../web/locales/en/messages.ts'
import { foundOrganization } from '../../apps/organization-choice.ts'
import type { Person } from '../../fixtures/person.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'
import { consentMessages as consent } from '../../../web/locales/en/pages/sign-in/consent.ts'

let stage: TestEnvironment
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

/** The organization that the shop receives for the user, if any. */
async function readOrganizationClaim(): Promise<unknown> {
  assert.equal(await ada.page.locator('#name').innerText(), 'Ada Lovelace')
  const [customer] = [...stage.shop.customers.values()]
  assert.ok(customer)
  return (await stage.shop.readUserinfo(customer)).organization
}
const idIn = (claim: unknown) => (typeof claim === 'object' && claim !== null && 'id' in claim ? claim.id : undefined)

test('ORG-11 an app that requests no organization shows no choice', async () => {
  await visitShop('scope=openid+profile')
  await ada.control('approve').waitFor()
  assert.equal(await choice('Acme').count(), 0)
  await ada.press('approve')
  assert.equal(await readOrganizationClaim(), undefined)
  const [customer] = [...stage.shop.customers.values()]
  assert.equal(decodeJwt(customer?.idToken ?? '')['organization'], undefined)
})

test('a user chooses for which organization they use an app, and sees what it receives', async () => {
  await visitShop('scope=openid+profile&organization_id=select')
  await choice('Acme').click()
  await ada.control('approve').waitFor()
  const shown = await ada.page.locator('main').innerText()
  assert.ok(shown.includes(consent.signin.organizationValue('Acme')), shown)
  await ada.press('approve')
  assert.equal(idIn(await readOrganizationClaim()), acme)
})

test('an app for an organization gets it again without a choice, also with prompt=none', async () => {
  const before = ada.clicks()
  await visitShop(`scope=openid+profile&organization_id=${acme}`)
  assert.equal(idIn(await readOrganizationClaim()), acme)
  await visitShop(`scope=openid+profile&organization_id=${acme}&prompt=none`)
  assert.equal(idIn(await readOrganizationClaim()), acme)
  assert.equal(ada.clicks(), before)
})

test('an app that requests another organization than before shows the choice, or gets none', async () => {
  const globex = await foundOrganization(ada, stage.service, 'Globex')
  await visitShop(`scope=openid+profile&organization_id=${globex}&prompt=none`)
  assert.equal(await ada.page.locator('#error').innerText(), 'consent_required')
  await visitShop(`scope=openid+profile&organization_id=${globex}`)
  await ada.page.getByRole('button', { name: words.signin.change }).click()
  await choice(consent.signin.yourself).click()
  assert.equal(await readOrganizationClaim(), undefined, 'they have consented as themselves before')
})

test('a user who is not in the requested organization learns that, and can deny', async () => {
  await visitShop('scope=openid+profile&organization_id=00000000-0000-4000-8000-000000000000')
  await choice('Acme').waitFor()
  assert.ok((await ada.page.locator('main').innerText()).includes(consent.signin.noSuchOrganization('ada')))
  await ada.press('deny')
  assert.equal(await ada.page.locator('#error').innerText(), 'access_denied')
})
