import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import {
  errorOf,
  flowOf,
  linkAs,
  newClaims,
  openEnterprise,
  refusalIn,
  scimPatch,
  scimUser,
  type Enterprise,
} from '#testing/enterprise.ts'
import { join, membersOf } from '#testing/organization.ts'
import type { Person } from '#testing/world.ts'

let enterprise: Enterprise
let world: Enterprise['world']
before(async () => {
  enterprise = await openEnterprise()
  ;({ world } = enterprise)
})
after(() => enterprise.close())

type Directory = Awaited<ReturnType<Enterprise['provision']>>
type Company = Awaited<ReturnType<typeof connected>>

/** Creates an organization with a connection to its provider, for a verified domain. */
async function connected() {
  const organization = await enterprise.organization(await world.person())
  const domain = `${randomUUID()}.example`
  await enterprise.verifyDomain(organization, domain)
  const { connectionId } = await enterprise.connect(organization, { domains: [domain] })
  const claims = () => newClaims({ email: `${randomUUID()}@${domain}` })
  const path = `/${organization.organizationId}/sso-connections/${connectionId}`
  return { ...organization, connectionId, claims, path }
}

/** Creates the same organization with SCIM provisioning. */
async function provisioned(subjectBy: 'externalId' | 'email' = 'externalId') {
  const company = await connected()
  return { ...company, directory: await enterprise.provision(company, company.connectionId, subjectBy) }
}

/** Provisions a user; returns the SCIM id. */
async function name({ ask }: Directory, user: Record<string, unknown>): Promise<string> {
  const answer = await ask('POST', '/Users', scimUser({ userName: randomUUID(), ...user }))
  assert.equal(answer.statusCode, 201, answer.body)
  return answer.json().id
}

/** Opens a browser in which the provider has named the user, and the user has a passkey session. */
async function arrive(connectionId: string, claims: ReturnType<typeof newClaims>) {
  const person = await world.person()
  const browser = enterprise.browser()
  browser.bring(person)
  const flowId = flowOf(await browser.signIn(connectionId, claims))
  const { mayJoin } = (await browser.page('GET', `/api/sso/arrivals/${flowId}`)).json()
  return { person, browser, mayJoin, link: () => linkAs(browser, flowId, person.identityId) }
}

const members = ({ organizationId, owner }: Company) => membersOf(world, organizationId, owner)

async function roleIn(company: Company, { identityId }: Person) {
  return (await members(company)).find((each) => each.identityId === identityId)?.role
}

const freshly = async ({ owner }: Company) => ({ headers: await owner.signIn() })
const deactivate = ({ ask }: Directory, id: string) =>
  ask('PATCH', `/Users/${id}`, scimPatch({ op: 'Replace', path: 'active', value: 'False' }))

async function trail({ organizationId }: Company) {
  return world.db
    .selectFrom('audit_event')
    .select(['action', 'actor', 'details'])
    .where('organization_id', '=', organizationId)
    .orderBy('event_id')
    .execute()
}

test('SCM-01 a connection has one token, returned once and valid until it is replaced or removed', async () => {
  const company = await provisioned()
  const { connectionId, directory: first, path } = company
  assert.match(first.token, /^cs_scim_/)
  assert.equal((await first.ask('GET', '/Users')).statusCode, 200)
  const stored = await world.db.selectFrom('sso_scim_directory').selectAll().execute()
  assert.ok(!JSON.stringify(stored).includes(first.token))

  const second = await enterprise.provision(company, connectionId)
  const ended = await first.ask('GET', '/Users')
  assert.deepEqual([ended.statusCode, ended.headers['www-authenticate']], [401, 'Bearer'])
  assert.equal((await second.ask('GET', '/Users')).statusCode, 200)

  const fresh = await freshly(company)
  const outcomeOf = (await enterprise.send(fresh, 'GET', path)).json().connection.scim
  assert.deepEqual(
    [outcomeOf.baseUrl, outcomeOf.subjectBy],
    [`http://localhost:4400/scim/v2/${connectionId}`, 'externalId'],
  )
  const read = JSON.stringify([outcomeOf, (await enterprise.send(fresh, 'GET', path.replace(/\/[^/]+$/, ''))).json()])
  for (const { token } of [first, second]) assert.ok(!read.includes(token), 'no later response contains the token')
  assert.equal((await enterprise.send(fresh, 'DELETE', `${path}/scim-token`)).statusCode, 204)
  assert.equal((await second.ask('GET', '/Users')).statusCode, 401)
  assert.equal((await enterprise.send(fresh, 'GET', path)).json().connection.scim, undefined)
  assert.equal((await enterprise.send(fresh, 'DELETE', `${path}/scim-token`)).statusCode, 404)
})

test('SCM-01 creating the token requires an owner with recent authentication, and keeps users', async () => {
  const company = await provisioned()
  const { directory, path } = company
  const admin = await world.person()
  await join(world, { id: company.organizationId, owner: company.owner, role: 'admin' }, admin)
  const ask = (person: Pick<Person, 'headers'>, subjectBy: string) =>
    enterprise.send(person, 'POST', `${path}/scim-token`, { subjectBy })
  assert.deepEqual(errorOf(await ask(admin, 'email')), [403, 'insufficient_scope'])
  const stale = await freshly(company)
  world.pass(301)
  assert.deepEqual(errorOf(await ask(stale, 'email')), [403, 'reauthentication_required'])
  const fresh = await freshly(company)
  await name(directory, { externalId: 'ann' })
  assert.deepEqual(errorOf(await ask(fresh, 'email')), [409, 'scim_users_exist'])
  assert.equal((await ask(fresh, 'externalId')).statusCode, 201)
})

test('SCM-02 all wrong tokens get the same error', async () => {
  const other = await connected()
  const { connectionId, directory, owner } = await provisioned()
  const ask = (id: string, authorization?: string) =>
    world.api.inject({ url: `/scim/v2/${id}/Users`, ...(authorization && { headers: { authorization } }) })
  const wrong = [
    await ask(connectionId),
    await ask(connectionId, 'Bearer cs_scim_nonsense'),
    await ask(other.connectionId, `Bearer ${directory.token}`),
    await ask(randomUUID(), `Bearer ${directory.token}`),
    await ask('nonsense', `Bearer ${directory.token}`),
    await ask(connectionId, owner.headers['authorization']),
  ]
  for (const answer of wrong) {
    assert.equal(answer.statusCode, 401)
    assert.match(String(answer.headers['content-type']), /^application\/scim\+json/)
    assert.deepEqual(answer.json(), {
      schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
      status: '401',
      detail: 'SCIM token required: Authorization: Bearer <token>.',
    })
  }
})

/** Counts the rows that identify a user or give access. */
async function countAccounts(): Promise<number[]> {
  const tables = ['user_account', 'identity', 'session', 'sso_link', 'organization_member'] as const
  const counts = tables.map((table) =>
    world.db
      .selectFrom(table)
      .select(({ fn }) => fn.countAll<string>().as('count'))
      .executeTakeFirstOrThrow(),
  )
  return (await Promise.all(counts)).map(({ count }) => Number(count))
}

test('SCM-03 a provisioned user can join with their role by passkey, and has no access before', async () => {
  const company = await provisioned()
  const { connectionId, directory } = company
  const claims = newClaims({ email: 'ann@elsewhere.example', email_verified: false })
  const before = await countAccounts()
  const id = await name(directory, { externalId: claims.sub, roles: [{ value: 'signer' }] })
  assert.equal((await members(company)).length, 1)
  assert.deepEqual(await countAccounts(), before, 'provisioning creates no account and no session')

  const { person, mayJoin, link } = await arrive(connectionId, claims)
  assert.equal(mayJoin, true)
  assert.equal((await link()).statusCode, 200)
  assert.equal(await roleIn(company, person), 'signer')
  const read = (await directory.ask('GET', `/Users/${id}`)).json()
  assert.deepEqual([read.externalId, read.active], [claims.sub, true])
})

test('SCM-03 with SCIM provisioning, only provisioned users can join, whatever their e-mail address', async () => {
  const { connectionId, directory, claims: newColleague } = await provisioned()
  const claims = newColleague()
  const unknown = await arrive(connectionId, claims)
  assert.equal(unknown.mayJoin, false)
  assert.deepEqual(errorOf(await unknown.link()), [403, 'sso_not_a_member'])
  const id = await name(directory, { externalId: claims.sub })
  const expected = await arrive(connectionId, claims)
  assert.equal(expected.mayJoin, true)
  await deactivate(directory, id)
  assert.deepEqual(errorOf(await expected.link()), [403, 'sso_user_deactivated'])
})

test('SCM-03 a directory cannot create owners', async () => {
  const { directory } = await provisioned()
  for (const roles of [[{ value: 'owner' }], ['owner'], [{ value: 'chief' }], [{ value: 'owner', primary: true }]]) {
    const answer = await directory.ask('POST', '/Users', scimUser({ userName: 'ann', externalId: 'ann', roles }))
    assert.deepEqual([answer.statusCode, answer.json().scimType], [400, 'invalidValue'])
  }
})

test('SCM-03 users matched by e-mail address are found in any case, once the address is verified', async () => {
  const company = await provisioned('email')
  const { connectionId, directory } = company
  const claims = newClaims({ email: `${randomUUID()}@elsewhere.example` })
  const address = claims.email ?? ''
  await name(directory, { emails: [{ value: address.toUpperCase(), type: 'work', primary: true }] })
  assert.equal((await arrive(connectionId, { ...claims, email_verified: false })).mayJoin, false)
  const { person, link } = await arrive(connectionId, claims)
  assert.equal((await link()).statusCode, 200)
  assert.equal(await roleIn(company, person), 'member')
  // The address is linked now: a later subject with this address is another user.
  assert.equal((await arrive(connectionId, newClaims({ email: address }))).mayJoin, false)
})

/** Creates a provisioned user who has joined, with an app's tokens for the organization. */
async function joined(subjectBy: 'externalId' | 'email' = 'externalId') {
  const company = await provisioned(subjectBy)
  const { connectionId, directory } = company
  const claims = company.claims()
  const id = await name(directory, { externalId: claims.sub, emails: [{ value: claims.email }] })
  const { person, link } = await arrive(connectionId, claims)
  assert.equal((await link()).statusCode, 200)
  return { company, connectionId, directory, claims, id, person }
}

const endings: Record<
  string,
  (directory: Directory, id: string, externalId: string) => Promise<{ statusCode: number }>
> = {
  'is deactivated': deactivate,
  'is deactivated by an object': ({ ask }, id) =>
    ask('PATCH', `/Users/${id}`, scimPatch({ op: 'replace', value: { active: false } })),
  'is replaced as inactive': ({ ask }, id, externalId) =>
    ask('PUT', `/Users/${id}`, scimUser({ userName: id, externalId, active: false })),
  'is deleted': ({ ask }, id) => ask('DELETE', `/Users/${id}`),
}
for (const [how, end] of Object.entries(endings))
  test(`SCM-04 a user who ${how} in the directory loses membership, sessions and tokens at once`, async () => {
    const { company, connectionId, directory, claims, id, person } = await joined()
    const app = await world.app()
    const tokens = await app.tokens(person, { organizationId: company.organizationId })
    const signedIn = enterprise.browser()
    await signedIn.signIn(connectionId, claims)
    assert.equal((await signedIn.page('GET', '/api/auth/session')).statusCode, 200)

    assert.ok((await end(directory, id, claims.sub)).statusCode < 300)
    assert.equal(await roleIn(company, person), undefined)
    assert.equal((await signedIn.page('GET', '/api/auth/session')).statusCode, 401)
    const authorization = `Bearer ${tokens.access_token}`
    assert.equal((await world.api.inject({ url: '/api/oauth/userinfo', headers: { authorization } })).statusCode, 401)
    assert.deepEqual(errorOf(await app.refresh(tokens.refresh_token)), [400, 'invalid_grant'])
    // The account belongs to the user, and is unchanged.
    assert.equal((await world.api.inject({ url: '/api/auth/session', headers: person.headers })).statusCode, 200)

    const back = await enterprise.browser().signIn(connectionId, claims)
    if (how === 'is deleted') assert.equal(new URL(back.headers.location ?? '').pathname, '/sso/link')
    else assert.deepEqual(refusalIn(back), [403, 'sso_user_deactivated'])
    const removals = (await trail(company)).filter(({ action }) => action === 'organization.member.removed')
    const { actor, details } = removals.at(-1) ?? {}
    assert.deepEqual(
      [actor, Object(details).by, Object(details).memberIdentityId],
      ['system', 'scim', person.identityId],
    )
  })

test("SCM-04 a user linked before there was a directory is matched by the provider's subject", async () => {
  for (const subjectBy of ['externalId', 'email'] as const) {
    const company = await connected()
    const { connectionId } = company
    const { person, claims } = await enterprise.colleague(connectionId, company.claims())
    const directory = await enterprise.provision(company, connectionId, subjectBy)
    assert.equal(await roleIn(company, person), 'member')
    const id = await name(directory, { externalId: claims.sub, emails: [{ value: claims.email }] })
    assert.equal((await deactivate(directory, id)).statusCode, 200)
    assert.equal(await roleIn(company, person), undefined, subjectBy)
  }
})

test('SCM-04 an e-mail address belongs to the subject that used it last', async () => {
  const company = await connected()
  const { connectionId } = company
  const claims = company.claims()
  const { person: earlier } = await enterprise.colleague(connectionId, claims)
  const { person: later } = await enterprise.colleague(connectionId, { ...claims, sub: randomUUID() })
  const directory = await enterprise.provision(company, connectionId, 'email')
  const id = await name(directory, { emails: [{ value: claims.email }] })
  assert.equal((await deactivate(directory, id)).statusCode, 200)
  assert.deepEqual([await roleIn(company, later), await roleIn(company, earlier)], [undefined, 'member'])
})

test('SCM-04 a reactivated user joins again as a new member', async () => {
  const { company, connectionId, directory, claims, id } = await joined()
  await deactivate(directory, id)
  await directory.ask('PATCH', `/Users/${id}`, scimPatch({ op: 'replace', path: 'active', value: 'True' }))
  const unlinked = await enterprise.browser().signIn(connectionId, claims)
  assert.equal(new URL(unlinked.headers.location ?? '').pathname, '/sso/link')
  const { person, link } = await arrive(connectionId, claims)
  assert.equal((await link()).statusCode, 200)
  assert.equal(await roleIn(company, person), 'member')
})

test('SCM-05 the last owner stays, with the previous state in the directory', async () => {
  const company = await connected()
  const { connectionId, organizationId, owner } = company
  const claims = company.claims()
  const browser = enterprise.browser()
  browser.bring({ sessionToken: (await owner.signIn()).authorization.replace('Bearer ', '') })
  const arrived = await browser.signIn(connectionId, claims)
  assert.equal((await linkAs(browser, flowOf(arrived), owner.identityId)).statusCode, 200)
  const directory = await enterprise.provision(company, connectionId)
  const id = await name(directory, { externalId: claims.sub })
  for (const answer of [await deactivate(directory, id), await directory.ask('DELETE', `/Users/${id}`)]) {
    assert.equal(answer.statusCode, 409, answer.body)
    assert.match(answer.json().detail, /last owner/)
  }
  assert.equal((await directory.ask('GET', `/Users/${id}`)).json().active, true)

  const second = await world.person()
  await join(world, { id: organizationId, owner: await freshly(company), role: 'owner' }, second)
  assert.equal((await deactivate(directory, id)).statusCode, 200)
  const left = await membersOf(world, organizationId, second)
  assert.deepEqual(
    left.map(({ identityId }) => identityId),
    [second.identityId],
  )
})

test('SCM-06 a directory can only access users of its own connection', async () => {
  const { company, id, person, claims } = await joined()
  const { directory: other } = await provisioned()
  for (const answer of [
    await other.ask('GET', `/Users/${id}`),
    await deactivate(other, id),
    await other.ask('DELETE', `/Users/${id}`),
    await other.ask('PUT', `/Users/${id}`, scimUser({ userName: 'ann', externalId: claims.sub, active: false })),
  ])
    assert.equal(answer.statusCode, 404)
  await name(other, { externalId: claims.sub, active: false })
  assert.equal(await roleIn(company, person), 'member')
})

test('SCM-07 joining concurrently with deactivation leaves no membership', async () => {
  for (let round = 0; round < 5; round += 1) {
    const company = await provisioned()
    const { connectionId, directory } = company
    const claims = company.claims()
    const id = await name(directory, { externalId: claims.sub })
    const { person, link } = await arrive(connectionId, claims)
    const [, turnedOff] = await Promise.all([link(), deactivate(directory, id)])
    assert.equal(turnedOff.statusCode, 200)
    assert.equal(await roleIn(company, person), undefined)
  }
})

test('SCM-07 of many equal users created concurrently, one is created', async () => {
  const { directory } = await provisioned()
  const named = (externalId: string) => scimUser({ userName: 'ann@acme.example', externalId })
  const answers = await Promise.all(['1', '2', '3', '4'].map((each) => directory.ask('POST', '/Users', named(each))))
  assert.deepEqual(answers.map(({ statusCode }) => statusCode).toSorted(), [201, 409, 409, 409])
  assert.equal((await directory.ask('GET', '/Users')).json().totalResults, 1)
})

test('a directory can deactivate users while its connection is disabled', async () => {
  const { company, connectionId, directory, id, person } = await joined()
  assert.equal(
    (await enterprise.send(await freshly(company), 'PATCH', company.path, { enabled: false })).statusCode,
    200,
  )
  assert.equal((await deactivate(directory, id)).statusCode, 200)
  assert.equal(await roleIn(company, person), undefined)
  assert.deepEqual(refusalIn(await enterprise.browser().start(connectionId)), [404, 'sso_connection_unavailable'])
})

test('LOG-02 the audit log records each change by a directory once, with ids only', async () => {
  const company = await connected()
  const path = `${company.path}/scim-token`
  const before = (await trail(company)).length
  const directory = await enterprise.provision(company, company.connectionId)
  const userName = `ann-${randomUUID()}`
  const id = await name(directory, { externalId: 'ann', userName })
  const patch = (value: string) =>
    directory.ask('PATCH', `/Users/${id}`, scimPatch({ op: 'replace', path: 'displayName', value }))
  await patch('Ann')
  assert.equal((await patch('Ann')).statusCode, 200, 'an update without change has no effect')
  await directory.ask('DELETE', `/Users/${id}`)
  await directory.ask('DELETE', `/Users/${id}`)
  await enterprise.send(await freshly(company), 'DELETE', path)
  const outcomeOf = (await trail(company)).slice(before)
  assert.deepEqual(
    outcomeOf.map(({ action }) => action),
    ['scim.token.created', 'scim.user.created', 'scim.user.updated', 'scim.user.deleted', 'scim.token.revoked'],
  )
  assert.ok(!JSON.stringify(outcomeOf).includes(userName))
})
