import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { after, afterEach, before, test } from 'node:test'
import { sql } from 'kysely'
import { type ClientId, type OrganizationId, asId } from '@countersign/protocol/ids'
import { continueOrganizationEndings } from '#organizations/members/ending.ts'
import { endedAtOnce } from '#platform/module/batches.ts'
import { createAuthenticator } from '#testing/authenticator.ts'
import { signInByOrganization } from '#testing/enterprise-session.ts'
import { newClaims, openEnterprise, scimPatch, scimUser, type Enterprise } from '#testing/enterprise.ts'
import { countAlive, fillCodes, fillSessions, limitChangedRows, manyRows } from '#testing/many-rows.ts'
import { join, membersOf } from '#testing/organization.ts'
import type { Person, TestApp } from '#testing/world.ts'

let enterprise: Enterprise
let world: Enterprise['world']
let app: TestApp
before(async () => {
  enterprise = await openEnterprise()
  ;({ world } = enterprise)
  app = await world.app()
  for (const table of ['token_family', 'token_access_token']) await limitChangedRows(world.db, table, 5000)
})
// Ended rows are kept for a while. No test here reads them again, and each test would add more.
afterEach(async () => {
  await world.changeMany(sql`
    delete from token_family
    where (revoked_at is not null and code_redeemed_at is null) or nonce = 'filled'`)
  await world.changeMany(sql`delete from webhook_delivery`)
})
after(() => enterprise.close())

type Headers = Record<string, string>
type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
const ask = (method: Method, url: string, headers: Headers = {}, payload?: object) =>
  world.api.inject({ method, url, headers, ...(payload && { payload }) })
const isSignedIn = async (headers: Headers) => (await ask('GET', '/api/auth/session', headers)).statusCode === 200
const isActive = async (token: string, of = app) => {
  const answer = await world.api.inject({
    method: 'POST',
    url: '/api/oauth/introspect',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams({ ...of.credentials, token }).toString(),
  })
  return answer.json().active === true
}
const isRedeemed = async (code: string, of = app) => (await of.redeem(code)).statusCode === 200

/** Creates another session of a user, and a code issued in it. */
async function anotherSession(person: Person, of = app) {
  const headers = await person.signIn()
  return { headers, code: await of.code({ ...person, headers }) }
}

/** Creates an organization with its own identity provider, a member, and the member's credentials there. */
async function membership() {
  const organization = await enterprise.organization(await world.person())
  const { organizationId, owner } = organization
  const { connectionId } = await enterprise.connect(organization)
  const person = await world.person()
  const { memberId } = await join(world, { id: organizationId, owner, role: 'member' }, person)
  const byProvider = await signInByOrganization(world, person, { organizationId, connectionId })
  const code = await app.code({ ...person, headers: byProvider }, { organizationId })
  const { access_token: token } = await app.tokens({ ...person, headers: byProvider }, { organizationId })
  const { access_token: own } = await app.tokens(person)
  await fillSessions(world, { ...person, organizationId, connectionId })
  await fillCodes(world, { ...person, ...app, organizationId, connectionId })
  return { organization, connectionId, person, memberId, byProvider, code, token, own }
}

type Membership = Awaited<ReturnType<typeof membership>>

/** Checks that none of the member's credentials for the organization is accepted, and that their own are. */
async function requireRejected({ person, byProvider, code, token, own }: Membership) {
  assert.equal(await isSignedIn(byProvider), false)
  assert.deepEqual([await isActive(token), await isRedeemed(code)], [false, false])
  assert.deepEqual([await isSignedIn(person.headers), await isActive(own)], [true, true])
}

/** Checks that the member's credentials for the organization have ended, and their own have not. */
async function requireEnded(made: Membership) {
  await requireRejected(made)
  assert.deepEqual(await countAlive(world, made.person), { sessions: 1, families: 1 })
}

test(`BLK-01 a user with ${manyRows} sessions signs out elsewhere`, async () => {
  const person = await world.person()
  const other = await anotherSession(person)
  const kept = await app.code(person)
  await fillSessions(world, person)
  await fillCodes(world, { ...person, ...app })
  const answer = await ask('DELETE', '/api/auth/sessions', person.headers)
  assert.equal(answer.statusCode, 204, answer.body)
  assert.equal(await isSignedIn(other.headers), false)
  assert.equal(await isRedeemed(other.code), false)
  assert.deepEqual([await isSignedIn(person.headers), (await countAlive(world, person)).sessions], [true, 1])
  assert.equal(await isRedeemed(kept), true, 'a code of the session that goes on')
})

test(`BLK-02 a recovery ends ${manyRows} sessions`, async () => {
  const person = await world.person()
  const recoveryAuth = randomBytes(32).toString('base64url')
  const set = await ask('PUT', '/api/account/recovery', person.headers, {
    recoveryAuth,
    ciphertext: 'by.recovery.code',
  })
  assert.equal(set.statusCode, 200, set.body)
  const other = await anotherSession(person)
  await fillSessions(world, person)
  await fillCodes(world, { ...person, ...app })
  const started = (await ask('POST', '/api/auth/recover/start', {}, { handle: person.handle, recoveryAuth })).json()
  const authenticator = createAuthenticator({ origin: 'http://localhost:4401', rpId: 'localhost' })
  const credential = authenticator.register(started.options)
  const answer = await ask('POST', '/api/auth/recover/finish', {}, { flowId: started.flowId, credential })
  assert.equal(answer.statusCode, 200, answer.body)
  assert.deepEqual([await isSignedIn(person.headers), await isSignedIn(other.headers)], [false, false])
  assert.equal(await isRedeemed(other.code), false)
  assert.deepEqual(await countAlive(world, person), { sessions: 1, families: 0 })
  assert.equal(await isSignedIn({ authorization: `Bearer ${answer.json().sessionToken}` }), true)
})

for (const how of ['is removed', 'leaves'] as const)
  test(`BLK-03 a member with ${manyRows} SSO sessions ${how}`, async () => {
    const made = await membership()
    const { organization, memberId, person } = made
    const acting = how === 'leaves' ? person : organization.owner
    const answer = await enterprise.send(acting, 'DELETE', `/${organization.organizationId}/members/${memberId}`)
    assert.equal(answer.statusCode, 204, answer.body)
    await requireEnded(made)
  })

test(`BLK-04 the directory deactivates a member with ${manyRows} SSO sessions`, async () => {
  const organization = await enterprise.organization(await world.person())
  const { organizationId } = organization
  const { connectionId } = await enterprise.connect(organization)
  const directory = await enterprise.provision(organization, connectionId)
  const claims = newClaims()
  const user = scimUser({ userName: claims.email, externalId: claims.sub })
  const { id } = (await directory.ask('POST', '/Users', user)).json()
  const { person } = await enterprise.colleague(connectionId, claims)
  const browser = enterprise.browser()
  await browser.signIn(connectionId, claims)
  await fillSessions(world, { ...person, organizationId, connectionId })
  await fillCodes(world, { ...person, ...app, organizationId, connectionId })
  const off = scimPatch({ op: 'replace', path: 'active', value: false })
  const answer = await directory.ask('PATCH', `/Users/${id}`, off)
  assert.equal(answer.statusCode, 200, answer.body)
  assert.equal((await browser.page('GET', '/api/auth/session')).statusCode, 401)
  assert.deepEqual(await countAlive(world, person), { sessions: 1, families: 0 })
  assert.deepEqual((await membersOf(world, organizationId, organization.owner)).length, 1)
})

/** Adds members to an organization, each with an invitation that they have sent. */
async function fillMembers(organizationId: OrganizationId) {
  await world.changeMany(sql`
    insert into organization_member (organization_id, member_id, identity_id, role, scopes, signing_authority,
      joined_at)
    select ${organizationId}::uuid, gen_random_uuid(), gen_random_uuid(), 'member', '{read}', false, ${world.now()}
    from generate_series(1, ${manyRows}::integer)`)
}

for (const how of ['is deleted', 'is suspended'] as const)
  test(`BLK-05 an organization with ${manyRows} sessions and members ${how}`, async () => {
    const made = await membership()
    const { organizationId, owner } = made.organization
    await fillMembers(organizationId)
    const answer = await (how === 'is deleted'
      ? enterprise.send(owner, 'DELETE', `/${organizationId}`)
      : ask('PATCH', `/api/admin/organizations/${organizationId}`, world.admin, { status: 'suspended' }))
    assert.ok(answer.statusCode < 300, answer.body)
    // Before the cleanup has revoked what is left, nothing of it is accepted.
    await requireRejected(made)
    while ((await continueOrganizationEndings(world.db, world.now(), endedAtOnce)) > 0);
    await requireEnded(made)
    const found = await enterprise.send(owner, 'GET', `/${organizationId}`)
    assert.equal(found.statusCode, 404)
    await world.changeMany(
      sql`delete from organization_member where organization_id = ${organizationId} and role = 'member'`,
    )
  })

for (const how of ['is disabled', 'is deleted'] as const)
  test(`BLK-06 a connection that has opened ${manyRows} sessions ${how}`, async () => {
    const made = await membership()
    const { organization, connectionId, person, byProvider } = made
    const owner = { headers: await organization.owner.signIn() }
    const path = `/${organization.organizationId}/sso-connections/${connectionId}`
    const answer = await (how === 'is deleted'
      ? enterprise.send(owner, 'DELETE', path)
      : enterprise.send(owner, 'PATCH', path, { enabled: false }))
    assert.ok(answer.statusCode < 300, answer.body)
    assert.deepEqual([await isSignedIn(byProvider), await isRedeemed(made.code)], [false, false])
    // Tokens for the organization stay valid, because the member still belongs to it.
    assert.deepEqual(await countAlive(world, person), { sessions: 1, families: 2 })
  })

test(`BLK-07 an identity with ${manyRows} sessions and tokens is deleted`, async () => {
  const person = await world.person()
  const payload = { handle: `work-${randomUUID().slice(0, 8)}`, displayName: 'At work' }
  const { identityId } = (await ask('POST', '/api/identities', person.headers, payload)).json()
  const asIdentity = { ...person, identityId }
  const { access_token: token } = await app.tokens(asIdentity)
  const code = await app.code(asIdentity)
  const organizationId = asId<OrganizationId>(randomUUID())
  const byProvider = await signInByOrganization(world, person, { organizationId, identityId })
  await fillSessions(world, { ...person, organizationId, connectionId: randomUUID(), identityId })
  await fillCodes(world, { ...asIdentity, ...app })
  const answer = await ask('DELETE', `/api/identities/${identityId}`, person.headers)
  assert.equal(answer.statusCode, 204, answer.body)
  assert.deepEqual([await isActive(token), await isRedeemed(code), await isSignedIn(byProvider)], [false, false, false])
  assert.deepEqual(await countAlive(world, asIdentity), { sessions: 1, families: 0 })
  assert.equal(await isSignedIn(person.headers), true)
})

test(`BLK-08 an account with ${manyRows} sessions and tokens is deleted`, async () => {
  const person = await world.person()
  const other = await anotherSession(person)
  const { access_token: token } = await app.tokens(person)
  await fillSessions(world, person)
  await fillCodes(world, { ...person, ...app })
  const answer = await ask('DELETE', '/api/account', person.headers)
  assert.ok(answer.statusCode < 300, answer.body)
  assert.deepEqual([await isSignedIn(person.headers), await isSignedIn(other.headers)], [false, false])
  assert.deepEqual([await isActive(token), await isRedeemed(other.code)], [false, false])
  assert.deepEqual(await countAlive(world, person), { sessions: 0, families: 0 })
})

test(`BLK-09 an app with ${manyRows} tokens of a user is disconnected`, async () => {
  const [person, own] = [await world.person(), await world.app()]
  const { access_token: token } = await own.tokens(person)
  const { access_token: elsewhere } = await app.tokens(person)
  await fillFamilies(person, own)
  const { authorizations } = (await ask('GET', '/api/oauth/authorizations', person.headers)).json()
  const { id } = authorizations.find(({ clientId }: { clientId: ClientId }) => clientId === own.clientId)
  const answer = await ask('DELETE', `/api/oauth/authorizations/${id}`, person.headers)
  assert.equal(answer.statusCode, 204, answer.body)
  assert.deepEqual([await isActive(token, own), await isActive(elsewhere)], [false, true])
  assert.deepEqual(await countAlive(world, person), { sessions: 1, families: 1 })
})

/** Adds token families of an app for an identity, in one session. */
async function fillFamilies({ userId, identityId }: Person, { clientId }: TestApp) {
  await world.changeMany(sql`
    insert into token_family (identity_id, family_id, client_id, session_id, scope, auth_time, created_at,
      code_sha256, code_expires_at, code_redeemed_at, redirect_uri, nonce, refresh_root_sha256, current_refresh_sha256,
      rotated_at,
      expires_at, authenticated_by_passkey)
    select ${identityId}::uuid, gen_random_uuid(), ${clientId}, session_id, '{openid}', auth_time, created_at,
      sha256(nth::text::bytea), created_at, created_at, 'https://app.example/callback', 'filled', sha256('family'),
      array[sha256(nth::text::bytea)], created_at, ${world.now()}::timestamptz + interval '1 day', true
    from session, generate_series(1, ${manyRows}::integer) nth where user_id = ${userId}`)
}

for (const how of ['disabled', 'deleted'] as const)
  test(`BLK-10 an app with ${manyRows} tokens and deliveries is ${how}`, async () => {
    const [person, own] = [await world.person(), await world.app()]
    const { access_token: token } = await own.tokens(person)
    const code = await own.code(person)
    await fillFamilies(person, own)
    const url = `/api/admin/apps/${own.clientId}`
    const webhook = await ask('PUT', `${url}/webhook`, world.admin, { url: 'http://localhost:9/hook' })
    assert.ok(webhook.statusCode < 300, webhook.body)
    await world.changeMany(sql`
      insert into webhook_delivery (receiver_id, delivery_id, type, payload, state, created_at)
      select ${own.clientId}, gen_random_uuid(), 'signing.signed', '{}', 'failed', ${world.now()}
      from generate_series(1, ${manyRows}::integer)`)
    const answer = await (how === 'deleted'
      ? ask('DELETE', url, world.admin)
      : ask('PATCH', url, world.admin, { status: 'disabled' }))
    assert.ok(answer.statusCode < 300, answer.body)
    const userinfo = await ask('GET', '/api/oauth/userinfo', { authorization: `Bearer ${token}` })
    assert.deepEqual([userinfo.statusCode, (await own.redeem(code)).statusCode], [401, 401])
  })

for (const how of ['suspended', 'deleted'] as const)
  test(`BLK-20 an identity whose app has refreshed its tokens ${manyRows} times is ${how}`, async () => {
    const person = await world.person()
    const payload = { handle: `work-${randomUUID().slice(0, 8)}`, displayName: 'At work' }
    const { identityId } = (await ask('POST', '/api/identities', person.headers, payload)).json()
    const { access_token: token } = await app.tokens({ ...person, identityId })
    await world.changeMany(sql`
        insert into token_access_token (identity_id, token_sha256, family_id, scope, issued_at, expires_at)
        select identity_id, sha256(nth::text::bytea), family_id, scope, created_at, expires_at
        from token_family, generate_series(1, ${manyRows}::integer) nth where identity_id = ${identityId}`)
    const url = `/api/admin/identities/${identityId}`
    const answer = await (how === 'suspended'
      ? ask('POST', `${url}/suspension`, world.admin, { scope: 'identity', reason: 'Reported by others' })
      : ask('DELETE', `/api/identities/${identityId}`, person.headers))
    assert.ok(answer.statusCode < 300, answer.body)
    assert.equal(await isActive(token), false)
    assert.deepEqual(await countAlive(world, { ...person, identityId }), { sessions: 1, families: 0 })
  })
