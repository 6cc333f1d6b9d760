import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Answer } from '@countersign/protocol/api'
import { startSamlProvider } from '../../../server/testing/saml-provider.ts'
import { businessEn } from '../../../web/locales/business-en.ts'
import { en as words } from '../../../web/locales/en.ts'
import { signActs } from '../../apps/acts.ts'
import { startProvider } from '../../apps/enterprise-provider.ts'
import type { Person } from '../../fixtures/person.ts'
import { openStage, type Stage } from '../../fixtures/stage.ts'

let stage: Stage
let provider: Awaited<ReturnType<typeof startProvider>>
let samlProvider: Awaited<ReturnType<typeof startSamlProvider>>
before(async () => {
  ;[stage, provider, samlProvider] = await Promise.all([
    openStage(),
    startProvider(),
    startSamlProvider(() => new Date()),
  ])
})
after(async () => {
  await stage.close()
  await Promise.all([provider.close(), samlProvider.close()])
})

test('an organization that an app has made connects its providers, and lets its own people in by them', async () => {
  const wile = await stage.enroll({ handle: 'wile', displayName: 'Wile Owner' })
  signActs(wile, wile.code)
  const ann = await stage.enroll({ handle: 'ann', displayName: 'Ann Example' })
  const acme = await createInShop(wile, 'Acme')
  await inviteTo(acme, wile, ann)
  await proveDomain(wile, 'acme.example')
  await connectOpenIdProvider(wile)
  await connectSamlProvider(wile)
  await confirmConnections(wile)
  await wile.press('require-sso')
  await wile.control('let-without-sso').waitFor()

  await visitShop(ann, acme)
  await ann.control('sign-in-there').waitFor()
  assert.equal(await ann.control('approve').count(), 0, 'who has not signed in there is asked nothing else')
  await ann.press('sign-in-there')
  await signInAtProvider(ann, 'ann@acme.example')
  await ann.page.getByRole('heading', { name: words.sso.says('Acme', 'ann@acme.example') }).waitFor()
  await ann.press('choose-identity')
  await ann.press('approve')
  const told = await toldInShop(ann)
  assert.deepEqual([told['id'], told['role'], told['authMethod']], [acme, 'member', 'enterprise_sso'])

  await wile.page.locator('[data-action^="enable-"]').first().click()
  await wile.page.getByText(businessEn.sso.disabled).waitFor()
  await ann.context.clearCookies()
  // Else their browser may sign them in with their passkey before they press anything.
  ann.offerPasskeys(false)
  await visitShop(ann, acme)
  await ann.page.getByRole('link', { name: words.login.withOrganization }).click()
  await ann.write('email', 'ann@acme.example')
  await samlProvider.have({ nameId: 'ann-1', attributes: { email: 'ann@acme.example' } })
  // By it they show afterwards that the account to which this sign-in is linked is theirs.
  ann.offerPasskeys(true)
  await ann.press('sso')
  await ann.press('choose-identity')
  const toldBySaml = await toldInShop(ann)
  assert.equal(toldBySaml['authMethod'], 'enterprise_sso')
  assert.notEqual(toldBySaml['ssoConnectionId'], told['ssoConnectionId'])
})

const visitShop = ({ page }: Person, organizationId: string) =>
  page.goto(`${stage.shop.origin}/sign-in?scope=openid+profile&organization_id=${organizationId}`)

async function customerOf({ page }: Person) {
  await page.waitForURL(`${stage.shop.origin}/`)
  const customer = stage.shop.customers.get(await page.locator('#sub').innerText())
  assert.ok(customer)
  return customer
}

/** What the shop is told of the organization that a person is there for. */
async function toldInShop(person: Person): Promise<Record<string, unknown>> {
  const { organization } = await stage.shop.readUserinfo(await customerOf(person))
  assert.ok(typeof organization === 'object' && organization !== null)
  return Object.fromEntries(Object.entries(organization))
}

/** Has the shop make a workspace for somebody who signs in to it; answers its id. */
async function createInShop(person: Person, name: string): Promise<string> {
  await person.page.goto(`${stage.shop.origin}/sign-in`)
  await person.press('approve')
  const { accessToken } = await customerOf(person)
  const response = await fetch(`${stage.service.baseUrl}/api/oauth/workspaces`, {
    method: 'POST',
    headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name, userConfirmedServiceWorkspaceCreation: true }),
  })
  assert.equal(response.status, 201)
  const { organization }: Answer<'POST /api/oauth/workspaces'> = await response.json()
  return organization.id
}

async function inviteTo(organizationId: string, inviting: Person, invited: Person): Promise<void> {
  await inviting.page.goto(`${stage.service.businessUrl}/organizations/${organizationId}`)
  await inviting.press('invite')
  await inviting.write('whom', '@ann')
  await inviting.press('send-invitation')
  const url = await inviting.page.locator('output[name="invitationUrl"]').innerText()
  await inviting.press('invitation-sent')
  await invited.page.goto(url)
  await invited.press('accept-invitation')
  await invited.control('leave-of-member').waitFor()
}

async function proveDomain({ page, write, press }: Person, domain: string): Promise<void> {
  await page.getByRole('link', { name: businessEn.sections.domains }).click()
  await write('domain', domain)
  await press('claim-domain')
  await page.locator('.copies code').first().waitFor()
  const [name = '', value = ''] = await page.locator('.copies code').allTextContents()
  stage.nameServer.setTexts(name, value)
  await press(`check-${domain}`)
  await page.locator('.entry details').waitFor()
}

/** Confirms each connection, so that it counts where everybody must sign in with SSO. */
async function confirmConnections({ page }: Person): Promise<void> {
  const confirm = page.locator('[data-action^="confirm-"]')
  await confirm.first().waitFor()
  for (let left = await confirm.count(); left > 0; left -= 1) {
    await confirm.first().click()
    await page
      .getByText(businessEn.sso.unconfirmed)
      .nth(left - 1)
      .waitFor({ state: 'detached' })
  }
}

async function connectOpenIdProvider(owner: Person): Promise<void> {
  const { page, write, press } = owner
  await page.getByRole('link', { name: businessEn.sections.sso }).click()
  await press('add-connection')
  await write('issuer', provider.issuer)
  await write('clientId', provider.clientId)
  await write('clientSecret', provider.clientSecret)
  await press('create-connection')
  const connection = page.getByRole('listitem').filter({ hasText: provider.issuer })
  provider.allow(await connection.locator('.copies code').innerText())
  await tryOut(owner, connection, () => signInAtProvider(owner, 'wile@acme.example'))
}

async function connectSamlProvider(owner: Person): Promise<void> {
  const { page, write, press } = owner
  await press('add-connection')
  await press('by-saml')
  await write('metadataUrl', samlProvider.metadataUrl)
  await press('create-connection')
  const connection = page.getByRole('listitem').filter({ hasText: samlProvider.entityId })
  const ourMetadata = await connection.locator('.copies code').first().innerText()
  await samlProvider.register(await (await fetch(ourMetadata)).text())
  await samlProvider.have({ nameId: 'wile-1', attributes: { email: 'wile@acme.example' } })
  await tryOut(owner, connection, async () => {})
}

/** Signs in by a connection, to see that it works before anybody depends on it, and goes back to the console. */
async function tryOut(
  { page }: Person,
  connection: ReturnType<Person['page']['locator']>,
  answer: () => Promise<void>,
): Promise<void> {
  const console = page.url()
  await connection.locator('[data-action^="test-"]').click()
  await answer()
  await page.getByRole('heading', { name: words.sso.tested }).waitFor()
  await page.goto(console)
}

/** Signs in on the provider's own pages, which take any password. */
async function signInAtProvider({ page }: Person, login: string): Promise<void> {
  await page.locator('input[name="login"]').fill(login)
  await page.locator('input[name="password"]').fill('any')
  await page.locator('button[type="submit"]').click()
  await page.getByRole('button', { name: 'Continue' }).click()
}
