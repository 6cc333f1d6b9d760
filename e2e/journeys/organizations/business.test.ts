import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { ResponseOf } from '@countersign/protocol/api'
import { startSamlProvider } from '../../../server/testing/saml-provider.ts'
import { businessMessages } from '../../../web/locales/en/pages/business.ts'
import { en as words } from '../../../web/locales/en/messages.ts'
import { returned, signAct, signChange, signForValues } from '../../apps/signed-actions.ts'
import { startProvider } from '../../apps/enterprise-provider.ts'
import type { Person } from '../../fixtures/person.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'
import { ssoMessages as ssoWords } from '../../../web/locales/en/pages/sign-in/sso.ts'

let stage: TestEnvironment
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

test('an organization created by an app connects its providers, and its members sign in with them', async () => {
  const wile = await stage.enroll({ handle: 'wile', displayName: 'Wile Owner' })
  const ann = await stage.enroll({ handle: 'ann', displayName: 'Ann Example' })
  const acme = await createInShop(wile, 'Acme')
  await inviteTo(acme, wile, ann)
  await proveDomain(wile, 'acme.example')
  await connectOpenIdProvider(wile)
  await connectSamlProvider(wile)
  await confirmConnections(wile)
  await signChange(wile, 'require-sso')
  await wile.control('let-without-sso').waitFor()

  await visitShop(ann, acme)
  await ann.control('sign-in-there').waitFor()
  assert.equal(await ann.control('approve').count(), 0, 'a user who has not signed in there sees nothing else')
  await ann.press('sign-in-there')
  await signInAtProvider(ann, 'ann@acme.example')
  await ann.page.getByRole('heading', { name: ssoWords.says('Acme', 'ann@acme.example') }).waitFor()
  await ann.press('choose-identity')
  await ann.press('approve')
  const claim = await readOrganizationClaim(ann)
  assert.deepEqual([claim['id'], claim['role'], claim['authMethod']], [acme, 'member', 'enterprise_sso'])

  await wile.page.locator('[data-action^="enable-"]').first().click()
  await signAct(wile.page)
  await returned(wile.page, 'done')
  await wile.page.getByText(businessMessages.sso.disabled).waitFor()
  await ann.context.clearCookies()
  // Otherwise their browser may sign them in with their passkey before they click anything.
  ann.offerPasskeys(false)
  await visitShop(ann, acme)
  await ann.page.getByRole('link', { name: words.login.withOrganization }).click()
  await ann.write('email', 'ann@acme.example')
  await samlProvider.have({ nameId: 'ann-1', attributes: { email: 'ann@acme.example' } })
  // It later proves that the account linked to this sign-in is theirs.
  ann.offerPasskeys(true)
  await ann.press('sso')
  await ann.press('choose-identity')
  const claimBySaml = await readOrganizationClaim(ann)
  assert.equal(claimBySaml['authMethod'], 'enterprise_sso')
  assert.notEqual(claimBySaml['ssoConnectionId'], claim['ssoConnectionId'])
})

const visitShop = ({ page }: Person, organizationId: string) =>
  page.goto(`${stage.shop.origin}/sign-in?scope=openid+profile&organization_id=${organizationId}`)

async function customerOf({ page }: Person) {
  await page.waitForURL(`${stage.shop.origin}/`)
  const customer = stage.shop.customers.get(await page.locator('#sub').innerText())
  assert.ok(customer)
  return customer
}

/** The organization that the shop receives for a user. */
async function readOrganizationClaim(person: Person): Promise<Record<string, unknown>> {
  const { organization } = await stage.shop.readUserinfo(await customerOf(person))
  assert.ok(typeof organization === 'object' && organization !== null)
  return Object.fromEntries(Object.entries(organization))
}

/** Makes the shop create a workspace for a user who signs in to it; returns its id. */
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
  const { organization }: ResponseOf<'POST /api/oauth/workspaces'> = await response.json()
  return organization.id
}

async function inviteTo(organizationId: string, inviting: Person, invited: Person): Promise<void> {
  await inviting.page.goto(`${stage.service.businessUrl}/organizations/${organizationId}`)
  await inviting.press('invite')
  await inviting.write('invitees', '@ann')
  const [url = ''] = await signForValues(inviting, 'send-invitation')
  await invited.page.goto(url)
  await invited.press('accept-invitation')
  await invited.page.waitForURL(/\/overview$/)
}

async function proveDomain(owner: Person, domain: string): Promise<void> {
  const { page, write } = owner
  await page.getByRole('link', { name: businessMessages.sections.domains }).click()
  await write('domain', domain)
  await signChange(owner, 'claim-domain')
  await page.locator('.copies code').first().waitFor()
  const [name = '', value = ''] = await page.locator('.copies code').allTextContents()
  stage.nameServer.setTexts(name, value)
  await signChange(owner, `check-${domain}`)
  await page.locator('.entry details').waitFor()
}

/** Confirms each connection, which is required for mandatory SSO. */
async function confirmConnections({ page }: Person): Promise<void> {
  const confirm = page.locator('[data-action^="confirm-"]')
  await confirm.first().waitFor()
  for (let left = await confirm.count(); left > 0; left -= 1) {
    await confirm.first().click()
    await signAct(page)
    await returned(page, 'done')
    await page
      .getByText(businessMessages.sso.unconfirmed)
      .nth(left - 1)
      .waitFor({ state: 'detached' })
  }
}

async function connectOpenIdProvider(owner: Person): Promise<void> {
  const { page, write, press } = owner
  await page.getByRole('link', { name: businessMessages.sections.sso }).click()
  await press('add-connection')
  // The provider wants the redirect URI before it gives a client ID.
  await page.locator('[data-action="copy-callback"]').waitFor()
  provider.allow(await page.locator('form .copies code').innerText())
  await write('issuer', provider.issuer)
  await write('clientId', provider.clientId)
  await write('clientSecret', provider.clientSecret)
  await signChange(owner, 'create-connection')
  const connection = page.getByRole('listitem').filter({ hasText: provider.issuer })
  await tryOut(owner, connection, () => signInAtProvider(owner, 'wile@acme.example'))
  await nameGroups(owner, connection)
}

/** Adds a rule for a group, and removes it again. */
async function nameGroups(owner: Person, connection: ReturnType<Person['page']['locator']>): Promise<void> {
  const { page, write, control } = owner
  const { rule } = businessMessages.groupRules
  const open = () => connection.locator('[data-action^="groups-"]').click()
  await open()
  await write('value', '/engineering')
  await write('group', 'Engineering')
  await owner.press('add-group-rule')
  await page.locator('input[name="group"][aria-invalid="true"]').waitFor()
  await write('group', 'engineering')
  await signChange(owner, 'add-group-rule')
  await open()
  const shown = page.getByRole('dialog').getByRole('listitem')
  const text = (await shown.innerText()).replaceAll(/[\u2066-\u2069]/g, '')
  assert.ok(text.includes(rule('groups', '/engineering', 'org:acme:engineering')), text)
  await signChange(owner, 'remove-group-rule')
  await open()
  await control('add-group-rule').waitFor()
  assert.equal(await shown.count(), 0)
  await owner.press('close')
}

async function connectSamlProvider(owner: Person): Promise<void> {
  const { page, write, press } = owner
  await press('add-connection')
  await press('by-saml')
  await write('metadataUrl', samlProvider.metadataUrl)
  await signChange(owner, 'create-connection')
  const connection = page.getByRole('listitem').filter({ hasText: samlProvider.entityId })
  const ourMetadata = await connection.locator('.copies code').first().innerText()
  await samlProvider.register(await (await fetch(ourMetadata)).text())
  await samlProvider.have({ nameId: 'wile-1', attributes: { email: 'wile@acme.example' } })
  await tryOut(owner, connection, async () => {})
}

/** Tests a connection by signing in with it, before anyone depends on it, and returns to the console. */
async function tryOut(
  { page }: Person,
  connection: ReturnType<Person['page']['locator']>,
  answer: () => Promise<void>,
): Promise<void> {
  const console = page.url()
  await connection.locator('[data-action^="test-"]').click()
  await answer()
  await page.getByRole('heading', { name: ssoWords.tested }).waitFor()
  await page.goto(console)
}

/** Signs in on the provider's own pages, which accept any password. */
async function signInAtProvider({ page }: Person, login: string): Promise<void> {
  await page.locator('input[name="login"]').fill(login)
  await page.locator('input[name="password"]').fill('any')
  await page.locator('button[type="submit"]').click()
  await page.getByRole('button', { name: 'Continue' }).click()
}
