import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { SsoConnection } from '@countersign/protocol/organizations/sso'
import { errorOf, flowOf, linkAs, newClaims, openEnterprise, type Enterprise } from '#testing/enterprise.ts'
import { join, reauthenticate } from '#testing/organization.ts'
import type { Person } from '#testing/world.ts'

let enterprise: Enterprise
let world: Enterprise['world']
before(async () => {
  enterprise = await openEnterprise()
  ;({ world } = enterprise)
})
after(() => enterprise.close())

type Organization = { owner: Person; organizationId: string }
type Browser = ReturnType<Enterprise['browser']>

/** Completes a test sign-in, so that the connection can be required. */
async function tryOut({ organizationId }: Organization, person: Person, connectionId: string): Promise<void> {
  const fresh = { headers: await person.signIn() }
  const begun = await enterprise.send(fresh, 'POST', `/${organizationId}/sso-connections/${connectionId}/test`)
  assert.equal(begun.statusCode, 200, begun.body)
  const browser = enterprise.browser()
  const { location = '' } = (await browser.get(begun.json<{ url: string }>().url)).headers
  await browser.follow(enterprise.upstream.approve(location, newClaims()).href)
}

/** Signs a user in in a browser, by passkey and then by the organization's provider. */
async function signInBy(connectionId: string, person: Person, claims: ReturnType<typeof newClaims>) {
  const browser = enterprise.browser()
  browser.bring({ sessionToken: (await person.signIn()).authorization.replace('Bearer ', '') })
  const arrived = await browser.signIn(connectionId, claims)
  if (arrived.headers.location?.includes('/sso/link'))
    assert.equal((await linkAs(browser, flowOf(arrived), person.identityId)).statusCode, 200)
  return browser
}

/** Returns a client with the session of a browser. */
const as = ({ cookies }: Browser) => ({ headers: { authorization: `Bearer ${cookies.get('countersign')}` } })

const inside = ({ organizationId }: Organization, browser: Browser) =>
  world.business.inject({ url: `/api/organizations/${organizationId}/members`, headers: browser.headers() })

/** Acme requires SSO with the connection of its corporate provider. Ada has only the permission to manage SSO. */
async function openAcme() {
  const acme = await enterprise.organization(await world.person())
  const [ada, claims] = [await world.person(), newClaims()]
  await join(world, { id: acme.organizationId, owner: acme.owner, role: 'admin' }, ada)
  const { connectionId } = await enterprise.connect(acme)
  await tryOut(acme, acme.owner, connectionId)
  await enterprise.confirm(acme, connectionId)
  const required = await enterprise.send({ headers: await acme.owner.signIn() }, 'PATCH', `/${acme.organizationId}`, {
    ssoRequired: true,
  })
  assert.equal(required.statusCode, 200, required.body)
  return { acme, ada, claims, connectionId }
}

const read = async ({ owner, organizationId }: Organization, connectionId: string) => {
  const answer = await enterprise.send(owner, 'GET', `/${organizationId}/sso-connections/${connectionId}`)
  return answer.json<{ connection: SsoConnection }>().connection
}

test('SSO-13 a member who manages SSO cannot bypass ssoRequired with a connection of their own', async () => {
  const { acme, ada, claims, connectionId } = await openAcme()
  const corporate = await signInBy(connectionId, ada, claims)
  assert.equal((await inside(acme, corporate)).statusCode, 200)
  const { issuer, clientId, clientSecret } = enterprise.upstream
  const path = `/${acme.organizationId}/sso-connections`
  const made = await enterprise.send(as(corporate), 'POST', path, {
    name: 'Mine',
    oidc: { issuer, clientId, clientSecret },
  })
  assert.equal(made.statusCode, 201, made.body)
  const { connectionId: own } = made.json<{ connection: SsoConnection }>().connection
  const begun = await enterprise.send(as(corporate), 'POST', `${path}/${own}/test`)
  const { location = '' } = (await corporate.get(begun.json<{ url: string }>().url)).headers
  await corporate.follow(enterprise.upstream.approve(location, claims).href)
  const confirmed = await enterprise.send(as(corporate), 'POST', `${path}/${own}/confirm`)
  assert.deepEqual(errorOf(confirmed), [403, 'insufficient_scope'])

  const mine = await signInBy(own, ada, claims)
  const loginUrl = `${world.config.baseUrl.origin}/api/sso/${connectionId}/start`
  const refused = await inside(acme, mine)
  assert.deepEqual([refused.statusCode, refused.json().loginUrl], [403, loginUrl])
  assert.equal(refused.json().error, 'enterprise_sso_required')
  const shop = await world.app()
  const authorize = (browser: Browser) =>
    browser.page('POST', '/api/oauth/authorize', {
      clientId: shop.clientId,
      redirectUri: shop.redirectUri,
      identityId: ada.identityId,
      scope: 'openid',
      organizationId: acme.organizationId,
    })
  assert.deepEqual(errorOf(await authorize(mine)), [403, 'enterprise_sso_required'])

  const alone = enterprise.browser()
  await alone.signIn(own, claims)
  assert.deepEqual(errorOf(await inside(acme, alone)), [403, 'enterprise_sso_required'], 'without a passkey')
  assert.deepEqual(errorOf(await authorize(alone)), [403, 'enterprise_sso_required'])

  world.pass(301)
  const stale = await enterprise.send(acme.owner, 'POST', `${path}/${own}/confirm`)
  assert.deepEqual(errorOf(stale), [403, 'reauthentication_required'])
  await reauthenticate(world, acme.owner)
  const byOwner = await enterprise.send(acme.owner, 'POST', `${path}/${own}/confirm`)
  assert.equal(byOwner.statusCode, 200, byOwner.body)
  assert.equal(byOwner.json().connection.confirmedAt, world.now().toISOString())
  assert.equal((await inside(acme, mine)).statusCode, 200)
  assert.equal((await authorize(mine)).statusCode, 200)
})

test('SSO-14 a confirmation is for the current configuration: a disabled connection needs a new one', async () => {
  const { acme, ada, claims, connectionId } = await openAcme()
  const { connectionId: second } = await enterprise.connect(acme)
  await tryOut(acme, acme.owner, second)
  assert.equal((await read(acme, second)).confirmedAt, null)
  await enterprise.confirm(acme, second)
  const bySecond = await signInBy(second, ada, claims)
  assert.equal((await inside(acme, bySecond)).statusCode, 200)

  const { organizationId } = acme
  const path = `/${organizationId}/sso-connections`
  const change = async (person: Person, body: object) => {
    const fresh = { headers: await person.signIn() }
    const answer = await enterprise.send(fresh, 'PATCH', `${path}/${second}`, body)
    assert.equal(answer.statusCode, 200, answer.body)
  }
  await change(acme.owner, { name: 'Renamed', oidc: { clientSecret: enterprise.upstream.clientSecret } })
  assert.equal((await inside(acme, bySecond)).statusCode, 200, 'the provider is the same')
  await change(acme.owner, { enabled: false })
  const corporate = await signInBy(connectionId, ada, claims)
  const enabled = await enterprise.send(as(corporate), 'PATCH', `${path}/${second}`, {
    enabled: true,
  })
  assert.deepEqual([enabled.statusCode, enabled.json().connection.confirmedAt], [200, null], enabled.body)
  const again = await signInBy(second, ada, claims)
  assert.deepEqual(errorOf(await inside(acme, again)), [403, 'enterprise_sso_required'])
})

test('SSO-14 a connection that no owner has confirmed cannot be required', async () => {
  const acme = await enterprise.organization(await world.person())
  const { connectionId } = await enterprise.connect(acme)
  await tryOut(acme, acme.owner, connectionId)
  const require = () => enterprise.send(acme.owner, 'PATCH', `/${acme.organizationId}`, { ssoRequired: true })
  assert.deepEqual(errorOf(await require()), [409, 'sso_connection_untested'])
  assert.equal((await read(acme, connectionId)).inUse, false)
  await enterprise.confirm(acme, connectionId)
  assert.equal((await read(acme, connectionId)).inUse, true)
  assert.equal((await require()).statusCode, 200)
})
