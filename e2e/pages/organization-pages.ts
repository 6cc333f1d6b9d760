import type { OrganizationKey } from '@countersign/protocol/organizations/keys'
import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'
import type { SsoConnection } from '@countersign/protocol/organizations/sso'
import type { Page, Route } from 'playwright-core'
import { declineAct, readAct } from '../apps/signed-actions.ts'
import type { Person } from '../fixtures/person.ts'
import type { TestEnvironment } from '../fixtures/environment.ts'
import { usePasskey } from './passkey-use.ts'

type Surroundings = Pick<TestEnvironment, 'service' | 'nameServer'>
type Look = (name: string, window?: Page) => Promise<void>

/** Creates an organization with an identity without a signing key, and visits every page of its owner. */
export async function visitOrganizationPages(person: Person, stage: Surroundings, look: Look): Promise<void> {
  const { page } = person
  const { service } = stage
  const dialog = page.getByRole('dialog')
  await page.goto(`${service.businessUrl}/`)
  await person.control('new-organization').waitFor()
  await look('organizations-none')
  await person.press('new-organization')
  await person.control('create-organization').waitFor()
  await look('organizations-new')
  await person.press('create-organization')
  await page.locator('[aria-invalid="true"]').waitFor()
  await look('organizations-new-invalid')
  await person.write('name', 'The Society for Analytical Engines')
  await page.locator('input[type="radio"]').last().check()
  await person.press('create-organization')
  await visitMemberPages(person, service, look)
  await visitNonMemberPages(person, service, look)
  await usePasskey(person, service)
  await openSettings(person, service)
  await visitSettingPages(person, look)
  await page.goto(page.url().replace(/[^/]*$/, 'council'))
  await person.control('save-approvals').waitFor()
  await look('council-alone')
  await page.goto(page.url().replace(/[^/]*$/, 'activity'))
  await page.locator('.timeline').first().waitFor()
  await look('organizations-activity')
  await visitDomainPages(person, stage, look)
  const domains = page.url()
  await usePasskey(person, service)
  await page.goto(domains)
  await visitConnectionPages(person, look)
  await visitKeyPages(person, look)
  await page.locator('[data-action="switch-organization"]:visible').click()
  await look('organizations-switch')
  await page.goto(`${service.businessUrl}/organizations`)
  await page.locator('.list > li').waitFor()
  await look('organizations-list')
  await page.goto(`${service.businessUrl}/organizations/none`)
  await page.locator('h1').waitFor()
  await look('organizations-unknown')
  await page.goto(`${service.authUrl}/act`)
  await page.locator('h1').waitFor()
  await look('act-nothing')
  await page.goto(`${service.authUrl}/login?prove`)
  await person.control('prove').waitFor()
  await look('login-prove')
  await person.press('prove')
  await page.waitForURL(`${service.authUrl}/account`)
  await openSettings(person, service)
  await person.press('end-organization')
  await dialog.waitFor()
  await person.press('delete-organization')
  await dialog.locator('[aria-invalid="true"]').waitFor()
  await look('organizations-delete')
  await person.write('confirmation', 'The Society for Analytical Engines')
  await person.press('delete-organization')
  await dialog.waitFor({ state: 'detached' })
}

/** A domain from its creation to its removal, with a record that is added to the DNS and removed again. */
async function visitDomainPages(person: Person, { nameServer }: Surroundings, look: Look): Promise<void> {
  const { page } = person
  const verdict = page.locator('.entry [role="alert"] p')
  const [, organizationId = ''] = /organizations\/([^/]+)/.exec(page.url()) ?? []
  const domain = `engines-${organizationId.slice(-12)}.example`
  const check = async () => person.press(`check-${domain}`)
  await page.goto(page.url().replace(/[^/]*$/, 'domains'))
  await person.control('claim-domain').waitFor()
  await person.write('domain', 'engines')
  await person.press('claim-domain')
  await page.locator('[aria-invalid="true"]').waitFor()
  await look('domains-invalid')
  await person.write('domain', domain)
  await person.press('claim-domain')
  await person.control(`check-${domain}`).waitFor()
  await check()
  await verdict.waitFor()
  await look('domains-unproved')

  const [name = '', value = ''] = await page.locator('.copies code').allTextContents()
  nameServer.setTexts(name, value)
  await check()
  await page.locator('.entry details').waitFor()
  await page.locator('.entry summary').click()
  await look('domains-record')
  nameServer.setTexts(name, 'something else')
  await check()
  await verdict.waitFor()
  await look('domains-failing')
  await person.press(`remove-${domain}`)
  await page.getByRole('dialog').waitFor()
  await look('domains-remove')
  await person.press('remove-domain')
  await page.locator('.entry').waitFor({ state: 'detached' })
}

/** Invites another identity of the same user, and lets it leave again. */
async function visitMemberPages(person: Person, service: TestEnvironment['service'], look: Look): Promise<void> {
  const { page } = person
  const dialog = page.getByRole('dialog')
  await person.control('invite').waitFor()
  await look('organizations-overview')
  await page.goto(page.url().replace(/[^/]*$/, 'members'))
  await person.control('member-menu').waitFor()
  await look('organizations-members-alone')
  await person.press('invite')
  await person.press('send-invitation')
  await dialog.locator('[aria-invalid="true"]').waitFor()
  await look('organizations-invite')
  const { identities } = await person.call(service.baseUrl, 'GET /api/auth/session')
  await person.write('invitees', `@${identities[0]?.handle}`)
  await dialog.locator('input[value="signer"]').check()
  await person.press('send-invitation')
  const url = await page.locator('output[name="invitationUrl"]').innerText()
  await look('organizations-invited')
  await person.press('invitation-sent')
  await dialog.waitFor({ state: 'detached' })
  await person.press('show-invitations')
  await person.control('invitation-menu').waitFor()
  await look('organizations-invitation-waits')
  await page.goto(url)
  await person.control('accept-invitation').waitFor()
  await look('organizations-invitation')
  await person.press('accept-invitation')
  await page.waitForURL(/\/overview$/)
  await page.goto(page.url().replace(/[^/]*$/, 'members'))
  await person.control('member-menu').nth(1).waitFor()
  await look('organizations-members')
  await chooseLast(person, 'change-of-member')
  await dialog.waitFor()
  await look('organizations-change-member')
  await person.press('cancel')
  await visitActPage(person, look)
  await page.route('**/members/*', withoutKey)
  await chooseLast(person, 'leave-of-member')
  await person.control('leave-organization').waitFor()
  await look('organizations-leave')
  await person.press('leave-organization')
  await dialog.waitFor({ state: 'detached' })
  await page.unroute('**/members/*')
  await page.goto(url)
  await page.locator('h1').waitFor()
  await look('organizations-invitation-over')
}

/** Visits an organization with mandatory SSO. There is none here: the page gets a response for a member of one. */
async function visitNonMemberPages(
  person: Person,
  { businessUrl, baseUrl }: TestEnvironment['service'],
  look: Look,
): Promise<void> {
  const { page } = person
  await page.route('**/api/organizations', async (route) => {
    const response = await route.fetch()
    const { organizations }: { organizations: OwnOrganization[] } = await response.json()
    const asMembers = organizations.map((each) => ({ ...each, role: 'member', ssoRequired: true }))
    await route.fulfill({ response, json: { organizations: asMembers } })
  })
  const loginUrl = `${baseUrl}/api/sso/made-up/start`
  await page.route('**/api/organizations/*', (route) =>
    route.fulfill({ status: 403, json: { error: 'enterprise_sso_required', loginUrl } }),
  )
  await page.goto(businessUrl)
  await person.control('sign-in-there').waitFor()
  await look('organizations-outside')
  await page.unroute('**/api/organizations')
  await page.unroute('**/api/organizations/*')
}

/** Chooses an item of the menu of the last member that has it. */
async function chooseLast({ page, control }: Person, action: string): Promise<void> {
  const item = control(action).last()
  const menu = await item.evaluate((element) => element.closest('[popover]')?.id)
  await page.locator(`[popovertarget="${menu}"]`).click()
  await item.click()
}

/** Opens the page on which an identity with a key signs that it leaves, and goes back. */
async function visitActPage(person: Person, look: Look): Promise<void> {
  const { page } = person
  await chooseLast(person, 'leave-of-member')
  await readAct(page)
  await look('act')
  await page.locator('.exact-data summary').click()
  await look('act-exact')
  await declineAct(page)
  await look('organizations-not-signed')
}

/** The service's response to an identity without a signing key, which then continues without one. */
async function withoutKey(route: Route): Promise<void> {
  const requestsPayload = route.request().postData()?.includes('"signedAction":{}')
  if (!requestsPayload) return route.fallback()
  await route.fulfill({ status: 422, json: { error: 'no_signing_key', signatureRequired: false } })
}

async function openSettings({ page, control }: Person, { businessUrl }: TestEnvironment['service']): Promise<void> {
  await page.goto(businessUrl)
  await control('invite').waitFor()
  await page.goto(page.url().replace(/[^/]*$/, 'settings'))
  await control('save-organization').waitFor()
}

/** The connections of an organization. There is no provider here: the page gets a response with some. */
async function visitConnectionPages(person: Person, look: Look): Promise<void> {
  const { page } = person
  await page.goto(page.url().replace(/[^/]*$/, 'sso'))
  await person.control('add-connection').waitFor()
  await look('connections-none')
  await page.goto(`${page.url()}#new-connection`)
  await page.reload()
  await person.control('copy-callback').waitFor()
  await person.press('create-connection')
  await page.locator('[aria-invalid="true"]').first().waitFor()
  await look('connections-new-oidc')
  await person.press('by-saml')
  await page.locator('input[name="metadataUrl"]').waitFor()
  await look('connections-new-saml')

  await page.route('**/sso-connections?*', (route) => route.fulfill({ json: { connections } }))
  await person.press('cancel')
  await page.reload()
  await person.control('require-sso').waitFor()
  await look('connections')
  await person.press(`change-${connections[1]?.connectionId}`)
  await person.control('save-connection').waitFor()
  await person.write('connectionName', ' ')
  await look('connections-change')
  await person.press('cancel')
  await person.press(`groups-${connections[0]?.connectionId}`)
  await person.control('remove-group-rule').waitFor()
  await look('connections-groups')
  await person.press('close')
  await page.goto(page.url().replace(/[^/]*$/, 'directory'))
  await person.control(`directory-${connections[0]?.connectionId}`).waitFor()
  await look('directory')
  await person.press(`directory-${connections[0]?.connectionId}`)
  await person.control('remove-scim-token').waitFor()
  await look('directory-dialog')
  await page.route('**/scim-token?*', (route) => route.fulfill({ status: 201, json: response }))
  await person.press('make-scim-token')
  await person.control('scim-token-saved').waitFor()
  await look('directory-token')
  await person.press('scim-token-saved')
  await page.unroute('**/scim-token?*')
  await page.unroute('**/sso-connections?*')
}

/**
 * The keys of an organization, to where one is created and back. The response claims that a member with access has
 * left.
 */
async function visitKeyPages(person: Person, look: Look): Promise<void> {
  const { page } = person
  await page.goto(page.url().replace(/[^/]*$/, 'keys'))
  await person.control('make-key').waitFor()
  await look('keys-none')
  await person.press('change-keeper')
  await page.locator('input[value="enterprise_managed"]').check()
  await person.write('kmsUrl', 'kms')
  await person.press('set-keeper')
  await page.locator('[aria-invalid="true"]').waitFor()
  await look('keys-keeper-invalid')
  await page.locator('input[value="e2ee"]').check()
  await person.press('set-keeper')
  await person.control('change-keeper').waitFor()
  const place = page.url()
  await page.route('**/keys?*', (route) => route.fulfill({ json: { keys: [keyInForce, formerKey] } }))
  await page.reload()
  await person.control('share-key').waitFor()
  await look('keys-due')
  await page.unroute('**/keys?*')
  await person.press('make-key')
  await person.control('unlock').waitFor()
  await look('keys-make')
  await person.press('cancel')
  await page.waitForURL(place)
  await person.control('make-key').waitFor()
}

const keyInForce: OrganizationKey = {
  keyId: '00000000-0000-4000-8000-000000000003',
  version: 3,
  keyCustody: 'identity_grants',
  fingerprint: 'q4b1'.repeat(10).padEnd(43, 'A'),
  createdAt: '2026-11-01T12:00:00.000Z',
  rotationDueSince: '2026-11-02T12:00:00.000Z',
  endedAt: null,
  held: true,
  membersWithout: 2,
}

const formerKey: OrganizationKey = {
  ...keyInForce,
  keyId: '00000000-0000-4000-8000-000000000004',
  version: 2,
  rotationDueSince: null,
  endedAt: keyInForce.createdAt,
}

const instants = { createdAt: '2026-11-01T12:00:00.000Z', updatedAt: '2026-11-01T12:00:00.000Z' }
const connections: SsoConnection[] = [
  {
    connectionId: '00000000-0000-4000-8000-000000000001',
    name: 'login.analytical-engines.example',
    enabled: true,
    domains: ['analytical-engines.example'],
    oidc: {
      issuer: 'https://login.analytical-engines.example/realms/everybody',
      clientId: 'countersign',
      callbackUrl: 'https://id.example.com/api/sso/00000000-0000-4000-8000-000000000001/callback',
    },
    scim: {
      baseUrl: 'https://id.example.com/scim/v2/00000000-0000-4000-8000-000000000001',
      subjectBy: 'email',
      tokenCreatedAt: '2026-11-03T12:00:00.000Z',
    },
    groupRules: [
      {
        claim: 'groups',
        value: '/engineering/compilers and engines',
        group: 'org:analytical-engines:engineering/compilers',
      },
    ],
    testedAt: '2026-11-02T12:00:00.000Z',
    confirmedAt: '2026-11-02T12:05:00.000Z',
    inUse: true,
    ...instants,
  },
  {
    connectionId: '00000000-0000-4000-8000-000000000002',
    name: 'Old provider',
    enabled: false,
    domains: [],
    saml: {
      entityId: 'https://saml.analytical-engines.example',
      ssoUrl: 'https://saml.analytical-engines.example/sso',
      certificates: [],
      metadataUrl: 'https://id.example.com/api/sso/00000000-0000-4000-8000-000000000002/metadata',
      acsUrl: 'https://id.example.com/api/sso/00000000-0000-4000-8000-000000000002/acs',
    },
    groupRules: [],
    testedAt: null,
    confirmedAt: null,
    inUse: false,
    ...instants,
  },
]

/** A directory's SCIM token, as the response contains it. */
const response = { token: `cs_scim_${'a1B2c3D4'.repeat(5)}`, connection: connections[0] }

async function visitSettingPages(person: Person, look: Look): Promise<void> {
  const { page } = person
  await person.control('save-organization').waitFor()
  await look('organizations-settings')
  await person.write('slug', 'Not a slug')
  await person.press('save-organization')
  await page.locator('[aria-invalid="true"]').waitFor()
  await look('organizations-settings-invalid')
  await person.write('slug', 'engines')
  await person.press('save-organization')
  await page.locator('[role="status"] p').waitFor()
  await look('organizations-settings-saved')
}
