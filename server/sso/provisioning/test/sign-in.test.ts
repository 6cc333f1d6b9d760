import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import type { IdentityId, OrganizationId } from '@countersign/protocol/ids'
import {
  errorOf,
  flowOf,
  linkAs,
  newClaims,
  openEnterprise,
  refusalIn,
  sessionOf,
  type Enterprise,
} from '#testing/enterprise.ts'
import type { Person } from '#testing/world.ts'

let enterprise: Enterprise
let world: Enterprise['world']
let acme: { owner: Person; organizationId: OrganizationId }
let connectionId: string
before(async () => {
  enterprise = await openEnterprise()
  ;({ world } = enterprise)
  acme = await enterprise.organization(await world.person())
  await enterprise.verifyDomain(acme, 'acme.example')
  ;({ connectionId } = await enterprise.connect(acme, { domains: ['acme.example'] }))
})
after(() => enterprise.close())

async function members({ owner, organizationId } = acme): Promise<string[]> {
  const rows = await world.db
    .selectFrom('organization_member')
    .select('identity_id as identityId')
    .where('organization_id', '=', organizationId)
    .where('identity_id', '!=', owner.identityId)
    .execute()
  return rows.map(({ identityId }) => identityId)
}

async function trail(organizationId = acme.organizationId) {
  const rows = await world.db
    .selectFrom('audit_event')
    .select(['action', 'identity_id as identityId', 'details'])
    .where('organization_id', '=', organizationId)
    .orderBy('event_id')
    .execute()
  return rows.map(({ action, ...entry }) => ({ action, ...entry }))
}

test('a user of a verified domain links their passkey account once, and then signs in without a passkey', async () => {
  const claims = newClaims()
  const person = await world.person()
  const browser = enterprise.browser()
  const returnTo = `${world.config.authUrl.origin}/signin?client_id=some-app`
  const arrived = await browser.signIn(connectionId, claims, { return_to: returnTo })
  assert.equal(arrived.statusCode, 303)
  const { pathname, searchParams } = new URL(arrived.headers.location ?? '')
  assert.equal(pathname, '/sso/link')
  const flowId = searchParams.get('flow') ?? ''
  const said = await browser.page('GET', `/api/sso/arrivals/${flowId}`)
  assert.deepEqual(said.json(), {
    purpose: 'login',
    organization: { id: acme.organizationId, name: 'Acme', logoUrl: null },
    subject: claims.sub,
    email: claims.email,
    emailVerified: true,
    displayName: 'Ann Example',
    mayJoin: true,
    signIn: null,
  })
  assert.deepEqual(errorOf(await linkAs(browser, flowId, person.identityId)), [401, 'unauthorized'])

  browser.bring(person)
  const linked = await linkAs(browser, flowId, person.identityId)
  assert.deepEqual([linked.statusCode, linked.json()], [200, { returnTo }])
  assert.ok((await members()).includes(person.identityId))
  const acts = (await trail()).filter(({ identityId }) => identityId === person.identityId).map(({ action }) => action)
  assert.deepEqual(acts, ['organization.member.joined', 'sso.account.linked'])

  const elsewhere = enterprise.browser()
  const returned = await elsewhere.signIn(connectionId, claims, { return_to: returnTo })
  assert.equal(returned.headers.location, returnTo)
  const session = await sessionOf(elsewhere)
  assert.deepEqual([session.authMethod, session.user.userId], ['enterprise_sso', person.identityId])
  assert.deepEqual(
    session.identities.map((each: { identityId: IdentityId }) => each.identityId),
    [person.identityId],
  )
})

test('a user with a passkey session keeps it, and it records the SSO sign-in', async () => {
  const { person, browser, claims } = await enterprise.colleague(connectionId)
  const before = browser.cookies.get('countersign')
  const returned = await browser.signIn(connectionId, claims)
  assert.equal(returned.headers.location, world.config.businessUrl.href)
  assert.equal(browser.cookies.get('countersign'), before)
  const { authMethod } = await sessionOf(browser)
  assert.equal(authMethod, 'passkey')
  const noted = await world.db
    .selectFrom('session_sso_authentication')
    .select(['connection_id as connectionId', 'organization_id as organizationId'])
    .where('identity_id', '=', person.identityId)
    .execute()
  assert.deepEqual(noted, [{ connectionId, organizationId: acme.organizationId }])
})

test('SSO-01 a callback without the state or browser of a started sign-in signs no user in', async () => {
  const { claims } = await enterprise.colleague(connectionId)
  const browser = enterprise.browser()
  const { location = '' } = (await browser.start(connectionId)).headers
  const back = enterprise.upstream.approve(location, claims)
  const wrong: Record<string, (address: URL) => void> = {
    'another state': ({ searchParams }) => searchParams.set('state', 'x'.repeat(43)),
    'no state': ({ searchParams }) => searchParams.delete('state'),
    'two states': ({ searchParams }) => searchParams.append('state', 'x'),
  }
  for (const [what, change] of Object.entries(wrong)) {
    const address = new URL(back)
    change(address)
    assert.deepEqual(refusalIn(await browser.get(address.href)), [400, 'invalid_sso_flow'], what)
  }
  const stranger = enterprise.browser()
  assert.deepEqual(refusalIn(await stranger.get(back.href)), [400, 'invalid_sso_flow'])
  await stranger.start(connectionId)
  assert.deepEqual(refusalIn(await stranger.get(back.href)), [400, 'invalid_sso_flow'])
  world.pass(301)
  assert.deepEqual(refusalIn(await browser.get(back.href)), [400, 'invalid_sso_flow'], 'after five minutes')
  assert.equal((await browser.page('GET', '/api/auth/session')).statusCode, 401)
})

test('SSO-02 the response to a sign-in with one connection is rejected for another', async () => {
  const { claims } = await enterprise.colleague(connectionId)
  const { connectionId: other } = await enterprise.connect(acme)
  const browser = enterprise.browser()
  const { location = '' } = (await browser.start(connectionId)).headers
  const { search } = enterprise.upstream.approve(location, claims)
  assert.deepEqual(refusalIn(await browser.get(`/api/sso/${other}/callback${search}`)), [400, 'invalid_sso_flow'])
})

test('SSO-03 an untrusted response signs no user in, and the audit log records why', async () => {
  const { claims } = await enterprise.colleague(connectionId)
  const browser = enterprise.browser()
  const { location = '' } = (await browser.start(connectionId)).headers
  const back = enterprise.upstream.approve(location, claims, { claims: { aud: 'another client' } })
  assert.deepEqual(refusalIn(await browser.get(back.href)), [401, 'sso_response_invalid'])
  assert.deepEqual(refusalIn(await browser.get(back.href)), [400, 'invalid_sso_flow'], 'the sign-in has ended')
  const last = (await trail()).at(-1)
  assert.deepEqual(
    [last?.action, last?.details],
    ['sso.login.failed', { connectionId, reason: 'sso_response_invalid', because: 'aud' }],
  )
})

test('SSO-05 a user with an unverified e-mail address cannot join, and matches no user', async () => {
  const victim = await enterprise.colleague(connectionId)
  const claims = [
    newClaims({ email_verified: false }),
    newClaims({ email: 'ann@elsewhere.example' }),
    newClaims({ email: `ann@acme.example.evil.example` }),
    { sub: randomUUID(), name: 'Ann' },
    newClaims({ email: victim.claims.email ?? '', email_verified: false }),
  ]
  enterprise.upstream.say({})
  for (const said of claims) {
    enterprise.upstream.say({ sub: said.sub })
    const person = await world.person()
    const browser = enterprise.browser()
    browser.bring(person)
    const arrived = await browser.signIn(connectionId, said)
    const flowId = flowOf(arrived)
    assert.equal((await browser.page('GET', `/api/sso/arrivals/${flowId}`)).json().mayJoin, false)
    const answer = await linkAs(browser, flowId, person.identityId)
    assert.deepEqual(errorOf(answer), [403, 'sso_not_a_member'], JSON.stringify(said))
    assert.ok(!(await members()).includes(person.identityId))
  }

  // An existing member proves the identity with their passkey, whatever e-mail address the provider sends.
  const { person } = victim
  const browser = enterprise.browser()
  browser.bring({ sessionToken: (await person.signIn()).authorization.replace('Bearer ', '') })
  const arrived = await browser.signIn(connectionId, newClaims({ email_verified: false }))
  assert.equal((await linkAs(browser, flowOf(arrived), person.identityId)).statusCode, 200)
})

test('SSO-05 a domain that the organization loses no longer admits new members', async () => {
  const organization = await enterprise.organization(await world.person(), 'Globex')
  const { domainId } = await enterprise.verifyDomain(organization, 'globex.example')
  const connection = await enterprise.connect(organization, { domains: ['globex.example'] })
  const claims = newClaims({ email: 'ann@globex.example' })
  const browser = enterprise.browser()
  const person = await world.person()
  browser.bring(person)
  const arrived = await browser.signIn(connection.connectionId, claims)
  await enterprise.send(organization.owner, 'DELETE', `/${organization.organizationId}/domains/${domainId}`)
  const answer = await linkAs(browser, flowOf(arrived), person.identityId)
  assert.deepEqual(errorOf(answer), [403, 'sso_not_a_member'])
})

test('SSO-06 of 32 uses of one response, one signs the user in', async () => {
  const { claims, person } = await enterprise.colleague(connectionId)
  const browser = enterprise.browser()
  const { location = '' } = (await browser.start(connectionId)).headers
  const back = enterprise.upstream.approve(location, claims).href
  const answers = await Promise.all(Array.from({ length: 32 }, () => browser.get(back)))
  const forwarded = answers.filter(({ statusCode }) => statusCode === 303)
  assert.equal(forwarded.length, 1)
  const arrivals = await Promise.all(
    Array.from({ length: 32 }, () => browser.get(forwarded[0]?.headers.location ?? '')),
  )
  assert.equal(arrivals.filter(({ statusCode }) => statusCode === 303).length, 1)
  const sessions = await world.db
    .selectFrom('session')
    .select('session_id')
    .where('identity_id', '=', person.identityId)
    .execute()
  assert.equal(sessions.length, 1)
})

test('SSO-07 a response in one browser cannot be linked in another, or without recent authentication', async () => {
  const [victim, attacker] = [await world.person(), await world.person()]
  const [mine, theirs] = [enterprise.browser(), enterprise.browser()]
  theirs.bring(victim)
  const arrived = await mine.signIn(connectionId, newClaims())
  const flowId = flowOf(arrived)
  // The attacker leads the victim to the page, whose browser has started no sign-in, or another one.
  assert.deepEqual(errorOf(await linkAs(theirs, flowId, victim.identityId)), [400, 'invalid_sso_flow'])
  const own = await theirs.signIn(connectionId, newClaims())
  assert.deepEqual(errorOf(await linkAs(theirs, flowId, victim.identityId)), [400, 'invalid_sso_flow'])

  mine.bring(attacker)
  assert.deepEqual(errorOf(await linkAs(mine, flowId, victim.identityId)), [404, 'identity_not_found'])
  assert.equal((await linkAs(mine, flowId, attacker.identityId)).statusCode, 200)
  assert.deepEqual(errorOf(await linkAs(mine, flowId, attacker.identityId)), [400, 'invalid_sso_flow'])

  world.pass(301)
  const late = enterprise.browser()
  late.bring(attacker)
  const again = await late.signIn(connectionId, newClaims())
  const stale = await linkAs(late, flowOf(again), attacker.identityId)
  assert.deepEqual(errorOf(stale), [403, 'reauthentication_required'])
  assert.deepEqual(errorOf(await linkAs(theirs, flowOf(own), victim.identityId)), [403, 'reauthentication_required'])
})

test('SSO-07 of two users who link one subject concurrently, one is linked', async () => {
  const claims = newClaims()
  const people = await Promise.all(Array.from({ length: 8 }, () => world.person()))
  const ready = await Promise.all(
    people.map(async (person) => {
      const browser = enterprise.browser()
      browser.bring(person)
      const arrived = await browser.signIn(connectionId, claims)
      return { browser, person, flowId: flowOf(arrived) }
    }),
  )
  const answers = await Promise.all(
    ready.map(({ browser, flowId, person }) => linkAs(browser, flowId, person.identityId)),
  )
  assert.deepEqual(answers.map(({ statusCode }) => statusCode).toSorted(), [200, 409, 409, 409, 409, 409, 409, 409])
  const joined = await members()
  assert.equal(people.filter(({ identityId }) => joined.includes(identityId)).length, 1)
})

test('SSO-08 one subject at two connections is two users, and a moved address moves no link', async () => {
  const { claims, person } = await enterprise.colleague(connectionId)
  const { connectionId: other } = await enterprise.connect(acme, { domains: ['acme.example'] })
  const elsewhere = await enterprise.browser().signIn(other, claims)
  assert.equal(new URL(elsewhere.headers.location ?? '').pathname, '/sso/link')

  const moved = await enterprise.browser().signIn(connectionId, newClaims({ email: claims.email ?? '' }))
  assert.equal(new URL(moved.headers.location ?? '').pathname, '/sso/link')
  const browser = enterprise.browser()
  await browser.signIn(connectionId, { ...claims, email: 'another@acme.example' })
  assert.equal((await sessionOf(browser)).user.userId, person.identityId)
})

test('SSO-11 the provider of one organization gives no access to another', async () => {
  const { claims } = await enterprise.colleague(connectionId)
  const mallory = await enterprise.organization(await world.person(), 'Mallory')
  const payload = {
    name: 'Ours',
    domains: ['acme.example'],
    oidc: { ...enterprise.upstream, issuer: enterprise.upstream.issuer },
  }
  const { issuer, clientId, clientSecret } = enterprise.upstream
  const refused = await enterprise.send(mallory.owner, 'POST', `/${mallory.organizationId}/sso-connections`, {
    ...payload,
    oidc: { issuer, clientId, clientSecret },
  })
  assert.deepEqual(errorOf(refused), [409, 'domain_not_verified'])
  const theirs = (await enterprise.connect(mallory)).connectionId
  const browser = enterprise.browser()
  const person = await world.person()
  browser.bring(person)
  const arrived = await browser.signIn(theirs, claims)
  assert.equal(new URL(arrived.headers.location ?? '').pathname, '/sso/link', 'the subject is unknown there')
  const answer = await linkAs(browser, flowOf(arrived), person.identityId)
  assert.deepEqual(errorOf(answer), [403, 'sso_not_a_member'])
  const { owner, organizationId } = acme
  for (const [method, path] of [
    ['GET', ''],
    ['PATCH', ''],
    ['DELETE', ''],
    ['POST', '/test'],
  ] as const) {
    const url = `/${mallory.organizationId}/sso-connections/${connectionId}${path}`
    const reached = await enterprise.send(mallory.owner, method, url, method === 'PATCH' ? { name: 'x' } : undefined)
    assert.deepEqual(errorOf(reached), [404, 'connection_not_found'], `${method} ${path}`)
  }
  assert.equal((await enterprise.send(owner, 'GET', `/${organizationId}/sso-connections`)).statusCode, 200)
})

test('SSO-12 a session shows how it was opened, and SSO does not count as recent authentication', async () => {
  const { claims } = await enterprise.colleague(connectionId)
  const browser = enterprise.browser()
  await browser.signIn(connectionId, claims)
  assert.equal((await sessionOf(browser)).authMethod, 'enterprise_sso')
  const arrived = await browser.signIn(connectionId, newClaims())
  const { identities } = await sessionOf(browser)
  const linked = await linkAs(browser, flowOf(arrived), identities[0].identityId)
  assert.deepEqual(errorOf(linked), [403, 'passkey_required'])
})

test('a sign-in redirects to this service only, and unknown connections are rejected', async () => {
  const browser = enterprise.browser()
  const { origin } = world.config.authUrl
  for (const returnTo of [
    'https://evil.example/',
    '//evil.example',
    '/account',
    `${origin}.evil.example/`,
    `${origin.replace('//', '//a@')}/`,
    `${origin}/api/auth/session`,
    'javascript:alert(1)',
  ])
    assert.deepEqual(refusalIn(await browser.start(connectionId, { return_to: returnTo })), [400, 'invalid_request'])
  for (const unknown of [randomUUID(), 'x', `${connectionId}'`])
    assert.deepEqual(refusalIn(await browser.start(unknown)), [404, 'sso_connection_unavailable'])
})

test("SSO-15 an e-mail domain leads to its organization's SSO, and an unknown domain reveals nothing", async () => {
  const discover = (email: string) => world.api.inject({ method: 'POST', url: '/api/sso/discover', payload: { email } })
  const { organizationId } = acme
  const [oldest] = await world.db
    .selectFrom('sso_connection')
    .select('connection_id as connectionId')
    .where('organization_id', '=', organizationId)
    .orderBy('created_at')
    .execute()
  assert.deepEqual((await discover('Ann@ACME.example')).json(), {
    loginUrl: `${world.config.baseUrl.origin}/api/sso/${oldest?.connectionId}/start`,
  })
  const owner = await world.person()
  const two = await enterprise.organization(owner, 'Initech')
  await enterprise.verifyDomain(two, 'initech.example')
  await enterprise.connect(two, { domains: ['initech.example'] })
  const confirmed = await enterprise.connect(two, { domains: ['initech.example'] })
  await enterprise.confirm(two, confirmed.connectionId)
  assert.deepEqual((await discover('ann@initech.example')).json(), {
    loginUrl: `${world.config.baseUrl.origin}/api/sso/${confirmed.connectionId}/start`,
  })
  const without = await enterprise.organization(await world.person(), 'Hooli')
  await enterprise.verifyDomain(without, 'hooli.example')
  await enterprise.connect(without, { domains: ['hooli.example'], enabled: false })
  const answers = [await discover('ann@hooli.example'), await discover('ann@nobody.example'), await discover('ann')]
  for (const answer of answers) assert.deepEqual([answer.statusCode, answer.body], [404, answers[0]?.body])
})
