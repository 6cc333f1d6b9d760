import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import {
  confirmAsShown,
  errorOf,
  flowOf,
  linkAs,
  newClaims,
  openEnterprise,
  refusalIn,
  sessionOf,
  type Enterprise,
} from '#testing/enterprise.ts'
import { join } from '#testing/organization.ts'
import type { Person } from '#testing/world.ts'

let enterprise: Enterprise
let world: Enterprise['world']
/** Evil Inc has no verified domain: any user can create such an organization and connect a provider. */
let evil: { mallory: Person; connectionId: string; claims: ReturnType<typeof newClaims> }
before(async () => {
  enterprise = await openEnterprise()
  ;({ world } = enterprise)
  const mallory = await world.person()
  const organization = await enterprise.organization(mallory, 'Evil Inc')
  const { connectionId } = await enterprise.connect(organization)
  const claims = newClaims()
  const browser = enterprise.browser()
  browser.bring(mallory)
  const arrived = await browser.signIn(connectionId, claims)
  assert.equal((await linkAs(browser, flowOf(arrived), mallory.identityId)).statusCode, 200)
  evil = { mallory, connectionId, claims }
})
after(() => enterprise.close())

/** Returns a browser in which a user has signed in on our page, with both session cookies. */
async function browserOfVictim() {
  const victim = await world.person()
  const browser = enterprise.browser()
  const { flowId, options } = (await browser.page('POST', '/api/auth/login/start', {})).json()
  const credential = victim.authenticator.authenticate(options)
  assert.equal((await browser.page('POST', '/api/auth/login/finish', { flowId, credential })).statusCode, 200)
  return { victim, browser, cookies: new Map(browser.cookies) }
}

const isRequested = (answer: { headers: { location?: string | undefined } }) =>
  new URL(answer.headers.location ?? '').pathname === '/sso/confirm'

async function sessionsOf({ userId }: Person): Promise<number> {
  return (await world.db.selectFrom('session').select('session_id').where('user_id', '=', userId).execute()).length
}

/** Returns the cookies that identify the user, for our pages and for the FedCM dialog. */
const sessionCookies = (cookies: Map<string, string>) =>
  [...cookies].filter(([name]) => !name.endsWith('-sso')).toSorted()

test('SIN-01 SML-22 a site that leads a browser through its own provider changes no session', async () => {
  const { victim, browser, cookies } = await browserOfVictim()
  const before = await sessionsOf(evil.mallory)
  const returnTo = `${world.config.authUrl.origin}/signin?client_id=some-app`
  for (const site of ['cross-site', 'same-site', 'absent', 'none'] as const) {
    const arrived = await browser.signIn(evil.connectionId, evil.claims, { return_to: returnTo }, site)
    assert.ok(isRequested(arrived), site)
    assert.deepEqual(sessionCookies(browser.cookies), sessionCookies(cookies), site)
    const session = await sessionOf(browser)
    assert.deepEqual([session.authMethod, session.user.userId], ['passkey', victim.userId], site)
  }
  assert.equal(await sessionsOf(evil.mallory), before, 'no session was opened')
})

test('SIN-02 the page shows the current and the new user, and only a confirmation changes the session', async () => {
  const { victim, browser, cookies } = await browserOfVictim()
  const flowId = flowOf(await browser.signIn(evil.connectionId, evil.claims, {}, 'cross-site'))
  const { signIn, organization } = (await browser.page('GET', `/api/sso/arrivals/${flowId}`)).json()
  assert.equal(organization.name, 'Evil Inc')
  assert.deepEqual(Object.keys(signIn.identity), ['displayName', 'handle'], 'and nothing else about them')
  assert.deepEqual([signIn.identity.handle, signIn.replaces.handle], [evil.mallory.handle, victim.handle])

  const session = cookies.get('countersign') ?? ''
  const confirmed = await confirmAsShown(browser, flowId)
  assert.deepEqual([confirmed.statusCode, confirmed.json()], [200, { returnTo: world.config.businessUrl.href }])
  assert.equal((await sessionOf(browser)).user.userId, evil.mallory.identityId)
  assert.equal(browser.cookies.has('__Host-countersign-fedcm'), false, 'FedCM offers no account to apps')
  const headers = { authorization: `Bearer ${session}` }
  assert.equal((await world.api.inject({ url: '/api/auth/session', headers })).statusCode, 401, 'as the page has shown')
  assert.equal((await world.api.inject({ url: '/api/auth/session', headers: victim.headers })).statusCode, 200)
})

test('SIN-03 a confirmation works from our page, in the browser of the sign-in, once', async () => {
  const { victim, browser, cookies } = await browserOfVictim()
  const flowId = flowOf(await browser.signIn(evil.connectionId, evil.claims, {}, 'cross-site'))
  const url = `/api/sso/arrivals/${flowId}/confirm`
  const shown = { handle: evil.mallory.handle, replaces: victim.handle }
  const { cookie } = browser.headers()
  const origins: Record<string, string>[] = [
    {},
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: world.config.baseUrl.origin },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'cross-site' },
  ]
  for (const from of origins) {
    const answer = await world.api.inject({ method: 'POST', url, headers: { cookie, ...from }, payload: shown })
    assert.deepEqual(errorOf(answer), [403, 'invalid_origin'], JSON.stringify(from))
  }
  const other = await browserOfVictim()
  assert.deepEqual(errorOf(await confirmAsShown(other.browser, flowId)), [400, 'invalid_sso_flow'], 'another browser')
  assert.equal((await sessionOf(browser)).user.userId, victim.userId)
  assert.deepEqual(sessionCookies(browser.cookies), sessionCookies(cookies))

  assert.equal((await confirmAsShown(browser, flowId)).statusCode, 200)
  assert.deepEqual(errorOf(await confirmAsShown(browser, flowId)), [400, 'invalid_sso_flow'], 'a second time')
})

test('SIN-04 a link from another site signs no user in and redirects nowhere before confirmation', async () => {
  const returnTo = `${world.config.authUrl.origin}/signin?client_id=some-app`
  for (const site of ['cross-site', 'same-site', 'same-origin', 'absent'] as const) {
    const browser = enterprise.browser()
    const arrived = await browser.signIn(evil.connectionId, evil.claims, { return_to: returnTo }, site)
    assert.ok(isRequested(arrived), site)
    assert.equal((await browser.page('GET', '/api/auth/session')).statusCode, 401, site)
    const flowId = flowOf(arrived)
    const { signIn } = (await browser.page('GET', `/api/sso/arrivals/${flowId}`)).json()
    assert.deepEqual([signIn.identity.handle, signIn.replaces], [evil.mallory.handle, null], site)
    assert.equal((await confirmAsShown(browser, flowId)).json().returnTo, world.config.businessUrl.href, site)
    assert.equal((await sessionOf(browser)).user.userId, evil.mallory.identityId)
  }
})

test('SIN-05 a sign-in started by our page or a typed URL needs no confirmation', async () => {
  const returnTo = `${world.config.authUrl.origin}/signin?client_id=some-app`
  const typed = enterprise.browser()
  const arrived = await typed.signIn(evil.connectionId, evil.claims, { return_to: returnTo })
  assert.equal(arrived.headers.location, returnTo)

  const browser = enterprise.browser()
  const url = `/api/sso/${evil.connectionId}/start`
  const begun = await browser.page('POST', url, { returnTo, loginHint: 'ann@acme.example' })
  assert.equal(begun.statusCode, 200, begun.body)
  const address: string = begun.json().url
  assert.equal(new URL(address).searchParams.get('login_hint'), 'ann@acme.example')
  const back = await browser.follow(enterprise.upstream.approve(address, evil.claims).href)
  assert.equal(back.headers.location, returnTo)
  assert.equal((await sessionOf(browser)).user.userId, evil.mallory.identityId)

  for (const headers of [{}, { origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }]) {
    const answer = await world.api.inject({ method: 'POST', url, headers, payload: {} })
    assert.deepEqual(errorOf(answer), [403, 'invalid_origin'], JSON.stringify(headers))
  }
  const elsewhere = await browser.page('POST', url, { returnTo: 'https://evil.example/' })
  assert.deepEqual(errorOf(elsewhere), [400, 'invalid_request'])
})

test('INJ-01 an unknown field of a body replaces neither the connection nor the sign-in of the path', async () => {
  const browser = enterprise.browser()
  const others = { connectionId: randomUUID(), flowId: randomUUID(), browserToken: 'another' }
  const begun = await browser.page('POST', `/api/sso/${evil.connectionId}/start`, others)
  assert.equal(begun.statusCode, 200, begun.body)
  const claims = newClaims()
  const flowId = flowOf(await browser.follow(enterprise.upstream.approve(begun.json().url, claims).href))
  browser.bring(evil.mallory)
  const { identityId } = evil.mallory
  const linked = await browser.page('POST', `/api/sso/arrivals/${flowId}/link`, { identityId, ...others })
  assert.equal(linked.statusCode, 200, linked.body)
})

test('SIN-06 a link from another site leaves the passkey session of the same user unchanged', async () => {
  const browser = enterprise.browser()
  browser.bring(evil.mallory)
  const arrived = await browser.signIn(evil.connectionId, evil.claims, {}, 'cross-site')
  assert.equal(arrived.headers.location, world.config.businessUrl.href)
  assert.equal(browser.cookies.get('countersign'), evil.mallory.sessionToken)
  assert.equal((await sessionOf(browser)).authMethod, 'passkey')
})

test('SIN-07 a test sign-in and an unlinked subject cannot be confirmed', async () => {
  const { browser } = await browserOfVictim()
  const unknown = flowOf(await browser.signIn(evil.connectionId, newClaims(), {}, 'cross-site'))
  assert.equal((await browser.page('GET', `/api/sso/arrivals/${unknown}`)).json().signIn, null)
  assert.deepEqual(errorOf(await confirmAsShown(browser, unknown)), [400, 'invalid_sso_flow'])

  const { headers, identityId } = evil.mallory
  const { organizations } = (await world.business.inject({ url: '/api/organizations', headers })).json()
  const path = `/${organizations[0].id}/sso-connections/${evil.connectionId}/test?identity_id=${identityId}`
  const offered = await enterprise.send(evil.mallory, 'POST', path)
  const test = new URL(offered.json().url).searchParams.get('test') ?? ''
  const tested = flowOf(await browser.signIn(evil.connectionId, evil.claims, { test }, 'cross-site'))
  assert.equal((await browser.page('GET', `/api/sso/arrivals/${tested}`)).json().signIn, null)
  assert.deepEqual(errorOf(await confirmAsShown(browser, tested)), [400, 'invalid_sso_flow'])
  assert.deepEqual(refusalIn(await enterprise.browser().get('/api/sso/x/arrive?flow=x')), [400, 'invalid_sso_flow'])
})

test('SIN-09 a confirmation is only for the users that the page has shown', async () => {
  const alice = await world.person()
  const organization = await enterprise.organization(evil.mallory, 'Evil Twice')
  const { connectionId } = await enterprise.connect(organization)
  const claims = newClaims()
  const { organizationId: id } = organization
  const { memberId } = await join(world, { id, owner: evil.mallory, role: 'member' }, alice)
  const alices = enterprise.browser()
  alices.bring(alice)
  const connecting = flowOf(await alices.signIn(connectionId, claims))
  assert.equal((await linkAs(alices, connecting, alice.identityId)).statusCode, 200)
  const { victim, browser } = await browserOfVictim()
  const flowId = flowOf(await browser.signIn(connectionId, claims, {}, 'cross-site'))
  const read = async () => (await browser.page('GET', `/api/sso/arrivals/${flowId}`)).json().signIn
  const confirm = (shown: object) => browser.page('POST', `/api/sso/arrivals/${flowId}/confirm`, shown)
  const shown = { handle: alice.handle, replaces: victim.handle }
  assert.deepEqual([(await read()).identity.handle, (await read()).replaces.handle], [shown.handle, shown.replaces])

  const fresh = { headers: await evil.mallory.signIn() }
  const path = `/${id}/members/${memberId}` as const
  assert.equal((await enterprise.send(fresh, 'DELETE', path)).statusCode, 204)
  const mallorys = enterprise.browser()
  mallorys.bring(evil.mallory)
  const arrived = await mallorys.signIn(connectionId, claims)
  assert.equal((await linkAs(mallorys, flowOf(arrived), evil.mallory.identityId)).statusCode, 200)

  const outdated = [409, 'sso_confirmation_outdated']
  assert.deepEqual(errorOf(await confirm(shown)), outdated, 'another user would be signed in')
  const now = { ...shown, handle: evil.mallory.handle }
  assert.deepEqual(errorOf(await confirm({ handle: now.handle })), outdated, 'another user would be signed out')
  assert.deepEqual(errorOf(await confirm({ ...now, replaces: alice.handle })), outdated)
  assert.equal((await sessionOf(browser)).user.userId, victim.userId, 'nothing has changed')
  assert.equal((await confirm(now)).statusCode, 200, 'and the sign-in can still be confirmed')
  assert.equal((await sessionOf(browser)).user.userId, evil.mallory.identityId)
})
