import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { ResponseOf } from '@countersign/protocol/api'
import type { OrganizationRole } from '@countersign/protocol/formats/role'
import { scimPatch, scimUser } from '../../../server/testing/enterprise.ts'
import { businessMessages as business } from '../../../web/locales/en/pages/business.ts'
import { en as words } from '../../../web/locales/en/messages.ts'
import { declineAct, signChange, signForValues } from '../../apps/signed-actions.ts'
import { continueWithOrganization, passProvider, startProvider } from '../../apps/enterprise-provider.ts'
import { openShop } from '../../apps/relying-party.ts'
import { foundOrganization } from '../../apps/organization-choice.ts'
import { startHostilePage } from '../../fixtures/hostile-page.ts'
import { watch } from '../../fixtures/visual-checks.ts'
import type { Person } from '../../fixtures/person.ts'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'
import { errorMessages as faults } from '../../../web/locales/en/pages/sign-in/error.ts'
import { ssoMessages as germanSsoWords } from '../../../web/locales/de/pages/sign-in/sso.ts'
import { consentMessages } from '../../../web/locales/en/pages/sign-in/consent.ts'
import { ssoMessages as ssoWords } from '../../../web/locales/en/pages/sign-in/sso.ts'

type Provider = Awaited<ReturnType<typeof startProvider>>

let stage: TestEnvironment
let provider: Provider
let owner: Person
let acme: string
let connectionId: string
before(async () => {
  provider = await startProvider()
  stage = await openStage()
  owner = await stage.enroll({ handle: 'wile', displayName: 'Wile Owner' })
  acme = await foundOrganization(owner, stage.service, 'Acme')
  const { domain } = await manage<ResponseOf<'POST /api/organizations/:organizationId/domains'>>('post', 'domains', {
    domain: 'acme.example',
  })
  stage.nameServer.setTexts(domain.challenge.name, domain.challenge.value)
  await manage('post', `domains/${domain.domainId}/verify`)
  const { issuer, clientId, clientSecret } = provider
  const settings = { name: 'Login', domains: ['acme.example'], oidc: { issuer, clientId, clientSecret } }
  const { connection } = await manage<ResponseOf<'POST /api/organizations/:organizationId/sso-connections'>>(
    'post',
    'sso-connections',
    settings,
  )
  connectionId = connection.connectionId
  provider.allow(connection.oidc?.callbackUrl ?? '')
})
after(async () => {
  await stage.close()
  await provider.close()
})

/** Manages the organization, as its owner. */
async function manage<Body>(method: 'post' | 'patch', path: string, data?: object): Promise<Body> {
  const { businessUrl, authUrl } = stage.service
  const url = `${businessUrl}/api/organizations/${acme}${path && `/${path}`}`
  const answer = await owner.context.request[method](url, { headers: { origin: authUrl }, data: data ?? {} })
  assert.ok(answer.ok(), `${path}: ${await answer.text()}`)
  return answer.json()
}

const visitShop = (person: Person, organization = acme) =>
  person.page.goto(`${stage.shop.origin}/sign-in?scope=openid+profile&organization_id=${organization}`)

/** How the shop learns that the user signed in, for the organization. */
async function readOrganizationClaim(person: Person): Promise<Record<string, unknown>> {
  await person.page.waitForURL(`${stage.shop.origin}/`)
  const customer = stage.shop.customers.get(await person.page.locator('#sub').innerText())
  assert.ok(customer)
  const { organization } = await stage.shop.readUserinfo(customer)
  assert.ok(typeof organization === 'object' && organization !== null)
  return Object.fromEntries(Object.entries(organization))
}

test('a user signs in with SSO, once with a passkey, then without, and the app receives the organization', async () => {
  const ann = await stage.invite()
  await visitShop(ann)
  await ann.page.getByRole('link', { name: words.login.withOrganization }).click()
  await ann.write('email', 'ann@nowhere.example')
  await ann.press('sso')
  await ann.page.getByText(ssoWords.unknownDomain).waitFor()
  await ann.write('email', 'ann@acme.example')
  await ann.press('sso')
  await passProvider(ann)

  await ann.page.getByRole('heading', { name: ssoWords.says('Acme', 'ann@acme.example') }).waitFor()
  await ann.page.getByRole('link', { name: words.login.register }).click()
  // The organization's name for a user is the suggestion here.
  await ann.page.waitForFunction(() => document.querySelector<HTMLInputElement>('[name=handle]')?.value === 'ann')
  assert.equal(await ann.page.locator('input[name="displayName"]').inputValue(), 'Ann Example')
  await ann.press('create-account')
  await ann.press('confirm-recovery-saved')
  await ann.control('choose-identity').waitFor()
  await ann.press('choose-identity')
  await ann.press('approve')
  const first = await readOrganizationClaim(ann)
  assert.deepEqual([first['id'], first['role'], first['authMethod']], [acme, 'member', 'enterprise_sso'])
  assert.equal(first['ssoConnectionId'], connectionId)

  const onAnotherDevice = await stage.invite()
  await visitShop(onAnotherDevice)
  await continueWithOrganization(onAnotherDevice, 'ann@acme.example')
  await passProvider(onAnotherDevice)
  const second = await readOrganizationClaim(onAnotherDevice)
  assert.deepEqual([second['authMethod'], second['ssoConnectionId']], ['enterprise_sso', connectionId])
  assert.equal(second['memberId'], first['memberId'])
})

for (const [what, path] of Object.entries({
  'an app that names no organization': '/sign-in?scope=openid',
  'a request that requires the passkey': '/sign-in?scope=openid&organization_id=select&prompt=login',
}))
  test(`SSO is not offered for ${what}, because its session could not be used there`, async () => {
    const ann = await stage.invite()
    ann.offerPasskeys(false)
    await ann.page.goto(stage.shop.origin + path)
    await assertOnlyPasskeys(ann)
    await ann.leave()
  })

test('SSO is not offered before pages that require a passkey, and is before those of organizations', async () => {
  const ann = await stage.invite()
  ann.offerPasskeys(false)
  for (const path of ['/developers', '/admin']) {
    await ann.page.goto(`${stage.service.authUrl}/login?return=${path}`)
    await assertOnlyPasskeys(ann)
  }
  await ann.page.goto(`${stage.service.authUrl}/login`)
  await ann.page.getByRole('link', { name: words.login.withOrganization }).waitFor()
  await ann.write('handle', 'ann@acme.example')
  await ann.page.getByRole('button', { name: words.login.withSso }).waitFor()
  await ann.leave()
})

/** Also with a work address in the field. */
async function assertOnlyPasskeys({ page, control, write }: Person) {
  await control('sign-in').waitFor()
  await write('handle', 'ann@acme.example')
  assert.equal(await control('sign-in').innerText(), words.login.signIn)
  assert.equal(await page.getByRole('link', { name: words.login.withOrganization }).count(), 0)
  assert.equal(await page.getByText(words.login.workHint).count(), 0)
}

test('HDR-01 a popup keeps its opener while a user signs in with SSO', async () => {
  const ann = await stage.invite()
  await ann.page.goto(stage.shop.origin)
  const opened = ann.page.waitForEvent('popup')
  const address = `${stage.shop.origin}/sign-in?scope=openid+profile&organization_id=${acme}`
  await ann.page.evaluate((url) => void open(url, 'sign-in', 'popup'), address)
  const page = await opened
  await page.getByRole('link', { name: words.login.withOrganization }).click()
  await page.locator('input[name="email"]').fill('ann@acme.example')
  await page.locator('[data-action="sso"]').click()
  await passProvider({ page })
  await page.locator('#name').waitFor()
  assert.equal(await page.evaluate(() => opener !== null), true)
  await ann.leave()
})

test('SSO-16 SSO opens an app that a member uses for themselves after they have used their passkey once', async (t) => {
  const another = await openShop(stage.service)
  t.after(() => another.close())
  const bea = await stage.enroll({ handle: 'bea', displayName: 'Bea Member' })
  bea.offerPasskeys(false)
  await bea.page.goto(`${stage.shop.origin}/sign-in?scope=openid+profile`)
  await bea.press('approve')
  await bea.page.waitForURL(`${stage.shop.origin}/`)
  await signOut(bea)
  await bea.page.goto(`${another.origin}/sign-in?scope=openid+profile&organization_id=${acme}`)
  await continueWithOrganization(bea, 'bea@acme.example')
  await passProvider(bea)
  await bea.press('sign-in')
  await bea.press('choose-identity')
  await bea.press('approve')
  await bea.page.waitForURL(`${another.origin}/`)

  await signOut(bea)
  await visitShop(bea)
  await continueWithOrganization(bea, 'bea@acme.example') // The provider remembers her.
  await bea.page.getByText(consentMessages.signin.passkeyFor('Acme')).waitFor()
  assert.equal(await bea.page.getByRole('link', { name: words.login.withOrganization }).count(), 0)
  await bea.press('continue-as')
  await bea.press('approve')
  assert.equal((await readOrganizationClaim(bea))['authMethod'], 'enterprise_sso')
  await bea.leave()
})

/** Ends the session, without a page. */
async function signOut({ context }: Person): Promise<void> {
  const { baseUrl, authUrl } = stage.service
  const ended = await context.request.delete(`${baseUrl}/api/auth/session`, { headers: { origin: authUrl } })
  assert.equal(ended.status(), 204)
}

test('SIN-01 SIN-02 SIN-10 a sign-in of another site changes nothing until the user confirms it', async (t) => {
  const vic = await stage.enroll({ handle: 'vic', displayName: 'Vic Victim' })
  const { authUrl, baseUrl, businessUrl } = stage.service
  const hostile = await startHostilePage(`${baseUrl}/api/sso/${connectionId}/start`)
  t.after(() => hostile.close())
  const place = new URL(provider.issuer).host
  /** No owner has confirmed the connection yet: the user is shown where it leads. */
  const follow = async ({ page }: Person) => {
    await page.goto(hostile.url)
    await page.getByRole('heading', { name: ssoWords.leaveTitle(place) }).waitFor()
    await page.getByText(ssoWords.leaveLead('Acme', place)).waitFor()
    await page.getByRole('link', { name: ssoWords.leaveTo(place), exact: true }).click()
  }
  await follow(vic)
  await vic.page.locator('input[name="login"]').fill('ann@acme.example')
  await passProvider(vic)
  await vic.page.getByRole('heading', { name: /^Continue as .* of Acme\?$/ }).waitFor()
  await vic.page.getByText(ssoWords.signedInAs('Vic Victim', 'vic')).waitFor()
  await vic.press('cancel')
  await vic.page.waitForURL(`${authUrl}/account`)
  await vic.press('account-menu')
  await vic.page.getByText('@vic').first().waitFor()

  await follow(vic)
  await vic.press('confirm-sign-in')
  await vic.page.waitForURL(`${businessUrl}/organizations/**`)
  const read = await vic.context.request.get(`${baseUrl}/api/auth/session`, { headers: { origin: authUrl } })
  const { authMethod, identities } = await read.json()
  assert.deepEqual([authMethod, identities[0].handle], ['enterprise_sso', 'ann'])

  const visitor = await stage.invite()
  await visitor.page.goto(hostile.url)
  await visitor.page.getByRole('link', { name: ssoWords.cancel, exact: true }).click()
  await visitor.page.waitForURL(`${authUrl}/`)
  await follow(visitor)
  await visitor.page.locator('input[name="login"]').fill('ann@acme.example')
  await passProvider(visitor)
  await visitor.page.getByText(ssoWords.startedElsewhere).waitFor()
  await visitor.press('cancel')
  await visitor.page.waitForURL(`${authUrl}/`)
  const visitorSession = await visitor.context.request.get(`${baseUrl}/api/auth/session`, {
    headers: { origin: authUrl },
  })
  assert.equal(visitorSession.status(), 401)
})

for (const { locale, language, colorScheme, width } of [
  { locale: 'en-GB', language: ssoWords, colorScheme: 'light', width: 1280 },
  { locale: 'de-DE', language: germanSsoWords, colorScheme: 'dark', width: 390 },
] as const)
  test(`SIN-10 the page before a provider is accessible: ${colorScheme}, ${width}, ${locale}`, async (t) => {
    const hostile = await startHostilePage(`${stage.service.baseUrl}/api/sso/${connectionId}/start`)
    t.after(() => hostile.close())
    const person = await stage.invite({ colorScheme, locale, viewport: { width, height: 740 } })
    const watched = await watch(person, { language: locale.slice(0, 2) })
    await person.page.goto(hostile.url)
    const { host } = new URL(provider.issuer)
    await person.page.getByRole('link', { name: language.leaveTo(host), exact: true }).waitFor()
    await watched.look(`sso-leave-${width}-${colorScheme}`)
    assert.deepEqual(watched.faults, [])
    await person.leave()
  })

test('an owner tests a connection, makes it mandatory, and other members are redirected there', async () => {
  const { url } = await manage<{ url: string }>('post', `sso-connections/${connectionId}/test`)
  await owner.page.goto(url)
  await owner.page.locator('input[name="login"]').fill('wile@acme.example')
  await passProvider(owner)
  await owner.page.getByRole('heading', { name: ssoWords.tested }).waitFor()
  await owner.page.goto(`${stage.service.businessUrl}/organizations/${acme}/sso`)
  await owner.page.getByText(business.sso.unconfirmed).waitFor()
  await signChange(owner, `confirm-${connectionId}`)
  await owner.page.getByText(business.sso.unconfirmed).waitFor({ state: 'detached' })
  await manage('patch', '', { ssoRequired: true })

  await visitShop(owner)
  await owner.press('sign-in-there')
  await owner.page.getByRole('heading', { name: ssoWords.says('Acme', 'wile@acme.example') }).waitFor()
  await owner.press('choose-identity')
  await owner.press('approve')
  assert.equal((await readOrganizationClaim(owner))['authMethod'], 'enterprise_sso')
})

/** Makes another identity of the user join the organization. */
async function joinAs(person: Person, handle: string, role: OrganizationRole): Promise<string> {
  const { token } = await manage<ResponseOf<'POST /api/organizations/:organizationId/invitations'>>(
    'post',
    'invitations',
    { handle, role },
  )
  const { authUrl, baseUrl, businessUrl } = stage.service
  const { identities } = await person.call(baseUrl, 'GET /api/auth/session')
  const identityId = identities.find((each) => each.handle === handle)?.identityId ?? ''
  const accepted = await person.context.request.post(`${businessUrl}/api/invitations/${token}/accept`, {
    headers: { origin: authUrl },
    data: { identityId },
  })
  assert.ok(accepted.ok(), await accepted.text())
  return identityId
}

test('a member without an SSO session gets no app for the organization, but may leave', async () => {
  const mia = await stage.enroll({ handle: 'mia', displayName: 'Mia Member' })
  await joinAs(mia, 'mia', 'member')
  await visitShop(mia)
  await mia.control('sign-in-there').waitFor()
  assert.equal(await mia.control('approve').count(), 0)
  const silently = `${stage.shop.origin}/sign-in?scope=openid&organization_id=${acme}&prompt=none`
  await mia.page.goto(silently)
  assert.equal(await mia.page.locator('#error').innerText(), 'consent_required')
  await mia.page.goto(`${stage.shop.origin}/sign-in?scope=openid+profile`)
  await mia.press('approve')
  await mia.page.locator('#name').waitFor()
  await mia.page.goto(silently)
  assert.equal(await mia.page.locator('#error').innerText(), 'login_required')

  await mia.page.goto(`${stage.service.businessUrl}/organizations/${acme}`)
  await mia.control('sign-in-there').waitFor()
  await mia.page.getByRole('button', { name: business.ask.leave('mia') }).click()
  await mia.press('leave-organization')
  await mia.page.getByText(business.none).waitFor()
  await mia.page.reload()
  await mia.page.getByText(business.none).waitFor()
})

test('a user with two identities in an organization signs in as the one linked by its provider', async () => {
  const nia = await stage.enroll({ handle: 'nia', displayName: 'Nia Member' })
  const { authUrl, baseUrl, businessUrl } = stage.service
  const added = await nia.context.request.post(`${baseUrl}/api/identities`, {
    headers: { origin: authUrl },
    data: { handle: 'nia-views', displayName: 'Nia Views' },
  })
  assert.ok(added.ok(), await added.text())
  await joinAs(nia, 'nia', 'member')
  const viewerId = await joinAs(nia, 'nia-views', 'viewer')
  await nia.page.goto(`${businessUrl}/organizations/${acme}`)
  await nia.press('sign-in-there')
  await nia.page.locator('input[name="login"]').fill('nia@acme.example')
  await passProvider(nia)
  await nia.page.locator(`[data-action="choose-identity"][data-identity-id="${viewerId}"]`).click()
  await nia.page.getByRole('heading', { name: business.sections.overview }).waitFor()
  assert.equal(new URL(nia.page.url()).pathname, `/organizations/${acme}`)
  await nia.page.getByRole('link', { name: business.sections.members, exact: true }).click()
  await nia.control('member-menu').first().waitFor()
  assert.equal(await nia.control('leave-of-member').count(), 2)
})

test('an owner changes a connection, and its directory controls membership, roles and removal', async () => {
  const { page } = owner
  await page.goto(`${stage.service.businessUrl}/organizations/${acme}/sso`)
  await owner.press(`change-${connectionId}`)
  await owner.write('connectionName', 'Acme Login')
  await owner.write('clientSecret', 'not for the tab')
  await owner.press('save-connection')
  await declineAct(page)
  const values = ['connectionName', 'clientSecret'].map((name) => page.locator(`input[name="${name}"]`).inputValue())
  assert.deepEqual(await Promise.all(values), ['Acme Login', ''], 'the name is kept, and the secret is not')
  await signChange(owner, 'save-connection')
  await page.getByRole('heading', { name: 'Acme Login' }).waitFor()

  await page.getByRole('link', { name: business.sections.directory }).click()
  await owner.press(`directory-${connectionId}`)
  await page.locator('input[value="email"]').check()
  await owner.press('make-scim-token')
  await declineAct(page)
  assert.equal(await page.locator('input[value="email"]').isChecked(), true, 'the choice is kept')
  const [address = '', token = ''] = await signForValues(owner, 'make-scim-token')
  const provision = async (method: string, path: string, body: object) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json' }
    const answer = await fetch(`${address}/Users${path}`, { method, headers, body: JSON.stringify(body) })
    assert.ok(answer.ok, `${path}: ${answer.status}`)
    return answer.json()
  }
  const { id } = await provision('POST', '', scimUser({ userName: 'bob@acme.example', roles: [{ value: 'signer' }] }))
  await page.getByRole('link', { name: business.sections.sso }).click()
  await page.getByText(business.sso.directed).waitFor()

  const bob = await stage.invite()
  await visitShop(bob)
  await continueWithOrganization(bob, 'bob@acme.example')
  await bob.page.locator('input[name="login"]').fill('bob@acme.example')
  await passProvider(bob)
  await bob.page.getByRole('link', { name: words.login.register }).click()
  await bob.page.waitForFunction(() => document.querySelector<HTMLInputElement>('[name=handle]')?.value === 'bob')
  await bob.press('create-account')
  await bob.press('confirm-recovery-saved')
  await bob.press('choose-identity')
  await bob.press('approve')
  assert.equal((await readOrganizationClaim(bob))['role'], 'signer')

  await provision('PATCH', `/${id}`, scimPatch({ op: 'Replace', path: 'active', value: 'False' }))
  await bob.page.goto(`${stage.service.baseUrl}/api/sso/${connectionId}/start`)
  await bob.page.getByRole('heading', { name: faults.titles.sso_user_deactivated }).waitFor()

  await page.getByRole('link', { name: business.sections.directory }).click()
  await owner.press(`directory-${connectionId}`)
  await signChange(owner, 'remove-scim-token')
  await page.getByText(business.directory.off).waitFor()
})

test('a repeated response of the provider shows a page that explains what to do', async () => {
  const eve = await stage.invite()
  const { baseUrl } = stage.service
  await eve.page.goto(`${baseUrl}/api/sso/${connectionId}/callback?state=made-up&code=made-up`)
  await eve.page.getByRole('heading', { name: faults.titles.invalid_sso_flow }).waitFor()
})
